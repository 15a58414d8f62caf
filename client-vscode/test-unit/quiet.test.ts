import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turnstile, untilQuiet } from '../src/quiet';

test('an editor is quiet two seconds after the last key', () => {
  assert.equal(untilQuiet(-Infinity, 0), 0);
  assert.equal(untilQuiet(1000, 1500), 1500);
  assert.equal(untilQuiet(1000, 3000), 0);
});

test('a jump waits for quiet', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const turn = new Turnstile().wait(1500, () => true);
  context.mock.timers.tick(1500);
  assert.equal(await turn, true);
});

test('a jump does not happen where the person went on typing', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const turn = new Turnstile().wait(1500, () => false);
  context.mock.timers.tick(1500);
  assert.equal(await turn, false);
});

test('of several jumps that wait, only the newest happens', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const turnstile = new Turnstile();
  const first = turnstile.wait(1500, () => true);
  const second = turnstile.wait(1400, () => true);
  assert.equal(await first, false);
  context.mock.timers.tick(1400);
  assert.equal(await second, true);
});

test('a jump that need not wait sends a waiting one away', async () => {
  const turnstile = new Turnstile();
  const waiting = turnstile.wait(60_000, () => true);
  assert.equal(await turnstile.wait(0, () => true), true);
  assert.equal(await waiting, false);
});

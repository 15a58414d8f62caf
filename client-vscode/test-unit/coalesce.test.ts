import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coalesced, throttled } from '../src/coalesce';

function gate(): { opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

test('restarts asked for during a restart are one restart after it', async () => {
  const gates = [gate(), gate()];
  let runs = 0;
  const restart = coalesced(() => gates[runs++]?.opened ?? Promise.reject(new Error('too many runs')));
  const first = restart();
  const others = [restart(), restart(), restart()];
  assert.equal(runs, 1);
  gates[0]?.open();
  await first;
  gates[1]?.open();
  await Promise.all(others);
  assert.equal(runs, 2);
});

test('a restart that failed does not fail the next one', async () => {
  let runs = 0;
  const restart = coalesced(() => (++runs === 1 ? Promise.reject(new Error('no')) : Promise.resolve()));
  const first = restart();
  const second = restart();
  await assert.rejects(first);
  await second;
  assert.equal(runs, 2);
});

test('who only needs it to run joins the run under way', async () => {
  const running = gate();
  let runs = 0;
  const restart = coalesced(() => {
    runs += 1;
    return running.opened;
  });
  const first = restart();
  const joined = restart.joined();
  running.open();
  await Promise.all([first, joined]);
  assert.equal(runs, 1);
  await restart.joined();
  assert.equal(runs, 2);
});

test('a throttled call is made at once, and the last one is not lost', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let calls = 0;
  const call = throttled(100, () => calls++);
  call();
  call();
  call();
  assert.equal(calls, 1);
  context.mock.timers.tick(100);
  assert.equal(calls, 2);
  context.mock.timers.tick(500);
  assert.equal(calls, 2);
  await Promise.resolve();
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedOptions, next, numberIn } from '../src/optionRows';
import type { ConfigOption } from '../src/protocol';

const option = (configId: string, value: unknown): ConfigOption => ({
  configId, value, name: configId, description: null, kind: 'choice', category: null, source: 'demo', locked: null,
  options: [{ value: 'a', name: 'A' }, { value: 'b', name: 'B' }],
});

test('the choice after the last is the first', () => {
  assert.equal(next(option('mode', 'a'))?.value, 'b');
  assert.equal(next(option('mode', 'b'))?.value, 'a');
  assert.equal(next(option('mode', 'gone'))?.value, 'a');
  assert.equal(next({ options: [], value: 'a' }), undefined);
});

test('changed are options of another value, not those that came or went', () => {
  const before = [option('mode', 'a'), option('model', 'x'), option('gone', 1)];
  const after = [option('mode', 'b'), option('model', 'x'), option('new', 1)];
  assert.deepEqual(changedOptions(before, after).map(({ configId }) => configId), ['mode']);
});

test('a number is one within its bounds', () => {
  assert.equal(numberIn({ least: 0, most: 10 }, ' 2.5 '), 2.5);
  assert.equal(numberIn({}, '-1'), -1);
  for (const text of ['', 'x', '11', '-1', 'Infinity', '1 2']) assert.equal(numberIn({ least: 0, most: 10 }, text), undefined);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAnswer } from '../src/answers';
import type { ElicitField } from '../src/protocol';

function field(changes: Partial<ElicitField>): ElicitField {
  return {
    key: 'k',
    kind: 'text',
    title: 'Name',
    description: null,
    required: true,
    default: null,
    options: [],
    least: null,
    most: null,
    pattern: null,
    format: null,
    ...changes,
  };
}

test('what is needed has to be there, what is not may be left out', () => {
  assert.deepEqual(readAnswer(field({}), ''), { problem: 'missing' });
  assert.equal(readAnswer(field({ required: false }), ''), undefined);
});

test('numbers are numbers within their bounds', () => {
  assert.deepEqual(readAnswer(field({ kind: 'integer', least: 1, most: 5 }), '3'), { value: 3 });
  assert.deepEqual(readAnswer(field({ kind: 'integer' }), '3.5'), { problem: 'not-a-number' });
  assert.deepEqual(readAnswer(field({ kind: 'number', most: 5 }), '5.5'), { problem: 'too-large' });
  assert.deepEqual(readAnswer(field({ kind: 'number' }), 'many'), { problem: 'not-a-number' });
});

test('texts are measured in characters and matched', () => {
  assert.deepEqual(readAnswer(field({ most: 2 }), '👋👋'), { value: '👋👋' });
  assert.deepEqual(readAnswer(field({ least: 3 }), 'ab'), { problem: 'too-small' });
  assert.deepEqual(readAnswer(field({ pattern: '^a+$' }), 'ab'), { problem: 'pattern' });
  assert.deepEqual(readAnswer(field({ pattern: '(' }), 'ab'), { value: 'ab' });
});

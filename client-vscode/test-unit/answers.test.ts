import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAnswer, readChoices } from '../src/answers';
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

test('a pattern that never ends holds nothing up', () => {
  const start = performance.now();
  assert.deepEqual(readAnswer(field({ pattern: '^(a+)+$' }), `${'a'.repeat(60)}b`), { value: `${'a'.repeat(60)}b` });
  assert.ok(performance.now() - start < 5000);
});

test('formats are what they say', () => {
  const good: Record<string, string> = {
    email: 'a@b.example',
    uri: 'https://x.example/?a=b',
    date: '2024-02-29',
    'date-time': '2024-02-29T12:00:00Z',
    'of the future': 'anything',
  };
  const bad: Record<string, string> = { email: 'a b@c', uri: 'x.example', date: '2023-02-30', 'date-time': '2024-02-29T12:00' };
  for (const [format, text] of Object.entries(good)) assert.deepEqual(readAnswer(field({ format }), text), { value: text });
  for (const [format, text] of Object.entries(bad)) assert.deepEqual(readAnswer(field({ format }), text), { problem: format });
});

test('several choices are as many as is wanted', () => {
  const several = field({ kind: 'choices', required: false, least: 2, most: 3 });
  assert.equal(readChoices(several, 0), undefined);
  assert.equal(readChoices({ ...several, required: true }, 0), 'missing');
  assert.equal(readChoices(several, 1), 'too-small');
  assert.equal(readChoices(several, 2), undefined);
  assert.equal(readChoices(several, 4), 'too-large');
});

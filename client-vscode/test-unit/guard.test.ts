import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusal } from '../src/guard';

test('a key that was on its way when the request came answers nothing', () => {
  assert.equal(refusal(1000, -Infinity, 1300), 'too-young');
});

test('a key in the middle of typing answers nothing', () => {
  assert.equal(refusal(1000, 4800, 5000), 'typing');
});

test('a key pressed after the request was in sight answers it', () => {
  assert.equal(refusal(1000, 500, 1800), undefined);
});

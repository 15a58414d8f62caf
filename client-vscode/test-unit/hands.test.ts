import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hands } from '../src/hands';

const editor = {};
const A = 'file:///a.py';
const B = 'file:///b.py';

test('a view that moves by itself was scrolled by hand', () => {
  const hands = new Hands();
  assert.equal(hands.scrolled(editor, A, 0, 0), false, 'first sight');
  assert.equal(hands.scrolled(editor, A, 0, 1), false, 'only its size has changed');
  assert.equal(hands.scrolled(editor, A, 12, 2), true);
});

test('what a jump of ours moves is not the hand, also while it scrolls smoothly', () => {
  const hands = new Hands();
  hands.scrolled(editor, A, 0, 0);
  hands.jumpBegins(A);
  assert.equal(hands.scrolled(editor, A, 40, 10), false);
  assert.equal(hands.switched(A, 10), false);
  hands.jumpEnds(20);
  assert.equal(hands.scrolled(editor, A, 50, 400), false);
  assert.equal(hands.scrolled(editor, A, 60, 2000), true);
});

test('a jump to one file does not hide what the person does in another', () => {
  const hands = new Hands();
  hands.scrolled(editor, B, 0, 0);
  hands.jumpBegins(A);
  assert.equal(hands.scrolled(editor, B, 9, 5), true);
  assert.equal(hands.switched(B, 5), true);
});

test('a view that moves because its text changed was not scrolled', () => {
  const hands = new Hands();
  hands.scrolled(editor, A, 10, 0);
  hands.documentChanged(A, false, 100);
  assert.equal(hands.scrolled(editor, A, 14, 150), false);
});

test('only what the hand typed counts as typed', () => {
  const hands = new Hands();
  hands.documentChanged(A, false, 100);
  assert.equal(hands.typedAt(A), -Infinity);
  hands.documentChanged(A, true, 200);
  assert.equal(hands.typedAt(A), 200);
  assert.equal(hands.typedAt(B), -Infinity);
});

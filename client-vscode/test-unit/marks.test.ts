import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arranged, iconOf, lookOf } from '../src/marks';

test('a mark is active until its call is not', () => {
  assert.deepEqual(lookOf({ kind: 'read', status: 'in_progress' }), { kind: 'read', phase: 'active' });
  assert.deepEqual(lookOf({ kind: 'read', status: 'in_progress' }, false), { kind: 'read', phase: 'done' });
  assert.deepEqual(lookOf({ kind: 'edit', status: 'completed' }), { kind: 'edit', phase: 'done' });
});

test('a failed call shows as such, and unknown words do no harm', () => {
  assert.deepEqual(lookOf({ kind: 'edit', status: 'failed' }, false), { kind: 'edit', phase: 'failed' });
  assert.deepEqual(lookOf({ kind: 'dance', status: 'pondering' }), { kind: 'other', phase: 'active' });
  assert.equal(iconOf('dance'), 'tools');
});

test('hunks have one look', () => {
  assert.deepEqual(lookOf({ kind: 'removed', status: null }), { kind: 'removed', phase: 'done' });
});

function mark(kind: string, line: number, last = line, status: string | null = null) {
  const range = { start: { line, character: 0 }, end: { line: last, character: 1 } };
  return { kind, status, toolCallId: `${kind}.${line}.${status ?? ''}`, range };
}

const stylesOf = (marks: ReturnType<typeof mark>[], lineCount = 100): (string | boolean)[][] =>
  arranged(marks, () => undefined, lineCount).map(({ style, label }) => [style, label]);

test('of the calls at one line the active one is drawn, else the newest; the others keep their hover', () => {
  const done = [mark('search', 3, 3, 'completed'), mark('edit', 3, 3, 'completed')];
  assert.deepEqual(stylesOf(done), [['bare', false], ['edit.done', true]]);
  const active = [mark('read', 3, 3, 'in_progress'), mark('edit', 3, 3, 'completed')];
  assert.deepEqual(stylesOf(active), [['read.active', true], ['bare', false]]);
});

test('inside of a hunk a call has its words and no edge', () => {
  const marks = [mark('modified', 3, 5), mark('edit', 4, 4, 'completed'), mark('edit', 6, 6, 'completed')];
  assert.deepEqual(stylesOf(marks), [['modified', false], ['bare', true], ['edit.done', true]]);
  assert.deepEqual(stylesOf([mark('modified', 3, 5), mark('search', 4, 4, 'completed')])[1], ['bare', false]);
  assert.deepEqual(stylesOf([mark('added', 3, 5), mark('edit', 3, 3, 'in_progress')])[1], ['edit.active.within', true]);
});

test('lines removed at the end are marked under the last one', () => {
  assert.deepEqual(stylesOf([mark('removed', 9)], 9), [['removed.end', false]]);
  assert.deepEqual(stylesOf([mark('removed', 8)], 9), [['removed', false]]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countLabel, hunkAt, lineLabel, neighbour, size, stops } from '../src/hunks';
import type { Change, Hunk } from '../src/protocol';

function hunk(hunkId: string, start: number, end: number): Hunk {
  return { hunkId, original: { start, end: start + 1 }, modified: { start, end }, toolCallId: null };
}

function change(uri: string, ...hunks: Hunk[]): Change {
  return { uri, operation: 'modify', oldUri: null, hunks };
}

const first = change('file:///a.py', hunk('h1', 3, 5), hunk('h2', 9, 9));
const second = change('file:///b.py', hunk('h3', 0, 1));
const all = stops([first, second]);

test('the hunk at a line is found, removed lines at either side of where they were', () => {
  assert.equal(hunkAt(first.hunks, 4)?.hunkId, 'h1');
  assert.equal(hunkAt(first.hunks, 5), undefined);
  assert.equal(hunkAt(first.hunks, 8)?.hunkId, 'h2');
  assert.equal(hunkAt(first.hunks, 9)?.hunkId, 'h2');
});

test('the next change goes on into the next file and round the end', () => {
  assert.deepEqual(neighbour(all, { uri: first.uri, line: 3 }, 1), { uri: first.uri, line: 9 });
  assert.deepEqual(neighbour(all, { uri: first.uri, line: 9 }, 1), { uri: second.uri, line: 0 });
  assert.deepEqual(neighbour(all, { uri: second.uri, line: 0 }, 1), { uri: first.uri, line: 3 });
});

test('the previous change goes back likewise', () => {
  assert.deepEqual(neighbour(all, { uri: first.uri, line: 9 }, -1), { uri: first.uri, line: 3 });
  assert.deepEqual(neighbour(all, { uri: first.uri, line: 3 }, -1), { uri: second.uri, line: 0 });
});

test('from elsewhere it begins at an end', () => {
  assert.deepEqual(neighbour(all, undefined, 1), { uri: first.uri, line: 3 });
  assert.deepEqual(neighbour(all, undefined, -1), { uri: second.uri, line: 0 });
  assert.equal(neighbour([], undefined, 1), undefined);
});

test('a deleted file is counted and not gone to', () => {
  const deleted: Change = { ...change('file:///c.py'), operation: 'delete' };
  assert.deepEqual(stops([deleted]), []);
  assert.deepEqual(size([first, deleted]), { files: 2, hunks: 3 });
});

test('hunks are named by their lines and counts', () => {
  assert.equal(lineLabel({ start: 3, end: 5 }), '4–5');
  assert.equal(lineLabel({ start: 9, end: 9 }), '10');
  assert.equal(countLabel(hunk('h', 3, 5)), '+2 −1');
});

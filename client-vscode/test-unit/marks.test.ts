import assert from 'node:assert/strict';
import { test } from 'node:test';
import { iconOf, lookOf } from '../src/marks';

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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unlinked } from '../src/plain';

test('a message has no links but those that are seen', () => {
  assert.equal(unlinked('[Details](command:evil) at https://x.example'), '[Details] (command:evil) at https://x.example');
});

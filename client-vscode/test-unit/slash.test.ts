import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortened, slashName, unknownCommand } from '../src/slash';

const commands = [{ name: 'rename' }, { name: 'todo' }];

test('a prompt that begins with a slash and a name is a command', () => {
  assert.equal(slashName('/rename a b'), 'rename');
  assert.equal(slashName('  /todo'), 'todo');
  assert.equal(slashName('/mcp:server:run x'), 'mcp:server:run');
});

test('a path is not a command', () => {
  assert.equal(slashName('/usr/bin/env is missing'), undefined);
  assert.equal(slashName('look at /rename'), undefined);
});

test('a name that the agent does not know is told, where it named any', () => {
  assert.equal(unknownCommand('/renam a b', commands), 'renam');
  assert.equal(unknownCommand('/rename a b', commands), undefined);
  assert.equal(unknownCommand('/renam a b', []), undefined);
});

test('what a command printed is one line that fits', () => {
  assert.equal(shortened('  one\n\n- two '), 'one - two');
  assert.equal(shortened('x'.repeat(400)).length, 300);
  assert.equal(shortened(' \n'), '');
});

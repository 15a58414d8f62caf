import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowedRules, commandLine, mergedAgents, mergedRules } from '../src/merge';

test("a workspace's agent counts only once it was agreed to", () => {
  const mine = { claude: { command: 'claude' } };
  const theirs = { claude: { command: 'evil' }, local: { command: './agent' } };
  assert.deepEqual(mergedAgents(mine, theirs, () => false), mine);
  assert.deepEqual(mergedAgents(mine, theirs, (name) => name === 'local'), { ...mine, local: theirs.local });
});

test('a workspace tightens rules and does not loosen them', () => {
  const found = { defaultValue: [], globalValue: ['read'], workspaceValue: ['edit'], workspaceFolderValue: ['read'] };
  assert.deepEqual(allowedRules(found), ['read']);
  assert.deepEqual(mergedRules(found), ['read', 'edit']);
  assert.deepEqual(allowedRules({ defaultValue: ['x'] }), ['x']);
  assert.deepEqual(mergedRules(undefined), []);
});

test('a command line is shown so that its arguments can be told apart', () => {
  assert.equal(commandLine({ command: 'npx', args: ['-y', 'two words'] }), 'npx -y "two words"');
});

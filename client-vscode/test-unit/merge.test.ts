import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLine, mergedAgents, own, replaced, workspaceRules } from '../src/merge';

test("a workspace's agent counts only once it was agreed to", () => {
  const mine = { claude: { command: 'claude' } };
  const theirs = { claude: { command: 'evil' }, local: { command: './agent' } };
  assert.deepEqual(mergedAgents(mine, theirs, () => false), mine);
  assert.deepEqual(mergedAgents(mine, theirs, (name) => name === 'local'), { ...mine, local: theirs.local });
});

test("the person's rules and a workspace's are kept apart", () => {
  const found = { defaultValue: [], globalValue: ['read'], workspaceValue: ['edit'], workspaceFolderValue: ['edit'] };
  assert.deepEqual(own(found), ['read']);
  assert.deepEqual(workspaceRules(found), ['edit']);
  assert.deepEqual(own({ defaultValue: ['x'], workspaceValue: ['y'] }), ['x']);
  assert.deepEqual(workspaceRules(undefined), []);
});

test('a command line is shown so that its arguments can be told apart', () => {
  assert.equal(commandLine({ command: 'npx', args: ['-y', 'two words'] }), 'npx -y "two words"');
});

test('a rule is replaced or taken out of its list, and only there', () => {
  assert.deepEqual(replaced(['a', ' b ', 'c', 'b'], 'b', 'd'), ['a', 'd', 'c', 'b']);
  assert.deepEqual(replaced(['a', 5], 'a', undefined), [5]);
  assert.equal(replaced(['a'], 'b', 'c'), undefined);
});

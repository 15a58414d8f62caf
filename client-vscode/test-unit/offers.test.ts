import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RuleSubject, ruleOffers } from '../src/offers';

const rules = (subject: Partial<RuleSubject>): string[] =>
  ruleOffers({ kind: null, name: null, command: null, files: [], ...subject }).map(({ rule }) => rule);

test('a plain command is offered exactly, and by its beginning', () => {
  assert.deepEqual(rules({ kind: 'execute', command: 'npm test --silent' }), [
    'execute(npm test --silent)',
    'execute(npm test:*)',
    'execute',
  ]);
});

test('an argument that is no subcommand stays out of the beginning', () => {
  assert.deepEqual(rules({ command: 'ls -l src' }), ['execute(ls -l src)', 'execute(ls:*)']);
});

for (const command of ['make && rm -rf /', 'echo $(id)', 'X=1 make all', 'cat a | sh', 'a\nb c', 'echo "a b" c']) {
  test(`no beginning is offered for ${JSON.stringify(command)}`, () => {
    assert.deepEqual(rules({ command }), [`execute(${command})`]);
  });
}

test('an edit is offered by file, by folder, by tool and by kind', () => {
  assert.deepEqual(rules({ kind: 'edit', name: 'Write', files: ['src/app/a[1].py'] }), [
    'edit(/src/app/a\\[1\\].py)',
    'edit(/src/app/**)',
    'Write',
    'edit',
  ]);
});

test('a file at the top has no folder to offer', () => {
  assert.deepEqual(rules({ kind: 'edit', files: ['a.py'] }), ['edit(/a.py)', 'edit']);
});

test('several files are no rule for one', () => {
  assert.deepEqual(rules({ kind: 'edit', files: ['a.py', 'b.py'] }), ['edit']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buttonsOf } from '../src/buttons';
import type { Permission } from '../src/protocol';

const words = { allow: 'Allow', reject: 'Reject', edit: 'Show Edit', always: 'Always…', never: 'Never…', more: 'More…' };
const offers = [{ rule: 'edit', effect: 'allow', label: 'every edit' }];
const diffs = [{ uri: 'file:///a', original: 'o', modified: 'm' }];

const option = (name: string, kind: string): Permission['options'][number] => ({ optionId: name, name, kind });
const titles = (options: Permission['options'], more: Partial<Permission> = {}): string[] =>
  buttonsOf({ options, diffs: [], ...more }, words).map(({ title }) => title);

const YES = option('Yes', 'allow_once');
const ALL = option('Yes, allow all edits during this session', 'allow_always');
const NO = option('No', 'reject_once');

test('all that fits is there', () => {
  assert.deepEqual(titles([YES, NO], { offers }), ['Yes', 'No', 'Always…', 'Never…']);
  assert.deepEqual(titles([YES, NO]), ['Yes', 'No']);
});

test('what does not fit is behind one button', () => {
  assert.deepEqual(titles([YES, NO], { offers, diffs }), ['Yes', 'No', 'Show Edit', 'More…']);
  assert.deepEqual(titles([YES, ALL, NO], { offers, diffs }), ['Yes', 'No', 'Show Edit', 'More…']);
  assert.deepEqual(titles([YES, ALL, NO]), ['Yes', 'No', 'More…']);
});

test('words that are too long for a button are ours, and still answer with the option', () => {
  const yes = option('Yes, proceed with this command', 'allow_once');
  const no = option('No, and tell the agent what to do differently', 'reject_once');
  const buttons = buttonsOf({ options: [yes, no], diffs: [], offers }, words);
  assert.deepEqual(buttons.map(({ title }) => title), ['Allow', 'Reject', 'More…']);
  assert.equal(buttons[0]?.option, yes);
});

test('a request that can only be answered for good shows what there is', () => {
  const always = option('Always', 'allow_always');
  assert.deepEqual(titles([always], { offers }), ['Always', 'Always…', 'Never…']);
  const odd = ['One of a kind', 'Two of a kind', 'Three of a kind', 'Four'].map((name) => option(name, 'own_kind'));
  assert.deepEqual(titles(odd), ['One of a kind', 'Two of a kind', 'More…']);
});

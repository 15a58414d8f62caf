import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decisionLines } from '../src/decisions';

test('the newest decision comes first, and each says who decided', () => {
  const text = decisionLines([
    { time: '2026-01-02T03:04:05.678+00:00', agent: 'demo', session: 's1', kind: 'execute', tool: 'Bash', decision: 'allow', rule: 'execute', source: 'saved', outcome: 'allow_once' },
    { time: '2026-01-02T03:05:00+00:00', agent: 'demo', session: 's1', kind: 'edit', decision: 'ask', answers: 'person', outcome: 'reject_once' },
    { time: '2026-01-02T03:05:01+00:00', kind: 'edit', decision: 'deny', answers: 'nobody', outcome: 'cancelled' },
    { time: '2026-01-02T03:05:02+00:00', kind: 'edit', decision: 'deny', hook: 'house-rules', outcome: 'reject_once' },
  ]);
  const [header, hook, nobody, person, rule] = text.split('\n').map((line) => line.split(/ {2,}/));
  assert.equal(header?.[3], 'decided by');
  assert.equal(hook?.[3], 'hook house-rules');
  assert.equal(nobody?.[3], 'nobody was there');
  assert.equal(person?.[3], 'you');
  assert.equal(rule?.[3], 'rule execute (saved)');
  assert.equal(rule[0], '2026-01-02 03:04:05');
});

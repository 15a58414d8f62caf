import assert from 'node:assert/strict';
import { test } from 'node:test';
import { difference, lineEnds } from '../src/terminalText';

test('what is new is written after what is shown', () => {
  assert.deepEqual(difference('', 'a'), { whole: false, text: 'a' });
  assert.deepEqual(difference('ab', 'abc'), { whole: false, text: 'c' });
  assert.deepEqual(difference('ab', 'ab'), { whole: false, text: '' });
});

test('where the oldest was dropped, what is new is found behind the end of what is shown', () => {
  const line = (number: number): string => `line ${number}\n`;
  const all = Array.from({ length: 500 }, (_, number) => line(number)).join('');
  const more = all.slice(3000) + line(500);
  assert.deepEqual(difference(all, more), { whole: false, text: line(500) });
});

test('another text is written from an empty screen', () => {
  assert.deepEqual(difference('progress 10%', 'done'), { whole: true, text: 'done' });
});

test('lines end as a terminal wants them', () => {
  assert.equal(lineEnds('a\nb\r\nc\r'), 'a\r\nb\r\nc\r');
});

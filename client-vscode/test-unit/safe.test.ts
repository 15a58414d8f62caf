import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forTerminal, unlinked, visible, withoutIcons } from '../src/safe';

test('ordinary names stay as they are', () => {
  for (const name of ['src/app.py', 'Straße 7.md', '日本語.txt', 'שלום.md', '👩‍💻.md', 'a b  c']) assert.equal(visible(name), name);
});

test('what cannot be seen is written out', () => {
  assert.equal(visible('invoice\u202efdp.exe'), 'invoice⟨202E⟩fdp.exe');
  assert.equal(visible('a\u200bb\u00adc\u2066d'), 'a⟨200B⟩b⟨00AD⟩c⟨2066⟩d');
  assert.equal(visible('a\nb\x1b[31m\x7f'), 'a␊b␛[31m␡');
  assert.equal(visible('a\u200db\u{e0041}'), 'a⟨200D⟩b⟨E0041⟩');
});

test('a label draws no icons', () => {
  assert.doesNotMatch(withoutIcons('$(check) Safe'), /\$\(/);
  assert.equal(withoutIcons('costs $5 (five)'), 'costs $5 (five)');
});

test('a terminal gets colours and movements', () => {
  for (const text of ['plain', '\x1b[1;31mred\x1b[0m', '\x1b[38:2::1:2:3mx', 'a\x1b[2K\rb', '\x1b[3A\x1b[J', '50%\r100%\n'])
    assert.equal(forTerminal(text), text);
});

test('a terminal gets nothing that changes more than its text', () => {
  const tricks = [
    '\x1b]0;title\x07', // the window's title
    '\x1b]8;;command:evil\x1b\\', // a link
    '\x1b]52;c;aGk=\x07', // the clipboard
    '\x1b]633;E;rm -rf;nonce\x07', // shell integration
    '\x1bP$qm\x1b\\', // a question
    '\x1b[6n', // where is the cursor
    '\x1b[?1049h\x1b[?1000h', // another screen, the mouse
    '\x1bc', // a reset
    '\x1b[8;1;1t', // the window's size
    '\x9d0;title', // controls of eight bits
  ];
  for (const trick of tricks) assert.equal(forTerminal(`a${trick}b`).replace(/0;title(?=b)/, ''), 'ab', JSON.stringify(trick));
});

test('a sequence that is cut in two is left out until it is whole', () => {
  const whole = 'a\x1b[31mred\x1b]0;t\x07b\x1b[0m';
  let shown = '';
  for (let end = 0; end <= whole.length; end++) {
    const now = forTerminal(whole.slice(0, end));
    assert.ok(now.startsWith(shown), `${JSON.stringify(shown)} is not the beginning of ${JSON.stringify(now)}`);
    shown = now;
  }
  assert.equal(shown, 'a\x1b[31mredb\x1b[0m');
});

test('long nonsense is looked at in time that grows with its length', () => {
  for (const nonsense of ['\x1b]'.repeat(50_000), '\x1b['.repeat(50_000), `\x1b]${'x'.repeat(100_000)}`, `\x1b[${'1;'.repeat(50_000)}`]) {
    const start = performance.now();
    forTerminal(nonsense);
    assert.ok(performance.now() - start < 2000);
  }
});

test('a message has no links but those that are seen', () => {
  assert.equal(unlinked('[Details](command:evil) at https://x.example'), '[Details] (command:evil) at https://x.example');
});

/**
 * The last look at what is shown: file names and terminals come to the client as they are. The agent's
 * other words were made harmless by the server.
 */

/** Controls, formatting, direction, separators and what is never visible; joiners within emoji stay. */
// eslint-disable-next-line no-misleading-character-class -- each is meant by itself
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u{e0000}-\u{e0fff}]/gu;
const EMOJI = /^\p{Emoji}|\p{Emoji}$/u;

/** The text on one line, with every character that cannot be seen written out: ␛, ⟨202E⟩. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character, index: number) => {
    const code = character.codePointAt(0) ?? 0;
    if (code === 0x200d && EMOJI.test(text.slice(0, index)) && EMOJI.test(text.slice(index + 1))) return character;
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '␡' : `⟨${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

/** For the labels in which VS Code draws icons: the agent's words cannot draw any. */
export function withoutIcons(text: string): string {
  return visible(text).replaceAll('$(', '$\u2060(');
}

/** An agent's words for a notification, in whose text VS Code makes links, also such as run commands. */
export function unlinked(text: string): string {
  return text.replaceAll('](', '] (');
}

const SEQUENCE =
  // eslint-disable-next-line no-control-regex -- what is looked for
  /\x1b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|[ -/]*[0-~]?)|[\x80-\x9f]/g;
// eslint-disable-next-line no-control-regex -- as above
const HARMLESS = /^\x1b\[(?:[\d;:]*m|\d*[A-GK]|\d*(?:;\d*)?[Hf]|[0-2]?J)$/;
// eslint-disable-next-line no-control-regex -- as above
const UNFINISHED = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\x9c\n]*\x1b?|[ -/]*)$/;

/**
 * What a program printed, with its colours and movements of the cursor and nothing else: no titles, links,
 * clipboard, modes or questions to the terminal. A sequence that has only begun is left out until it is whole.
 */
export function forTerminal(text: string): string {
  return text.replace(UNFINISHED, '').replace(SEQUENCE, (sequence) => (HARMLESS.test(sequence) ? sequence : ''));
}

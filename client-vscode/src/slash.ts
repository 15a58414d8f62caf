import type { Command } from './protocol';

/** The command name of a prompt that begins like one; a path such as `/usr/bin` is none. */
export function slashName(text: string): string | undefined {
  return /^\/([\w.:-]+)(?=\s|$)/.exec(text.trimStart())?.[1];
}

/** The name in a prompt that is no command of the agent's; undefined where all is well or nothing is known. */
export function unknownCommand(text: string, commands: readonly Pick<Command, 'name'>[]): string | undefined {
  const name = slashName(text);
  if (name === undefined || commands.length === 0) return undefined;
  return commands.some((command) => command.name.replace(/^\//, '') === name) ? undefined : name;
}

const SHOWN = 300;
/** Characters of an answer that a notification has room for. */

/** What a command printed, in one line that fits. */
export function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > SHOWN ? `${line.slice(0, SHOWN - 1)}…` : line;
}

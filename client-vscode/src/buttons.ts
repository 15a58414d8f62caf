import type { Permission, PermissionOption } from './protocol';

const MOST = 4;
const ROOM = 44;
/** Buttons, and characters of all of them, that a notification shows without cutting them off. */

/** What a button of a request does: answer with an option, or one of our own things. */
export interface Button {
  readonly title: string;
  readonly option?: PermissionOption;
  readonly does?: 'edit' | 'always' | 'never' | 'more';
}

/** Our own words for buttons, in the person's language. */
export interface Words {
  readonly allow: string;
  readonly reject: string;
  readonly edit: string;
  readonly always: string;
  readonly never: string;
  readonly more: string;
}

/**
 * All options as the agent words them where they fit, with ours beside them; else those for once, and one
 * that leads to all answers.
 */
export function buttonsOf(
  { options, diffs, offers }: Pick<Permission, 'options' | 'diffs' | 'offers'>,
  words: Words,
): Button[] {
  const edit: Button[] = diffs.length > 0 ? [{ title: words.edit, does: 'edit' }] : [];
  const rules: Button[] =
    (offers ?? []).length > 0 ? [{ title: words.always, does: 'always' }, { title: words.never, does: 'never' }] : [];
  const worded = options.map((option) => ({ title: option.name, option }));
  const more: Button = { title: words.more, does: 'more' };
  if (fits([...worded, ...edit, ...rules])) return [...worded, ...edit, ...rules];
  if (rules.length > 0 && fits([...worded, ...edit, more])) return [...worded, ...edit, more];
  const once = worded.filter(({ option }) => option.kind.endsWith('_once'));
  const few = [...(once.length > 0 ? once : worded).slice(0, 2), ...edit, more];
  if (fits(few)) return few;
  return few.map((button) => ({ ...button, title: shortened(button, words) }));
}

function fits(buttons: readonly Button[]): boolean {
  return buttons.length <= MOST && buttons.reduce((length, { title }) => length + title.length, 0) <= ROOM;
}

/** Our word for what an option for once does; its own is in the list of all answers. */
function shortened({ title, option }: Button, { allow, reject }: Words): string {
  if (option?.kind === 'allow_once') return allow;
  return option?.kind === 'reject_once' ? reject : title;
}

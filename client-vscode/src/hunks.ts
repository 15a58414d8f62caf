import type { Change, Hunk, LineRange } from './protocol';

/** The hunk at a line, from 0; one that removed lines is at the line that they stood before. */
export function hunkAt(hunks: readonly Hunk[], line: number): Hunk | undefined {
  const inside = hunks.find(({ modified }) => modified.start <= line && line < modified.end);
  if (inside) return inside;
  return hunks.find(({ modified }) => isEmpty(modified) && (line === modified.start || line === modified.start - 1));
}

/** The lines of a hunk in words, from 1: "4" or "4–6". */
export function lineLabel({ start, end }: LineRange): string {
  return end - start <= 1 ? `${start + 1}` : `${start + 1}–${end}`;
}

/** "+3 −1". */
export function countLabel({ original, modified }: Hunk): string {
  return `+${modified.end - modified.start} −${original.end - original.start}`;
}

/** Whether it stands for a change that has no lines: of the file's name or mode, or of what is no text. */
export function isWhole({ original, modified }: Hunk): boolean {
  return isEmpty(original) && isEmpty(modified);
}

/** Whether both are about the same lines. */
export function isSame(one: Hunk, other: Hunk): boolean {
  const same = (a: LineRange, b: LineRange): boolean => a.start === b.start && a.end === b.end;
  return same(one.original, other.original) && same(one.modified, other.modified);
}

/** A place in the list of all changes. */
export interface Stop {
  readonly uri: string;
  readonly line: number;
}

/** All hunks as places, file by file, the files in the order given. Deleted files have none to go to. */
export function stops(changes: readonly Change[]): readonly Stop[] {
  return changes
    .filter((change) => change.operation !== 'delete')
    .flatMap(({ uri, hunks }) =>
      hunks.length > 0 ? hunks.map((hunk) => ({ uri, line: hunk.modified.start })) : [{ uri, line: 0 }],
    );
}

/** The place after or before where the person is; round the end. `here.uri` is spelled as in `all`. */
export function neighbour(all: readonly Stop[], here: Stop | undefined, step: 1 | -1): Stop | undefined {
  if (all.length === 0) return undefined;
  const end = step === 1 ? all[0] : all.at(-1);
  if (!here) return end;
  const inFile = all.filter((stop) => stop.uri === here.uri);
  const ordered = step === 1 ? inFile : [...inFile].reverse();
  const next = ordered.find((stop) => (stop.line - here.line) * step > 0);
  if (next) return next;
  const last = ordered.at(-1);
  if (!last) return end;
  return all[(all.indexOf(last) + step + all.length) % all.length];
}

/** How much is at stake when all of it goes at once. */
export function size(changes: readonly Change[]): { readonly files: number; readonly hunks: number } {
  return { files: changes.length, hunks: changes.reduce((sum, change) => sum + Math.max(1, change.hunks.length), 0) };
}

function isEmpty({ start, end }: LineRange): boolean {
  return start === end;
}

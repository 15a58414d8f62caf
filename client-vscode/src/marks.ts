import type { Decoration } from './protocol';

export const MARK_KINDS = [
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'other',
  'added',
  'modified',
  'removed',
] as const;

export type MarkKind = (typeof MARK_KINDS)[number];
export type Phase = 'active' | 'done' | 'failed';

/** How a mark is drawn. */
export interface MarkLook {
  readonly kind: MarkKind;
  readonly phase: Phase;
}

/** One mark as it is drawn: `style` names its look, `label` says whether words stand behind the line. */
export interface Drawn<M> {
  readonly mark: M;
  readonly look: MarkLook;
  readonly style: string;
  readonly label: boolean;
}

/** A mark that is there for its hover alone. */
export const BARE = 'bare';

type Placed = Pick<Decoration, 'kind' | 'status' | 'toolCallId' | 'range'>;

const FINAL = new Set(['completed', 'failed', 'cancelled']);

/** `active` is what the call itself says, where it is known; else its status has to do. */
export function lookOf(mark: Pick<Decoration, 'kind' | 'status'>, active?: boolean): MarkLook {
  const kind = MARK_KINDS.find((known) => known === mark.kind) ?? 'other';
  if (kind === 'added' || kind === 'modified' || kind === 'removed') return { kind, phase: 'done' };
  if (mark.status === 'failed') return { kind, phase: 'failed' };
  const going = active ?? !FINAL.has(mark.status ?? '');
  return { kind, phase: going ? 'active' : 'done' };
}

/** The styles of every kind of mark; `within` a hunk, a call has no edge of its own, for the hunk has one. */
export const STYLES: readonly string[] = [
  // First those of hunks: what comes first here comes first in a hover.
  ...MARK_KINDS.filter(isHunk),
  'removed.end',
  ...MARK_KINDS.filter((kind) => !isHunk(kind)).flatMap((kind) =>
    ['active', 'done', 'failed', 'active.within'].map((phase) => `${kind}.${phase}`),
  ),
  BARE,
];

/**
 * What is drawn where several marks meet: of the calls at one line only the one that matters most, which is
 * one that is active, else one that failed, else the newest.
 */
export function arranged<M extends Placed>(
  marks: readonly M[],
  isActive: (mark: M) => boolean | undefined,
  lineCount: number,
): Drawn<M>[] {
  const all = marks.map((mark) => ({ mark, look: lookOf(mark, isActive(mark)) }));
  const hunks = all.filter(({ look }) => isHunk(look.kind));
  const calls = all.filter(({ look }) => !isHunk(look.kind));
  const first = new Map<number, (typeof all)[number]>();
  for (const one of calls) {
    const line = one.mark.range.start.line;
    const other = first.get(line);
    if (!other || RANK[one.look.phase] >= RANK[other.look.phase]) first.set(line, one);
  }
  const changed = hunks.filter(({ look }) => look.kind !== 'removed').map(({ mark }) => mark.range);
  return all.map((one) => {
    const { look, mark } = one;
    const line = mark.range.start.line;
    if (isHunk(look.kind)) {
      const style = look.kind === 'removed' && line >= lineCount ? 'removed.end' : look.kind;
      return { ...one, style, label: false };
    }
    const wins = first.get(line) === one;
    const within = changed.some(({ start, end }) => start.line <= line && line <= end.line);
    const style = `${look.kind}.${look.phase}`;
    if (!wins || (within && look.phase !== 'active')) {
      // That a line was read before it was changed is nothing to tell any more.
      const told = wins && (look.phase === 'failed' || !READING.has(look.kind));
      return { ...one, style: BARE, label: told };
    }
    return { ...one, style: within ? `${style}.within` : style, label: true };
  });
}

const READING: ReadonlySet<MarkKind> = new Set<MarkKind>(['read', 'search']);
const RANK: Readonly<Record<Phase, number>> = { done: 0, failed: 1, active: 2 };

export function isHunk(kind: MarkKind): kind is 'added' | 'modified' | 'removed' {
  return kind === 'added' || kind === 'modified' || kind === 'removed';
}

/** The product icon of a tool call's kind. */
export function iconOf(kind: string | null): string {
  switch (kind) {
    case 'read':
      return 'file';
    case 'edit':
      return 'edit';
    case 'delete':
      return 'trash';
    case 'move':
      return 'arrow-swap';
    case 'search':
      return 'search';
    case 'execute':
      return 'terminal';
    case 'think':
      return 'lightbulb';
    case 'fetch':
      return 'globe';
    case 'switch_mode':
      return 'settings';
    default:
      return 'tools';
  }
}

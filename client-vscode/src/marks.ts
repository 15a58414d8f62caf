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

const FINAL = new Set(['completed', 'failed', 'cancelled']);

/** `active` is what the call itself says, where it is known; else its status has to do. */
export function lookOf(mark: Pick<Decoration, 'kind' | 'status'>, active?: boolean): MarkLook {
  const kind = MARK_KINDS.find((known) => known === mark.kind) ?? 'other';
  if (kind === 'added' || kind === 'modified' || kind === 'removed') return { kind, phase: 'done' };
  if (mark.status === 'failed') return { kind, phase: 'failed' };
  const going = active ?? !FINAL.has(mark.status ?? '');
  return { kind, phase: going ? 'active' : 'done' };
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

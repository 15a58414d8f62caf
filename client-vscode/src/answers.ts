import type { ElicitField } from './protocol';

/** A person's answer to a field, or what is wrong with it. */
export type Reading = { readonly value: string | number } | { readonly problem: Problem };
export type Problem = 'missing' | 'not-a-number' | 'too-small' | 'too-large' | 'pattern';

/** Reads what was typed into a field for text or numbers; undefined: left out, which it may be. */
export function readAnswer(field: ElicitField, text: string): Reading | undefined {
  if (text === '') return field.required ? { problem: 'missing' } : undefined;
  const numeric = field.kind === 'number' || field.kind === 'integer';
  const value = numeric ? Number(text) : text;
  if (typeof value === 'number' && (!Number.isFinite(value) || (field.kind === 'integer' && !Number.isInteger(value)))) {
    return { problem: 'not-a-number' };
  }
  const size = typeof value === 'number' ? value : Array.from(value).length;
  if (field.least !== null && size < field.least) return { problem: 'too-small' };
  if (field.most !== null && size > field.most) return { problem: 'too-large' };
  if (typeof value === 'string' && field.pattern !== null && !matches(field.pattern, value)) return { problem: 'pattern' };
  return { value };
}

/** An agent's pattern that is no pattern holds nobody up: the server looks again. */
function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
}

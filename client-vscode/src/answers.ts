import { runInNewContext } from 'node:vm';
import type { ElicitField } from './protocol';

const PATIENCE = 100;
/** Milliseconds that an agent's regular expression may take: it could be made to take forever. */

/** A person's answer to a field, or what is wrong with it. */
export type Reading = { readonly value: string | number } | { readonly problem: Problem };
export type Problem = 'missing' | 'not-a-number' | 'too-small' | 'too-large' | 'pattern' | Format;
export type Format = 'email' | 'uri' | 'date' | 'date-time';

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
  if (typeof value !== 'string') return { value };
  const format = formatOf(field);
  if (format && !FORMATS[format](value)) return { problem: format };
  if (field.pattern !== null && !matches(field.pattern, value)) return { problem: 'pattern' };
  return { value };
}

/** Whether a choice of several is of the size that is wanted. */
export function readChoices(field: ElicitField, count: number): 'missing' | 'too-small' | 'too-large' | undefined {
  if (count === 0 && field.required) return 'missing';
  if (count === 0) return undefined;
  if (field.least !== null && count < field.least) return 'too-small';
  if (field.most !== null && count > field.most) return 'too-large';
  return undefined;
}

/** The format of a field, of those that can be told. */
export function formatOf({ format }: ElicitField): Format | undefined {
  return format !== null && Object.hasOwn(FORMATS, format) ? (format as Format) : undefined;
}

const FORMATS: Readonly<Record<Format, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(text),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text),
  'date-time': (text) => /^\d{4}-\d{2}-\d{2}[Tt ].*([Zz]|[+-]\d{2}:\d{2})$/.test(text) && isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text)),
};

/** JavaScript takes the 30th of February for a day of March. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** An agent's pattern that is no pattern, or takes too long, holds nobody up: the server looks again. */
function matches(pattern: string, text: string): boolean {
  try {
    return runInNewContext('new RegExp(pattern, "u").test(text)', { pattern, text }, { timeout: PATIENCE }) === true;
  } catch {
    return true;
  }
}

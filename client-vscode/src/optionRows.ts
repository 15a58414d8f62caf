import type { Choice, ConfigOption } from './protocol';

/** The choice after the current one, the first one after the last. */
export function next({ options, value }: Pick<ConfigOption, 'options' | 'value'>): Choice | undefined {
  const at = options.findIndex((choice) => choice.value === value);
  return options[(at + 1) % options.length];
}

/** Those options of `after` that have another value than before; new ones are no change of a value. */
export function changedOptions(before: readonly ConfigOption[], after: readonly ConfigOption[]): ConfigOption[] {
  const values = new Map(before.map(({ configId, value }) => [configId, value]));
  return after.filter(({ configId, value }) => values.has(configId) && values.get(configId) !== value);
}

/** The number that a text is, within the option's bounds; undefined where it is none. */
export function numberIn({ least, most }: Pick<ConfigOption, 'least' | 'most'>, text: string): number | undefined {
  const value = text.trim() === '' ? NaN : Number(text);
  if (!Number.isFinite(value)) return undefined;
  return value < (least ?? -Infinity) || value > (most ?? Infinity) ? undefined : value;
}

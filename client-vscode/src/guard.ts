/** Milliseconds that a request has to be in sight before a key may answer it. */
export const SIGHT = 700;

export type Refusal = 'too-young' | 'typing';

/**
 * Why a key may not answer a request yet, if so: it may have been on its way before the request was
 * there to be read. Times are milliseconds.
 */
export function refusal(appeared: number, lastTyped: number, now: number): Refusal | undefined {
  if (now - appeared < SIGHT) return 'too-young';
  if (now - lastTyped < SIGHT) return 'typing';
  return undefined;
}

/** Where a terminal expects a carriage return. */
export function lineEnds(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}

/** What is to be written so that a terminal that shows `before` shows `after`; `whole`: from an empty screen. */
export function difference(before: string, after: string): { readonly whole: boolean; readonly text: string } {
  if (after.startsWith(before)) return { whole: false, text: after.slice(before.length) };
  // The oldest is dropped where there is much of it: what follows the end of what is shown is new.
  const end = before.slice(-OVERLAP);
  const at = end.length === OVERLAP ? after.lastIndexOf(end) : -1;
  return at < 0 ? { whole: true, text: after } : { whole: false, text: after.slice(at + end.length) };
}

const OVERLAP = 1000;
/** Characters that are taken for the same place in two texts. */

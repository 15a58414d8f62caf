/** Runs one at a time; calls that arrive during a run share the one run that follows it. */
export function coalesced(run: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const begin = (): Promise<void> => {
    current = run().finally(() => (current = undefined));
    return current;
  };

  return () => {
    if (!current) return begin();
    next ??= current
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return begin();
      });
    return next;
  };
}

/** Calls through at once, then at most once in so many milliseconds; the last call is never lost. */
export function throttled(milliseconds: number, run: () => void): { (): void; cancel(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let again = false;
  const call = (): void => {
    if (timer) {
      again = true;
      return;
    }
    run();
    timer = setTimeout(() => {
      timer = undefined;
      if (again) {
        again = false;
        call();
      }
    }, milliseconds);
  };
  return Object.assign(call, { cancel: () => clearTimeout(timer) });
}

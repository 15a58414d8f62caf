/** `joined` is the run under way, or a new one: for those to whom it does not matter when it began. */
export interface Coalesced {
  (): Promise<void>;
  joined(): Promise<void>;
}

/** Runs one at a time; calls that arrive during a run share the one run that follows it. */
export function coalesced(run: () => Promise<void>): Coalesced {
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const begin = (): Promise<void> => {
    current = run().finally(() => (current = undefined));
    return current;
  };

  const call = (): Promise<void> => {
    if (!current) return begin();
    next ??= current
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return begin();
      });
    return next;
  };
  return Object.assign(call, { joined: () => next ?? current ?? begin() });
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

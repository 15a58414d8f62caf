/** Milliseconds after the last key during which an editor is not taken from under the person's hands. */
export const QUIET = 2000;

/** Milliseconds until a jump may happen in a group whose editor was last typed into then; 0: now. */
export function untilQuiet(typedAt: number, now: number): number {
  return Math.max(0, typedAt + QUIET - now);
}

/** Waits for its turn; only the newest one gets it, and none where `stillFree` denies it by then. */
export class Turnstile {
  private waiting: { timer: ReturnType<typeof setTimeout>; give: (turn: boolean) => void } | undefined;

  wait(milliseconds: number, stillFree: () => boolean): Promise<boolean> {
    this.refuse();
    if (milliseconds <= 0) return Promise.resolve(true);
    return new Promise((give) => {
      const timer = setTimeout(() => {
        this.waiting = undefined;
        give(stillFree());
      }, milliseconds);
      this.waiting = { timer, give };
    });
  }

  /** Whoever waits goes away empty-handed. */
  refuse(): void {
    if (!this.waiting) return;
    clearTimeout(this.waiting.timer);
    this.waiting.give(false);
    this.waiting = undefined;
  }
}

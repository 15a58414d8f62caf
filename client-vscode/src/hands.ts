const OURS = 700;
/** Milliseconds after a jump in which what moves is the jump's doing (smooth scrolling takes its time). */
const SHIFTED = 300;
/** Milliseconds after a change of a document in which its view moves because of it. */

/** Tells the person's hand from what the editor does because of us. Times are milliseconds. */
export class Hands {
  private readonly typed = new Map<string, number>();
  private readonly changed = new Map<string, number>();
  private readonly firstLines = new Map<object, number>();
  private jumps = 0;
  private jumpUntil = -Infinity;
  private jumpTarget: string | undefined;

  jumpBegins(uri: string): void {
    this.jumps += 1;
    this.jumpTarget = uri;
  }

  jumpEnds(now: number): void {
    this.jumps -= 1;
    this.jumpUntil = now + OURS;
  }

  /** A document has changed; `byHand` where no edit of the server's and no reload did it. */
  documentChanged(uri: string, byHand: boolean, now: number): void {
    this.changed.set(uri, now);
    if (byHand) this.typed.set(uri, now);
  }

  /** When the person last typed into that document. */
  typedAt(uri: string): number {
    return this.typed.get(uri) ?? -Infinity;
  }

  /** When the person last typed anywhere. */
  get lastTyped(): number {
    return Math.max(-Infinity, ...this.typed.values());
  }

  /** Whether a view that now begins at this line was scrolled by hand. */
  scrolled(editor: object, uri: string, firstLine: number, now: number): boolean {
    const before = this.firstLines.get(editor);
    this.firstLines.set(editor, firstLine);
    if (before === undefined || before === firstLine) return false;
    return !this.jumping(uri, now) && now - (this.changed.get(uri) ?? -Infinity) > SHIFTED;
  }

  /** Whether it was the person who brought that document to the front. */
  switched(uri: string, now: number): boolean {
    return !this.jumping(uri, now);
  }

  /** Views that are gone are not remembered. */
  keepOnly(editors: readonly object[]): void {
    for (const editor of this.firstLines.keys()) if (!editors.includes(editor)) this.firstLines.delete(editor);
  }

  private jumping(uri: string, now: number): boolean {
    return (this.jumps > 0 || now < this.jumpUntil) && uri === this.jumpTarget;
  }
}

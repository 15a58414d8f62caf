import { Disposable, TextEditorSelectionChangeKind, type Uri, window, workspace } from 'vscode';
import { throttled } from './coalesce';
import { Hands } from './hands';

const REPORT_EVERY = 250;
/** Milliseconds between two reports of activity. */

/** Reports the person's own hand to the server, and tells it apart from our jumps and edits. */
export class Activity implements Disposable {
  private readonly hands = new Hands();
  private readonly listeners: Disposable;
  private readonly report: ReturnType<typeof throttled>;
  private where: Uri | undefined;
  private edits = 0;

  constructor(send: (uri: string | undefined) => void) {
    this.report = throttled(REPORT_EVERY, () => send(this.where?.toString()));
    this.listeners = Disposable.from(
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length === 0) return;
        const front = document === window.activeTextEditor?.document;
        // A document that an agent's write reloads is clean afterwards; one that is typed into is not.
        const byHand = front && this.edits === 0 && (document.isDirty || document.isUntitled);
        this.hands.documentChanged(document.uri.toString(), byHand, Date.now());
        if (byHand) this.seen(document.uri);
      }),
      window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
        const byHand = kind === TextEditorSelectionChangeKind.Mouse || kind === TextEditorSelectionChangeKind.Keyboard;
        if (byHand) this.seen(textEditor.document.uri);
      }),
      window.onDidChangeTextEditorVisibleRanges(({ textEditor, visibleRanges }) => {
        const { uri } = textEditor.document;
        const first = visibleRanges[0]?.start.line;
        if (first !== undefined && this.hands.scrolled(textEditor, uri.toString(), first, Date.now())) this.seen(uri);
      }),
      window.onDidChangeActiveTextEditor((editor) => {
        if (editor && this.hands.switched(editor.document.uri.toString(), Date.now())) this.seen(editor.document.uri);
      }),
      window.onDidChangeVisibleTextEditors((editors) => this.hands.keepOnly(editors)),
    );
  }

  /** The person did something by hand, there. */
  seen(uri: Uri | undefined): void {
    if (uri?.scheme === 'output') return;
    this.where = uri;
    this.report();
  }

  /** Runs a jump of ours: what it moves is not the person's hand. */
  async jump<T>(uri: Uri, run: () => Promise<T>): Promise<T> {
    this.hands.jumpBegins(uri.toString());
    try {
      return await run();
    } finally {
      this.hands.jumpEnds(Date.now());
    }
  }

  /** Runs an edit of the server's: what it changes is not the person's hand. */
  async edit<T>(run: () => T | PromiseLike<T>): Promise<T> {
    this.edits += 1;
    try {
      return await run();
    } finally {
      this.edits -= 1;
    }
  }

  typedAt(uri: Uri): number {
    return this.hands.typedAt(uri.toString());
  }

  dispose(): void {
    this.report.cancel();
    this.listeners.dispose();
  }
}

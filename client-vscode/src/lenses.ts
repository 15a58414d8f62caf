import {
  CodeLens,
  type CodeLensProvider,
  Disposable,
  EventEmitter,
  Range,
  type TextDocument,
  l10n,
  languages,
  window,
} from 'vscode';
import { isWhole } from './hunks';
import type { Change, Hunk } from './protocol';
import type { State } from './state';

const AGAIN = 1500;
/** Milliseconds; VS Code drops a refresh where its editor loses the focus within a moment, so there is a second. */

/**
 * Keep and Undo above each hunk. They are made from what is known here already, so that those of a hunk that
 * has been answered go without another question to the server.
 */
export class HunkLenses implements Disposable, CodeLensProvider {
  private readonly emitter = new EventEmitter<void>();
  private readonly listeners: Disposable;
  private timer: ReturnType<typeof setTimeout> | undefined;
  readonly onDidChangeCodeLenses = this.emitter.event;

  constructor(private readonly state: State) {
    this.listeners = Disposable.from(
      state.onDidChangeChanges(() => {
        this.emitter.fire();
        this.again();
      }),
      window.onDidChangeVisibleTextEditors(() => this.again()),
      languages.registerCodeLensProvider({ scheme: 'file' }, this),
    );
  }

  provideCodeLenses(document: TextDocument): CodeLens[] {
    const change = this.state.changeOf(document.uri);
    return change ? change.hunks.flatMap((hunk) => lensesOf(change, hunk, document)) : [];
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.listeners.dispose();
    this.emitter.dispose();
  }

  private again(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.emitter.fire(), AGAIN);
  }
}

function lensesOf(change: Change, hunk: Hunk, document: TextDocument): CodeLens[] {
  const line = Math.min(hunk.modified.start, document.lineCount - 1);
  const row = { type: 'hunk', change, hunk };
  const lens = (title: string, command: string): CodeLens =>
    new CodeLens(new Range(line, 0, line, 0), { title, command: `acpEditor.ui.${command}`, arguments: [row] });
  const lenses = [lens(l10n.t('Keep'), 'keepHunk'), lens(l10n.t('Undo'), 'undoHunk')];
  const gone = hunk.original.end - hunk.original.start;
  if (hunk.modified.start === hunk.modified.end && !isWhole(hunk)) {
    lenses.push(lens(gone === 1 ? l10n.t('1 line removed') : l10n.t('{0} lines removed', gone), 'diffFile'));
  }
  return lenses;
}

import { CodeLens, Range, type TextDocument, l10n } from 'vscode';
import { isWhole } from './hunks';
import type { State } from './state';

/**
 * Keep and Undo above each hunk. They are made from what is known here already, so that those of a hunk that
 * has been answered go without another question to the server.
 */
export function lensesOf(state: State, document: TextDocument): CodeLens[] {
  const change = state.changeOf(document.uri);
  if (!change) return [];
  return change.hunks.flatMap((hunk) => {
    const line = Math.min(hunk.modified.start, document.lineCount - 1);
    const lens = (title: string, command: string, ...args: unknown[]): CodeLens =>
      new CodeLens(new Range(line, 0, line, 0), { title, command: `acpEditor.ui.${command}`, arguments: args });
    const row = { type: 'hunk', change, hunk };
    const lenses = [lens(l10n.t('Keep'), 'keepHunk', row), lens(l10n.t('Undo'), 'undoHunk', row)];
    const gone = hunk.original.end - hunk.original.start;
    if (hunk.modified.start === hunk.modified.end && !isWhole(hunk)) {
      const title = gone === 1 ? l10n.t('1 line removed') : l10n.t('{0} lines removed', gone);
      lenses.push(lens(title, 'diffFile', row));
    }
    return lenses;
  });
}

import { Disposable, Uri, type TextEditor, commands, window, workspace, Range, TextEditorRevealType } from 'vscode';
import type { SaveDocumentParams } from './protocol';

// The three read-only schemes themselves are served by vscode-languageclient's TextDocumentContentFeature.

export const SESSION_SCHEME = 'acp-session';

export function sessionUri(sessionId: string): Uri {
  return Uri.from({ scheme: SESSION_SCHEME, path: `/${sessionId}.md` });
}

export async function showSession(sessionId: string): Promise<void> {
  const document = await workspace.openTextDocument(sessionUri(sessionId));
  const editor = await window.showTextDocument(document, { preview: false });
  revealEnd(editor);
}

/** Whether somebody sees it anyway. */
export function isShown(sessionId: string): boolean {
  const key = sessionUri(sessionId).toString();
  return window.visibleTextEditors.some(({ document }) => document.uri.toString() === key);
}

/** Keeps the end of a session in view while it grows, for those who look at its end. */
export function followSessions(): Disposable {
  const atEnd = (editor: TextEditor): boolean =>
    (editor.visibleRanges.at(-1)?.end.line ?? 0) >= editor.document.lineCount - 2;
  const watched = new WeakMap<TextEditor, boolean>();
  const remember = (editor: TextEditor): void => {
    if (editor.document.uri.scheme === SESSION_SCHEME) watched.set(editor, atEnd(editor));
  };
  return Disposable.from(
    window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => remember(textEditor)),
    workspace.onDidChangeTextDocument(({ document }) => {
      if (document.uri.scheme !== SESSION_SCHEME) return;
      for (const editor of window.visibleTextEditors) {
        if (editor.document === document && watched.get(editor) !== false) revealEnd(editor);
      }
    }),
  );
}

function revealEnd(editor: TextEditor): void {
  const line = editor.document.lineCount - 1;
  editor.revealRange(new Range(line, 0, line, 0), TextEditorRevealType.Default);
}

/** `acpEditor/saveDocument`: saves an open document; whether it is on the disk now. */
export async function saveDocument(params: SaveDocumentParams): Promise<{ saved: boolean }> {
  const key = Uri.parse(params.uri).toString();
  const document = workspace.textDocuments.find((candidate) => candidate.uri.toString() === key);
  return { saved: document ? await document.save() : false };
}

/** Two documents side by side; `line` of the right one is shown, else its first difference. */
export async function showDiff(original: string, modified: string, title: string, line?: number): Promise<void> {
  const options = { preview: true, ...(line === undefined ? {} : { selection: new Range(line, 0, line, 0) }) };
  await commands.executeCommand('vscode.diff', Uri.parse(original), Uri.parse(modified), title, options);
}

/** Many pairs in VS Code's multi-file diff editor; `resource` names each. */
export async function showDiffs(
  title: string,
  files: readonly { readonly resource: string; readonly original: string; readonly modified: string }[],
): Promise<void> {
  const rows = files.map(({ resource, original, modified }) => [
    Uri.parse(resource),
    Uri.parse(original),
    Uri.parse(modified),
  ]);
  await commands.executeCommand('vscode.changes', title, rows);
}

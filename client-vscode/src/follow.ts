import { Range, Selection, TabInputTextDiff, TextEditorRevealType, Uri, ViewColumn, window, workspace, type TextEditor } from 'vscode';
import type { ShowDocumentParams, ShowDocumentResult } from 'vscode-languageclient/node';
import type { Activity } from './activity';
import type { Config } from './config';
import { sameUri, type State } from './state';
import { Turnstile, untilQuiet } from './quiet';

/** Shows where the agent is, never with the focus and never under the person's typing hands. */
export class Follower {
  private readonly turnstile = new Turnstile();
  private readonly placed = new Map<string, number>();
  private beside: ViewColumn | undefined;

  constructor(
    private readonly config: Config,
    private readonly activity: Activity,
    private readonly state: State,
    private readonly log: (message: string) => void,
  ) {}

  /** `window/showDocument` of the server's. */
  async show(params: ShowDocumentParams): Promise<ShowDocumentResult> {
    const uri = Uri.parse(params.uri);
    const line = params.selection?.start.line;
    if (params.takeFocus !== true && (!(await this.mayJump(uri)) || this.decidesOn(uri))) return { success: false };
    try {
      await this.activity.jump(uri, () => this.reveal(uri, line, params.takeFocus === true));
      return { success: true };
    } catch (error) {
      this.log(`${uri.toString()} is not shown: ${String(error)}`);
      return { success: false };
    }
  }

  /** Shows a file where something stood that is about to go; one that is not there yet is not shown. */
  async replace(column: ViewColumn, file: string, line: number | undefined, takeFocus: boolean): Promise<void> {
    const uri = Uri.parse(file);
    try {
      await this.activity.jump(uri, () => this.open(uri, column, line, takeFocus));
    } catch (error) {
      this.log(`${file} is not shown: ${String(error)}`);
    }
  }

  dispose(): void {
    this.turnstile.refuse();
  }

  /** Waits for two seconds without a key in the editor that the jump would replace or move. */
  private mayJump(uri: Uri): Promise<boolean> {
    const affected = this.affected(uri);
    const typed = (): number => (affected ? this.activity.typedAt(affected.document.uri) : -Infinity);
    const wait = untilQuiet(typed(), Date.now());
    return this.turnstile.wait(wait, () => untilQuiet(typed(), Date.now()) === 0);
  }

  /** Whether the person has a proposed edit before them that waits for them, where the jump would lead. */
  private decidesOn(uri: Uri): boolean {
    const column = this.column(uri);
    const group = window.tabGroups.all.find(({ viewColumn }) => viewColumn === column) ?? window.tabGroups.activeTabGroup;
    const input = group.activeTab?.input;
    if (!(input instanceof TabInputTextDiff)) return false;
    const shown = input.modified.toString();
    return this.state.permissions.some(({ diffs }) => diffs.some(({ modified }) => sameUri(modified, shown)));
  }

  private affected(uri: Uri): TextEditor | undefined {
    const column = this.column(uri);
    const front = window.activeTextEditor;
    if (column === ViewColumn.Active || column === front?.viewColumn) return front;
    return window.visibleTextEditors.find((editor) => editor.viewColumn === column);
  }

  /** The group that shows it already, else the one that the settings name. */
  private column(uri: Uri): ViewColumn {
    const shown = window.visibleTextEditors.find(
      (editor) => editor.document.uri.toString() === uri.toString() && editor.viewColumn !== undefined,
    );
    if (shown?.viewColumn !== undefined) return shown.viewColumn;
    if (this.config.get('follow.openIn', 'active') !== 'beside') return ViewColumn.Active;
    const groups = window.tabGroups.all.map((group) => group.viewColumn);
    const active = window.tabGroups.activeTabGroup.viewColumn;
    if (this.beside !== undefined && groups.includes(this.beside) && this.beside !== active) return this.beside;
    return groups.find((column) => column > active) ?? ViewColumn.Beside;
  }

  private async reveal(uri: Uri, line: number | undefined, takeFocus: boolean): Promise<void> {
    await this.open(uri, this.column(uri), line, takeFocus);
  }

  private async open(uri: Uri, column: ViewColumn, line: number | undefined, takeFocus: boolean): Promise<void> {
    const document = await workspace.openTextDocument(uri);
    const before = window.visibleTextEditors.find((editor) => editor.document === document);
    const cursor = before?.selection.active.line;
    const editor = await window.showTextDocument(document, {
      viewColumn: column,
      preserveFocus: !takeFocus,
      preview: true,
    });
    if (column === ViewColumn.Beside) this.beside = editor.viewColumn;
    if (line === undefined) return;
    const range = document.lineAt(Math.min(line, document.lineCount - 1)).range;
    // A cursor that the person has put somewhere stays there; one that we put, or nobody, may move.
    const key = uri.toString();
    if (takeFocus || before === undefined || cursor === this.placed.get(key)) {
      editor.selection = new Selection(range.start, range.start);
      this.placed.set(key, range.start.line);
    }
    editor.revealRange(new Range(range.start, range.start), TextEditorRevealType.InCenterIfOutsideViewport);
  }
}

import {
  Disposable,
  EventEmitter,
  Range,
  Selection,
  TabInputTextDiff,
  type TextEditor,
  TextEditorRevealType,
  ThemeColor,
  ThemeIcon,
  type TreeDataProvider,
  TreeItem,
  TreeItemCollapsibleState,
  type TreeView,
  Uri,
  l10n,
  window,
  workspace,
} from 'vscode';
import type { Announcer } from './announce';
import type { Client } from './client';
import { showDiff, showDiffs } from './documents';
import { Hint } from './hint';
import { countLabel, hunkAt, isSame, isWhole, lineLabel, neighbour, size, stops } from './hunks';
import type { Change, DiffDocuments, Hunk, Kept, Undone } from './protocol';
import type { State } from './state';

type Node =
  | { readonly type: 'change'; readonly change: Change }
  | { readonly type: 'hunk'; readonly change: Change; readonly hunk: Hunk };

const MUCH = 5;
/** Hunks from which on keeping or undoing all at once is asked about. */

/** What the agent changed and nobody has reviewed yet: listed, shown, kept and undone. */
export class Changes implements Disposable, TreeDataProvider<Node> {
  private readonly emitter = new EventEmitter<void>();
  private readonly view: TreeView<Node>;
  private readonly listeners: Disposable;
  private readonly underWay = new Set<string>();
  private readonly answered = new Set<string>();
  readonly onDidChangeTreeData = this.emitter.event;

  constructor(
    private readonly client: Client,
    private readonly state: State,
    private readonly announcer: Announcer,
  ) {
    this.view = window.createTreeView('acpEditor.changes', { treeDataProvider: this, showCollapseAll: true });
    this.listeners = Disposable.from(
      this.view,
      state.onDidChangeChanges(() => {
        const { files } = this.size;
        const tooltip = files === 1 ? l10n.t('1 changed file') : l10n.t('{0} changed files', files);
        this.view.badge = files > 0 ? { value: files, tooltip } : undefined;
        const listed = state.changes.length;
        this.view.message = files > listed ? l10n.t('{0} of {1} files are listed.', listed, files) : '';
        this.emitter.fire();
      }),
    );
  }

  private get size(): { readonly files: number; readonly hunks: number } {
    return this.state.changesTotal ?? size(this.state.changes);
  }

  dispose(): void {
    this.listeners.dispose();
    this.emitter.dispose();
  }

  getChildren(node?: Node): Node[] {
    if (!node) return this.state.changes.map((change) => ({ type: 'change', change }));
    if (node.type === 'hunk') return [];
    return node.change.hunks.map((hunk) => ({ type: 'hunk', change: node.change, hunk }));
  }

  getTreeItem(node: Node): TreeItem {
    return node.type === 'change' ? changeItem(node.change) : hunkItem(node.change, node.hunk);
  }

  /** Keeps or undoes one hunk: that of the view's row, else the one at the cursor. */
  async decideHunk(what: 'keep' | 'undo', row?: unknown): Promise<void> {
    const node = asNode(row);
    const hunk = node?.type === 'hunk' ? this.hunkNow(node) : this.hunkAtCursor();
    // A second click on a lens that is just going away is not about another hunk.
    if (!hunk || this.underWay.has(hunk.hunkId)) return;
    const { hunkId } = hunk;
    this.underWay.add(hunkId);
    try {
      await this.decide(what, { hunkId });
      this.answered.add(hunkId);
    } finally {
      this.underWay.delete(hunkId);
    }
  }

  /** Keeps or undoes a file: that of the view's row or of the editor's title, else the active one. */
  async decideFile(what: 'keep' | 'undo', row?: unknown): Promise<void> {
    await this.decide(what, { uri: this.fileOf(row).uri });
  }

  async decideAll(what: 'keep' | 'undo'): Promise<void> {
    const { files, hunks } = this.size;
    if (files > 1 || hunks >= MUCH) {
      const yes = what === 'keep' ? l10n.t('Keep All') : l10n.t('Undo All');
      const question = what === 'keep'
        ? l10n.t('Keep {0} changes in {1} files?', hunks, files)
        : l10n.t('Undo {0} changes in {1} files?', hunks, files);
      if ((await window.showWarningMessage(question, { modal: true }, yes)) !== yes) return;
    }
    await this.decide(what, {});
  }

  async restore(): Promise<void> {
    await this.client.execute('review.restore');
    this.say(l10n.t('The last undo was taken back.'));
  }

  /** Forgets what is stored of this workspace, once the person has confirmed it; whether they did. */
  async forget(): Promise<boolean> {
    const yes = l10n.t('Forget');
    const detail = l10n.t(
      'No file is changed. What the agent has changed counts as kept, and what you decided about this workspace is asked again.',
    );
    const question = l10n.t('Forget what is stored of this workspace?');
    if ((await window.showWarningMessage(question, { modal: true, detail }, yes)) !== yes) return false;
    await this.client.execute('review.forget');
    this.say(l10n.t('What was stored of this workspace is forgotten.'));
    return true;
  }

  /** The file as it was beside the file as it is. */
  async diffFile(row?: unknown): Promise<void> {
    const node = asNode(row);
    await this.showDiff(this.fileOf(row), node?.type === 'hunk' ? node.hunk.modified.start : undefined);
  }

  async showAll(): Promise<void> {
    const files = await Promise.all(
      this.state.changes.map(async ({ uri }) => ({
        resource: uri,
        ...(await this.client.execute<DiffDocuments>('review.diff', { uri })),
      })),
    );
    await showDiffs(l10n.t("The Agent's Changes"), files);
  }

  /** Goes to the hunk after or before the cursor, over all files; from a diff into a diff. */
  async go(step: 1 | -1): Promise<void> {
    const editor = window.activeTextEditor;
    const change = this.state.changeOf(editor?.document.uri);
    const here = editor && change ? { uri: change.uri, line: editor.selection.active.line } : undefined;
    const target = neighbour(stops(this.state.changes), here, step);
    if (!target) return;
    const inDiff = window.tabGroups.activeTabGroup.activeTab?.input instanceof TabInputTextDiff;
    const there = this.state.changes.find(({ uri }) => uri === target.uri);
    if (!inDiff || !there) await openAt(Uri.parse(target.uri), target.line);
    else if (editor && change === there && editor.document.uri.scheme === 'file') reveal(editor, target.line);
    else await this.showDiff(there, target.line);
  }

  async open(row: unknown): Promise<void> {
    const node = asNode(row);
    if (node?.type === 'hunk' && node.change.operation !== 'delete') {
      await openAt(Uri.parse(node.change.uri), node.hunk.modified.start);
    } else if (node) await this.diffFile(node);
  }

  private async showDiff(change: Change, line?: number): Promise<void> {
    const { original, modified } = await this.client.execute<DiffDocuments>('review.diff', { uri: change.uri });
    await showDiff(original, modified, l10n.t('{0} (before and after the agent)', nameOf(change)), line);
  }

  private async decide(what: 'keep' | 'undo', argument: object): Promise<void> {
    if (what === 'keep') {
      const { kept } = await this.client.execute<Kept>('review.keep', argument);
      this.say(kept === 1 ? l10n.t('Kept 1 change.') : l10n.t('Kept {0} changes.', kept));
    } else {
      const { undone } = await this.client.execute<Undone>('review.undo', argument);
      this.say(undone === 1 ? l10n.t('Undid 1 change.') : l10n.t('Undid {0} changes.', undone));
    }
  }

  private say(message: string): void {
    this.announcer.say(`$(diff) ${message}`, message);
  }

  /** The hunk that a row or a lens was made for, which may have another id by now; none where it was answered. */
  private hunkNow({ change, hunk }: { readonly change: Change; readonly hunk: Hunk }): Hunk | undefined {
    const hunks = this.state.changes.find(({ uri }) => uri === change.uri)?.hunks ?? [];
    const itself = hunks.find(({ hunkId }) => hunkId === hunk.hunkId);
    if (itself || this.answered.has(hunk.hunkId)) return itself;
    const found = hunks.find((other) => isSame(other, hunk));
    if (!found) throw new Hint(l10n.t('That change is not there any more.'));
    return found;
  }

  private hunkAtCursor(): Hunk {
    const editor = window.activeTextEditor;
    const change = this.state.changeOf(editor?.document.uri);
    const hunk = editor && change && hunkAt(change.hunks, editor.selection.active.line);
    if (!hunk) throw new Hint(l10n.t('There is no change of the agent at the cursor.'));
    return hunk;
  }

  private fileOf(row: unknown): Change {
    const node = asNode(row);
    if (node) return node.change;
    const uri = row instanceof Uri ? row : window.activeTextEditor?.document.uri;
    const change = this.state.changeOf(uri);
    if (!change) throw new Hint(l10n.t('The agent has changed nothing here that waits for review.'));
    return change;
  }
}

function asNode(row: unknown): Node | undefined {
  return typeof row === 'object' && row !== null && 'type' in row && 'change' in row ? (row as Node) : undefined;
}

export async function openAt(uri: Uri, line: number | undefined): Promise<void> {
  const editor = await window.showTextDocument(uri, { preview: true });
  if (line !== undefined) reveal(editor, line);
}

function reveal(editor: TextEditor, line: number): void {
  const at = Math.min(line, editor.document.lineCount - 1);
  editor.selection = new Selection(at, 0, at, 0);
  editor.revealRange(new Range(at, 0, at, 0), TextEditorRevealType.InCenterIfOutsideViewport);
}

function nameOf({ uri }: Change): string {
  return workspace.asRelativePath(Uri.parse(uri));
}

function changeItem(change: Change): TreeItem {
  const uri = Uri.parse(change.uri);
  const item = new TreeItem(uri, change.hunks.length > 0 ? TreeItemCollapsibleState.Collapsed : TreeItemCollapsibleState.None);
  const words = operationName(change);
  const count = change.hunks.length === 1 ? l10n.t('1 change') : l10n.t('{0} changes', change.hunks.length);
  const whole = change.operation === 'add' || change.operation === 'delete';
  const folder = nameOf(change).split('/').slice(0, -1).join('/');
  item.id = `change.${change.uri}`;
  // What is cut off first in a narrow view says least.
  item.description = [whole ? words : count, change.operation === 'move' ? words : '', folder]
    .filter(Boolean)
    .join(' · ');
  item.contextValue = 'change';
  item.command = { title: l10n.t('Show Changes in File'), command: 'acpEditor.ui.openChange', arguments: [{ type: 'change', change }] };
  item.accessibilityInformation = { label: `${nameOf(change)}, ${words}, ${count}` };
  return item;
}

function operationName({ operation, oldUri }: Change): string {
  switch (operation) {
    case 'add':
      return l10n.t('added');
    case 'delete':
      return l10n.t('deleted');
    case 'move':
      return oldUri === null ? l10n.t('moved') : l10n.t('moved from {0}', workspace.asRelativePath(Uri.parse(oldUri)));
    case 'modify':
      return l10n.t('changed');
  }
}

function hunkItem(change: Change, hunk: Hunk): TreeItem {
  const label = isWhole(hunk) ? l10n.t('The file itself') : l10n.t('Line {0}', lineLabel(hunk.modified));
  const item = new TreeItem(label);
  const removed = hunk.modified.start === hunk.modified.end;
  const added = hunk.original.start === hunk.original.end;
  const kind = removed ? 'removed' : added ? 'added' : 'modified';
  item.id = `hunk.${hunk.hunkId}`;
  item.iconPath = new ThemeIcon(`diff-${kind}`, new ThemeColor(`acpEditor.${kind}Foreground`));
  item.description = isWhole(hunk) ? operationName(change) : countLabel(hunk);
  item.contextValue = 'hunk';
  item.command = { title: l10n.t('Open Change'), command: 'acpEditor.ui.openChange', arguments: [{ type: 'hunk', change, hunk }] };
  item.accessibilityInformation = { label: `${label}, ${item.description}` };
  return item;
}

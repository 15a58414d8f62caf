import {
  Disposable,
  EventEmitter,
  MarkdownString,
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
import { throttled } from './coalesce';
import { iconOf } from './marks';
import { describe, titleOf } from './permissions';
import type { Location, Permission, PlanEntry, ToolCall } from './protocol';
import { visible } from './safe';
import type { State } from './state';
import { terminalOf } from './terminals';

type Node =
  | { readonly type: 'permission'; readonly permission: Permission }
  | { readonly type: 'plan'; readonly entries: readonly PlanEntry[] }
  | { readonly type: 'entry'; readonly entry: PlanEntry; readonly index: number }
  | { readonly type: 'call'; readonly call: ToolCall }
  | { readonly type: 'place'; readonly place: Location; readonly call: ToolCall; readonly index: number };

const REDRAW_EVERY = 100;
/** Milliseconds between two redraws of the view. */

/** The active session: what waits for permission, the plan, and the tool calls, the newest first. */
export class SessionTree implements Disposable, TreeDataProvider<Node> {
  private readonly emitter = new EventEmitter<void>();
  private readonly redraw = throttled(REDRAW_EVERY, () => this.draw());
  private readonly view: TreeView<Node>;
  private readonly listeners: Disposable;
  readonly onDidChangeTreeData = this.emitter.event;

  constructor(private readonly state: State) {
    this.view = window.createTreeView('acpEditor.session', { treeDataProvider: this, showCollapseAll: true });
    this.listeners = Disposable.from(
      state.onDidChangeStatus(this.redraw),
      state.onDidChangePermissions(this.redraw),
      state.onDidChangeSession(this.redraw),
      state.onDidChangeCall(this.redraw),
      this.view,
    );
  }

  dispose(): void {
    this.redraw.cancel();
    this.listeners.dispose();
    this.emitter.dispose();
  }

  getChildren(node?: Node): Node[] {
    switch (node?.type) {
      case undefined:
        return this.roots();
      case 'plan':
        return node.entries.map((entry, index) => ({ type: 'entry', entry, index }));
      case 'call':
        return node.call.locations.map((place, index) => ({ type: 'place', place, call: node.call, index }));
      default:
        return [];
    }
  }

  getTreeItem(node: Node): TreeItem {
    switch (node.type) {
      case 'permission':
        return permissionItem(node.permission);
      case 'plan':
        return planItem(node.entries);
      case 'entry':
        return entryItem(node.entry, node.index);
      case 'call':
        return callItem(node.call);
      case 'place':
        return placeItem(node.place, `${node.call.toolCallId}.${node.index}`);
    }
  }

  private roots(): Node[] {
    const session = this.state.activeSession;
    const plan = session?.info?.plan ?? [];
    return [
      ...this.state.permissions.map((permission): Node => ({ type: 'permission', permission })),
      ...(plan.length > 0 ? [{ type: 'plan', entries: plan } as const] : []),
      ...[...(session?.toolCalls.values() ?? [])].reverse().map((call): Node => ({ type: 'call', call })),
    ];
  }

  private draw(): void {
    const waiting = this.state.permissions.length;
    const tooltip = waiting === 1 ? l10n.t('1 request waits') : l10n.t('{0} requests wait', waiting);
    this.view.badge = waiting > 0 ? { value: waiting, tooltip } : undefined;
    this.view.description = this.state.status?.session?.title ?? '';
    this.emitter.fire();
  }
}

function permissionItem(permission: Permission): TreeItem {
  const item = new TreeItem(titleOf(permission));
  item.id = `permission.${permission.requestId}`;
  item.iconPath = new ThemeIcon('shield', new ThemeColor('list.warningForeground'));
  item.description = permission.command ?? l10n.t('waits for permission');
  item.tooltip = text(describe(permission));
  item.contextValue = permission.diffs.length > 0 ? 'permission.diff' : 'permission';
  const call = { requestId: permission.requestId };
  item.command = permission.diffs.length > 0
    ? { title: l10n.t('Show Edit'), command: 'acpEditor.ui.showProposedEdit', arguments: [call] }
    : { title: l10n.t('Answer'), command: 'acpEditor.ui.answer', arguments: [call] };
  item.accessibilityInformation = { label: l10n.t('Waits for permission: {0}', describe(permission)) };
  return item;
}

function planItem(entries: readonly PlanEntry[]): TreeItem {
  const item = new TreeItem(l10n.t('Plan'), TreeItemCollapsibleState.Expanded);
  const done = entries.filter((entry) => entry.status === 'completed').length;
  item.id = 'plan';
  item.iconPath = new ThemeIcon('checklist');
  item.description = l10n.t('{0} of {1}', done, entries.length);
  item.accessibilityInformation = { label: l10n.t('Plan, {0} of {1} done', done, entries.length) };
  return item;
}

function entryItem(entry: PlanEntry, index: number): TreeItem {
  const item = new TreeItem(entry.content);
  item.id = `plan.${index}`;
  item.iconPath = new ThemeIcon(
    entry.status === 'completed' ? 'pass' : entry.status === 'in_progress' ? 'circle-large-filled' : 'circle-large-outline',
  );
  item.description = entry.priority === 'high' ? l10n.t('high priority') : '';
  item.tooltip = text(entry.content);
  item.accessibilityInformation = { label: `${entry.content}, ${statusName(entry.status)}` };
  return item;
}

function callItem(call: ToolCall): TreeItem {
  const title = call.title ?? call.name ?? call.kind;
  const item = new TreeItem(
    title,
    call.locations.length > 0 ? TreeItemCollapsibleState.Collapsed : TreeItemCollapsibleState.None,
  );
  const status = call.active ? statusName(call.status) : call.status === 'failed' ? l10n.t('failed') : endedName(call.status);
  item.id = `call.${call.toolCallId}`;
  item.iconPath = call.fault === undefined
    ? new ThemeIcon(iconOf(call.kind), colourOf(call))
    : new ThemeIcon('warning', new ThemeColor('list.warningForeground'));
  item.description = call.fault === undefined ? status : `${status} · ${l10n.t('it did not ask')}`;
  item.tooltip = text([title, `${call.kind}, ${status}`, call.fault ?? ''].join('\n').trimEnd());
  const marks = [...(call.cancellable ? ['.cancellable'] : []), ...(terminalOf(call) === undefined ? [] : ['.terminal'])];
  item.contextValue = `call${marks.join('')}`;
  const [place] = call.locations;
  if (place) item.command = openCommand(place);
  item.accessibilityInformation = { label: [title, call.kind, status, call.fault].filter(Boolean).join(', ') };
  return item;
}

function placeItem(place: Location, id: string): TreeItem {
  const uri = Uri.parse(place.uri);
  const line = place.range ? place.range.start.line + 1 : undefined;
  const name = visible(workspace.asRelativePath(uri));
  const item = new TreeItem(line === undefined ? name : `${name}:${line}`);
  item.id = `place.${id}`;
  item.resourceUri = uri;
  item.iconPath = ThemeIcon.File;
  item.description = place.inferred ? l10n.t('inferred') : '';
  item.command = openCommand(place);
  item.accessibilityInformation = { label: line === undefined ? name : l10n.t('{0}, line {1}', name, line) };
  return item;
}

function openCommand(place: Location): { title: string; command: string; arguments: unknown[] } {
  return { title: l10n.t('Open'), command: 'acpEditor.ui.openLocation', arguments: [place.uri, place.range?.start.line] };
}

function colourOf(call: ToolCall): ThemeColor | undefined {
  if (call.status === 'failed') return new ThemeColor('acpEditor.failedForeground');
  return call.active ? new ThemeColor('charts.blue') : undefined;
}

function statusName(status: string | null): string {
  switch (status) {
    case 'pending':
      return l10n.t('pending');
    case 'in_progress':
      return l10n.t('in progress');
    case 'completed':
      return l10n.t('done');
    case 'failed':
      return l10n.t('failed');
    case 'cancelled':
      return l10n.t('cancelled');
    default:
      return status ?? '';
  }
}

function endedName(status: string | null): string {
  return status === 'pending' || status === 'in_progress' ? l10n.t('not finished') : statusName(status);
}

function text(value: string): MarkdownString {
  return new MarkdownString().appendText(value);
}

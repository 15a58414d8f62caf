import {
  CodeLens,
  type CodeLensProvider,
  Disposable,
  EventEmitter,
  Range,
  type Tab,
  TabInputTextDiff,
  type TextDocument,
  type TextEditor,
  Uri,
  type QuickPickItem,
  QuickPickItemKind,
  commands,
  l10n,
  languages,
  window,
  workspace,
} from 'vscode';
import type { Announcer } from './announce';
import { type Button, buttonsOf } from './buttons';
import type { Client } from './client';
import type { Config } from './config';
import { showDiff, showDiffs } from './documents';
import type { Follower } from './follow';
import { refusal } from './guard';
import { Hint } from './hint';
import type { AnsweredPermission, Permission, PermissionOption } from './protocol';
import type { Effect, Rules } from './rules';
import { sameUri, type State } from './state';
import { unlinked, visible } from './safe';

const SETTLED = 300;
/** Milliseconds after which a request that was answered has left the list. */

type AnswerItem = QuickPickItem & { readonly option?: PermissionOption; readonly effect?: Effect };

/** How a command for a request was called. */
export interface Call {
  readonly requestId?: string;
  /** `key`: through a keybinding, so the key may have been on its way before the request. */
  readonly source?: 'key';
}

/** Asks the person without ever taking the focus, and passes on what they answer. */
export class Permissions implements Disposable, CodeLensProvider {
  private readonly open = new Map<string, { readonly permission: Permission; readonly since: number }>();
  private readonly lensEmitter = new EventEmitter<void>();
  private readonly listeners: Disposable;
  private lastTyped = -Infinity;
  private answeredInEditor: string | undefined;
  readonly onDidChangeCodeLenses = this.lensEmitter.event;

  constructor(
    private readonly client: Client,
    private readonly state: State,
    private readonly config: Config,
    private readonly rules: Rules,
    private readonly announcer: Announcer,
    private readonly follower: Follower,
  ) {
    const schemes = ['file', 'acp-proposed', 'acp-original'];
    this.listeners = Disposable.from(
      state.onDidChangePermissions(() => this.changed()),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && document === window.activeTextEditor?.document) this.lastTyped = Date.now();
      }),
      languages.registerCodeLensProvider(
        schemes.map((scheme) => ({ scheme })),
        this,
      ),
    );
  }

  dispose(): void {
    this.listeners.dispose();
    this.lensEmitter.dispose();
  }

  async approve(call: Call): Promise<void> {
    await this.decide('approve', call);
  }

  async reject(call: Call): Promise<void> {
    await this.decide('reject', call);
  }

  async answer(requestId: string, optionId: string): Promise<void> {
    this.answeredInEditor = requestId;
    await this.send(requestId, optionId);
  }

  private async send(requestId: string, optionId: string): Promise<void> {
    await this.client.execute<AnsweredPermission>('permission.answer', { requestId, optionId });
  }

  /** All options of a request, that of the argument or one that is picked. */
  async pickAnswer(call: Call): Promise<void> {
    const permission = await this.pick(call);
    if (!permission) return;
    const items: AnswerItem[] = permission.options.map((option) => ({
      label: option.name,
      description: meaning(option),
      option,
    }));
    if ((permission.offers ?? []).length > 0) {
      items.push(
        { label: l10n.t('Rules'), kind: QuickPickItemKind.Separator },
        { label: l10n.t('Always Allow…'), description: l10n.t('make a rule'), effect: 'allow' },
        { label: l10n.t('Never Allow…'), description: l10n.t('make a rule'), effect: 'deny' },
      );
    }
    const placeHolder = permission.reason ?? describe(permission);
    const answer = await window.showQuickPick(items, { title: describe(permission), placeHolder });
    if (answer?.option) await this.answer(permission.requestId, answer.option.optionId);
    else if (answer?.effect) await this.makeRule(answer.effect, { requestId: permission.requestId });
  }

  /** Before and after, side by side. */
  async showEdit(call: Call): Promise<void> {
    const withEdits = this.state.permissions.filter((permission) => permission.diffs.length > 0);
    const permission = withEdits.find((candidate) => candidate.requestId === call.requestId) ?? withEdits[0];
    if (!permission) throw new Hint(l10n.t('No edit waits for permission.'));
    const [only, ...others] = permission.diffs;
    const title = l10n.t('Proposed: {0}', titleOf(permission));
    if (only && others.length === 0) await showDiff(only.original, only.modified, title);
    else await showDiffs(title, permission.diffs.map((diff) => ({ ...diff, resource: diff.uri })));
  }

  /** Makes a rule for calls like this one. */
  async makeRule(effect: Effect, call: Call): Promise<void> {
    const permission = await this.pick(call);
    if (permission) await this.rules.make(permission, effect);
  }

  provideCodeLenses(document: TextDocument): CodeLens[] {
    return this.state.permissions.flatMap((permission) => {
      const range = placeIn(permission, document);
      if (!range) return [];
      const call = { requestId: permission.requestId };
      const lens = (title: string, command: string, ...args: unknown[]): CodeLens =>
        new CodeLens(range, { title, command: `acpEditor.ui.${command}`, arguments: args });
      const lenses = [lens(`$(shield) ${titleOf(permission)}`, 'answer', call)];
      for (const option of permission.options.slice(0, 4)) {
        lenses.push(lens(option.name, 'answerOption', permission.requestId, option.optionId));
      }
      if (permission.diffs.length > 0 && document.uri.scheme === 'file') {
        lenses.push(lens(l10n.t('Show Edit'), 'showProposedEdit', call));
      }
      return lenses;
    });
  }

  private async decide(what: 'approve' | 'reject', call: Call): Promise<void> {
    const permission = this.find(call);
    if (!permission) throw new Hint(l10n.t('Nothing waits for permission.'));
    if (call.source === 'key') {
      const since = this.open.get(permission.requestId)?.since ?? -Infinity;
      if (refusal(since, this.lastTyped, Date.now())) {
        const message = l10n.t('Not answered: the request has only just appeared. Press the key again.');
        this.announcer.say(`$(shield) ${message}`, message);
        return;
      }
    }
    this.answeredInEditor = permission.requestId;
    await this.client.execute(`permission.${what}`, { requestId: permission.requestId });
  }

  private find(call: Call): Permission | undefined {
    if (call.requestId === undefined) return this.state.permissions[0];
    const found = this.state.permissions.find(({ requestId }) => requestId === call.requestId);
    if (!found) throw new Hint(l10n.t('That request is not open any more.'));
    return found;
  }

  private async pick(call: Call): Promise<Permission | undefined> {
    if (call.requestId !== undefined || this.state.permissions.length < 2) return this.find(call);
    const items = this.state.permissions.map((permission) => ({
      label: titleOf(permission),
      description: describe(permission),
      permission,
    }));
    return (await window.showQuickPick(items, { placeHolder: l10n.t('Which request?') }))?.permission;
  }

  private changed(): void {
    const wereOpen = this.open.size;
    const waiting = new Set(this.state.permissions.map(({ requestId }) => requestId));
    for (const [requestId, { permission }] of this.open) {
      if (waiting.has(requestId)) continue;
      this.open.delete(requestId);
      void this.leaveDiffs(permission);
    }
    // A notification cannot be taken back, only put away; while another one waits, its buttons stay.
    if (waiting.size === 0 && wereOpen > 0) void commands.executeCommand('notifications.hideToasts');
    for (const permission of this.state.permissions) {
      const since = this.open.get(permission.requestId)?.since;
      this.open.set(permission.requestId, { permission, since: since ?? Date.now() });
      if (since !== undefined) continue;
      if (this.config.get('permissions.notify', true)) void this.notify(permission);
      else this.announcer.say(`$(shield) ${titleOf(permission)}`, l10n.t('Permission asked: {0}', titleOf(permission)));
    }
    this.lensEmitter.fire();
  }

  /** What a request proposed is not to be looked at as if it still waited: the file itself takes its place. */
  private async leaveDiffs(permission: Permission): Promise<void> {
    const stale = diffTabs(permission);
    if (stale.length === 0) return;
    const front = stale.find(({ tab }) => tab.isActive);
    if (front) {
      const { viewColumn, isActive } = front.tab.group;
      // Where they answered from the diff, its focus goes on to the file; else it stays wherever it is.
      const takeFocus = isActive && this.answeredInEditor === permission.requestId && isIn(permission, window.activeTextEditor);
      await this.follower.replace(viewColumn, front.uri, lineIn(permission, front.uri), takeFocus);
    }
    // One that was a preview has already given its place.
    await window.tabGroups.close(diffTabs(permission).map(({ tab }) => tab), true);
  }

  /** A notification is announced to screen readers, and takes no focus. */
  private async notify(permission: Permission): Promise<void> {
    const buttons = buttonsOf(permission, {
      allow: l10n.t('Allow'),
      reject: l10n.t('Reject'),
      edit: l10n.t('Show Edit'),
      always: l10n.t('Always…'),
      never: l10n.t('Never…'),
      more: l10n.t('More…'),
    });
    const show = isDangerous(permission) ? window.showWarningMessage : window.showInformationMessage;
    const answer = await show<Button>(`${this.asking(permission)}: ${describe(permission)}`, ...buttons);
    if (answer === undefined) return;
    if (!this.open.has(permission.requestId)) {
      void window.showInformationMessage(l10n.t('“{0}” was already answered or withdrawn.', titleOf(permission)));
      return;
    }
    await this.act(permission, answer).catch(showError);
    if (answer.option) return;
    // Looked at and not answered: it still waits, and its buttons stay at hand. The list without it comes a moment later.
    await new Promise((resolve) => setTimeout(resolve, SETTLED));
    if (this.open.has(permission.requestId)) void this.notify(permission);
  }

  /** Who asks, where that is known. */
  private asking({ sessionId }: Permission): string {
    const title = sessionId === this.state.activeSessionId ? this.state.status?.title : null;
    return unlinked(title ?? 'ACP');
  }

  private async act(permission: Permission, { option, does }: Button): Promise<void> {
    const call = { requestId: permission.requestId };
    if (option) await this.send(permission.requestId, option.optionId);
    else if (does === 'edit') await this.showEdit(call);
    else if (does === 'more') await this.pickAnswer(call);
    else await this.makeRule(does === 'never' ? 'deny' : 'allow', call);
  }
}

function showError(error: unknown): void {
  void window.showErrorMessage(error instanceof Error ? error.message : String(error));
}

export function titleOf(permission: Permission): string {
  const line = permission.title.replace(/\s+/g, ' ').trim();
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}

/** Title, what is to be minded, command and files, on one line. */
export function describe(permission: Permission): string {
  const title = titleOf(permission);
  const parts = [title, ...warnings(permission)];
  if (permission.command !== null && !title.includes(permission.command)) parts.push(permission.command);
  const files = filesOf(permission).filter((file) => !permission.title.includes(file));
  if (files.length > 0) parts.push(files.slice(0, 3).join(', ') + (files.length > 3 ? '…' : ''));
  return parts.join(' · ');
}

function isDangerous({ dangerous, outside, kind }: Permission): boolean {
  return dangerous !== undefined || (outside ?? []).length > 0 || kind === 'delete';
}

/** What is to be minded before this is allowed. */
function warnings({ dangerous, outside, readOnly }: Permission): string[] {
  const found: string[] = [];
  if (dangerous !== undefined) found.push(l10n.t('⚠ {0}', dangerous));
  if (outside !== undefined && outside.length > 0) found.push(l10n.t('⚠ outside the workspace: {0}', outside.join(', ')));
  if (readOnly === true) found.push(l10n.t('only reads'));
  return found;
}

function filesOf(permission: Permission): string[] {
  const uris = [...permission.diffs.map((diff) => diff.uri), ...permission.locations.map((place) => place.uri)];
  return [...new Set(uris)].map((uri) => visible(workspace.asRelativePath(Uri.parse(uri), false)).replaceAll('\\', '/'));
}

function meaning(option: PermissionOption): string {
  switch (option.kind) {
    case 'allow_once':
      return l10n.t('this once');
    case 'allow_always':
      return l10n.t('the agent remembers it');
    case 'reject_once':
      return l10n.t('not this time');
    case 'reject_always':
      return l10n.t('the agent remembers the refusal');
    default:
      return '';
  }
}

/** The tabs in which a request's edits are looked at, each with the file that it is about. */
function diffTabs(permission: Permission): readonly { readonly tab: Tab; readonly uri: string }[] {
  return window.tabGroups.all.flatMap((group) => group.tabs).flatMap((tab) => {
    if (!(tab.input instanceof TabInputTextDiff)) return [];
    const shown = tab.input.modified.toString();
    const diff = permission.diffs.find(({ modified }) => sameUri(modified, shown));
    return diff ? [{ tab, uri: diff.uri }] : [];
  });
}

/** Whether an editor is one side of a request's diffs. */
function isIn(permission: Permission, editor: TextEditor | undefined): boolean {
  const shown = editor?.document.uri.toString();
  return shown !== undefined && permission.diffs.some(({ original, modified }) => sameUri(modified, shown) || sameUri(original, shown));
}

/** The first line of a file that a request is about. */
function lineIn(permission: Permission, uri: string): number | undefined {
  return permission.locations.find((place) => place.uri === uri || sameUri(place.uri, uri))?.range?.start.line;
}

/** Where in a document a request is about, if it is. */
function placeIn(permission: Permission, document: TextDocument): Range | undefined {
  const key = document.uri.toString();
  const diff = permission.diffs.find(
    ({ uri, modified }) => sameUri(uri, key) || sameUri(modified, key),
  );
  const file = diff?.uri ?? key;
  const place = permission.locations.find(({ uri }) => uri === file || sameUri(uri, key));
  if (!diff && !place) return undefined;
  const line = Math.min(place?.range?.start.line ?? 0, document.lineCount - 1);
  return new Range(line, 0, line, 0);
}

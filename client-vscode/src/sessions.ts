import { Disposable, type QuickInputButton, type QuickPick, type QuickPickItem, ThemeIcon, Uri, l10n, window, workspace } from 'vscode';
import type { Client } from './client';
import type { Session, SessionId, SessionRow, State as Snapshot } from './protocol';
import { visible, withoutIcons } from './safe';
import type { State } from './state';

type Action = 'close' | 'delete' | 'fork';
type Button = QuickInputButton & { readonly action: Action };
type Row = QuickPickItem & { readonly row: SessionRow; readonly agent: string; readonly open: boolean; readonly buttons: readonly Button[] };
type Item = Row | (QuickPickItem & { readonly row?: never });

const TIME = { dateStyle: 'medium', timeStyle: 'short' } as const;

/** The picker of sessions: those that are open and those that the agent keeps. */
export class Sessions {
  constructor(
    private readonly client: Client,
    private readonly state: State,
  ) {}

  /** Goes to a session, or closes, forks or deletes some; the list stays until one is gone to. */
  async pick(): Promise<void> {
    const pick = window.createQuickPick<Item>();
    pick.title = l10n.t('Sessions');
    pick.placeholder = l10n.t('Go to a session');
    pick.buttons = [{ iconPath: new ThemeIcon('add'), tooltip: l10n.t('New Session') }];
    pick.matchOnDescription = true;
    pick.ignoreFocusOut = true; // a question before a session is deleted takes the focus
    const listeners: Disposable[] = [];
    try {
      pick.busy = true;
      pick.show();
      await new Promise<void>((resolve, reject) => {
        const attempt = (work: Promise<boolean>): void => {
          work.then((done) => {
            if (done) resolve();
          }, reject);
        };
        listeners.push(
          pick.onDidAccept(() => {
            const [chosen] = pick.selectedItems;
            if (chosen) attempt(chosen.row === undefined ? this.begin() : this.go(chosen));
          }),
          pick.onDidTriggerButton(() => attempt(this.begin())),
          pick.onDidTriggerItemButton(({ item, button }) => {
            if (item.row !== undefined) attempt(this.act(pick, item, (button as Button).action));
          }),
          pick.onDidHide(() => resolve()),
        );
        attempt(this.fill(pick));
      });
    } finally {
      Disposable.from(...listeners).dispose();
      pick.dispose();
    }
  }

  private async fill(pick: QuickPick<Item>): Promise<false> {
    pick.busy = true;
    const rows = await this.client.execute<readonly SessionRow[]>('session.list');
    const snapshot = await this.client.execute<Snapshot>('state');
    const agent = this.state.status?.agent ?? '';
    const known = new Set(rows.map(({ sessionId }) => sessionId));
    const others = snapshot.sessions.filter(({ sessionId }) => !known.has(sessionId));
    const found = [
      ...rows.map((row) => rowOf(row, agent, snapshot)),
      ...others.map((session) => rowOf({ ...session, updatedAt: null }, session.agent, snapshot, session.agent)),
    ];
    const begin = { label: l10n.t('New Session'), detail: l10n.t('There are no sessions yet.'), iconPath: new ThemeIcon('add') };
    pick.items = found.length === 0 ? [begin] : [...found.filter(({ open }) => open), ...found.filter(({ open }) => !open)];
    pick.busy = false;
    return false;
  }

  private async begin(): Promise<true> {
    await this.client.execute<SessionId>('session.new');
    await this.client.refresh();
    return true;
  }

  private async go({ row: { sessionId }, agent, open }: Row): Promise<true> {
    if (open) await this.client.execute('session.select', { sessionId });
    else await this.client.execute<SessionId>('session.resume', { sessionId, agent });
    await this.client.refresh();
    return true;
  }

  private async act(pick: QuickPick<Item>, item: Row, action: Action): Promise<boolean> {
    const argument = { sessionId: item.row.sessionId, agent: item.agent };
    if (action === 'delete' && !(await confirmed(item))) return false;
    pick.busy = true;
    await this.client.execute(`session.${action}`, argument);
    await this.client.refresh();
    return action === 'fork' ? true : this.fill(pick);
  }
}

function rowOf(row: SessionRow, agent: string, snapshot: Snapshot, whose = ''): Row {
  const session = snapshot.sessions.find(({ sessionId }) => sessionId === row.sessionId);
  const open = session !== undefined;
  const can = snapshot.agents[agent]?.can ?? [];
  const buttons: Button[] = [];
  if (can.includes('fork')) buttons.push({ action: 'fork', iconPath: new ThemeIcon('repo-forked'), tooltip: l10n.t('Fork Session') });
  if (open) buttons.push({ action: 'close', iconPath: new ThemeIcon('close'), tooltip: l10n.t('Close Session') });
  if (can.includes('delete')) buttons.push({ action: 'delete', iconPath: new ThemeIcon('trash'), tooltip: l10n.t('Delete Session') });
  const name = row.title === null ? visible(row.sessionId) : '';
  const time = row.updatedAt === null ? '' : new Date(row.updatedAt).toLocaleString(undefined, TIME);
  return {
    label: withoutIcons(row.title ?? l10n.t('Untitled session')),
    description: [stateOf(session), whose, name, time].filter(Boolean).join(' · '),
    ...detailOf(Uri.parse(row.cwd)),
    iconPath: new ThemeIcon(row.sessionId === snapshot.activeSessionId ? 'check' : 'comment-discussion'),
    buttons,
    row,
    agent,
    open,
  };
}

function stateOf(session: Session | undefined): string {
  switch (session?.state) {
    case undefined:
      return '';
    case 'running':
      return l10n.t('working');
    case 'requires_action':
      return l10n.t('waiting for you');
    default:
      return l10n.t('open');
  }
}

/** Where a session works, unless that goes without saying. */
function detailOf(cwd: Uri): { detail?: string } {
  const folder = workspace.getWorkspaceFolder(cwd);
  if (folder?.uri.toString() !== cwd.toString()) return { detail: visible(workspace.asRelativePath(cwd, true)) };
  return (workspace.workspaceFolders?.length ?? 0) > 1 ? { detail: folder.name } : {};
}

async function confirmed({ row, agent }: Row): Promise<boolean> {
  const yes = l10n.t('Delete');
  const message = l10n.t('Delete the session “{0}”?', row.title ?? row.sessionId);
  const detail = l10n.t('{0} deletes it for good. Files that it changed stay as they are.', agent);
  return (await window.showWarningMessage(message, { modal: true, detail }, yes)) === yes;
}

import { type QuickPickItem, ThemeIcon, Uri, l10n, window, workspace, ConfigurationTarget } from 'vscode';
import type { Client } from './client';
import type { Config } from './config';
import { commandLine } from './merge';
import type { AuthMethod, SessionId, SessionRow, State as Snapshot, Terminal } from './protocol';
import type { State } from './state';

/** The pickers for what a command needs and was not given. */
export class Pickers {
  constructor(
    private readonly client: Client,
    private readonly state: State,
    private readonly config: Config,
  ) {}

  /** Makes another agent the one that new sessions use. */
  async chooseAgent(): Promise<void> {
    const current = this.config.get('agent', 'demo');
    const agents = this.config.agents();
    const items = [
      { label: 'demo', description: l10n.t('built in; needs no network and no key') },
      ...Object.entries(agents).map(([label, entry]) => ({ label, description: commandLine(entry) })),
    ].map((item) => ({ ...item, iconPath: new ThemeIcon(item.label === current ? 'check' : 'blank') }));
    const chosen = await window.showQuickPick(items, {
      title: l10n.t('Choose Agent'),
      placeHolder: l10n.t('The agent for new sessions'),
    });
    if (!chosen || chosen.label === current) return;
    const section = workspace.getConfiguration('acpEditor');
    // Where the workspace names one, a change of the person's own would not show.
    const local = section.inspect('agent')?.workspaceValue !== undefined;
    await section.update('agent', chosen.label, local ? ConfigurationTarget.Workspace : ConfigurationTarget.Global);
    if (this.client.ready) await this.client.execute<SessionId>('session.new', { agent: chosen.label });
  }

  /** Goes to another session, open or kept by the agent, or closes one. */
  async sessions(): Promise<void> {
    const rows = await this.client.execute<readonly SessionRow[]>('session.list');
    const open = await this.client.execute<Snapshot>('state');
    const agent = this.state.status?.agent;
    const close = { iconPath: new ThemeIcon('close'), tooltip: l10n.t('Close Session') };
    const isOpen = (id: string): boolean => open.sessions.some((session) => session.sessionId === id);
    const described = (row: SessionRow): QuickPickItem & { row: SessionRow } => ({
      label: row.title ?? row.sessionId,
      description: row.updatedAt === null ? '' : new Date(row.updatedAt).toLocaleString(),
      detail: workspace.asRelativePath(Uri.parse(row.cwd), true),
      iconPath: new ThemeIcon(row.sessionId === open.activeSessionId ? 'check' : 'comment-discussion'),
      buttons: isOpen(row.sessionId) ? [close] : [],
      row,
    });
    const others = open.sessions.filter(({ sessionId }) => !rows.some((row) => row.sessionId === sessionId));
    const pick = window.createQuickPick<QuickPickItem & { row: SessionRow }>();
    pick.title = l10n.t('Sessions');
    pick.placeholder = l10n.t('Go to a session');
    pick.matchOnDescription = true;
    pick.items = [
      ...rows.map(described),
      ...others.map((session) => described({ ...session, updatedAt: null })),
    ];
    try {
      const chosen = await new Promise<{ row: SessionRow; close: boolean } | undefined>((resolve) => {
        pick.onDidAccept(() => resolve(pick.selectedItems[0] && { row: pick.selectedItems[0].row, close: false }));
        pick.onDidTriggerItemButton(({ item }) => resolve({ row: item.row, close: true }));
        pick.onDidHide(() => resolve(undefined));
        pick.show();
      });
      if (!chosen) return;
      const { sessionId } = chosen.row;
      if (chosen.close) await this.client.execute('session.close', { sessionId });
      else if (isOpen(sessionId)) await this.client.execute('session.select', { sessionId });
      else await this.client.execute('session.resume', { sessionId, ...(agent === undefined ? {} : { agent }) });
      await this.client.refresh();
    } finally {
      pick.dispose();
    }
  }

  async login(): Promise<void> {
    const snapshot = await this.client.execute<Snapshot>('state');
    const agent = this.state.status?.agent ?? this.config.get('agent', 'demo');
    const methods: readonly AuthMethod[] = snapshot.agents[agent]?.authMethods ?? [];
    if (methods.length < 2) {
      await this.client.execute('auth.login', { agent, ...(methods[0] ? { methodId: methods[0].id } : {}) });
    } else {
      const items = methods.map((method) => ({ label: method.name, detail: method.description ?? '', method }));
      const chosen = await window.showQuickPick(items, { title: l10n.t('Log In to {0}', agent) });
      if (!chosen) return;
      await this.client.execute('auth.login', { agent, methodId: chosen.method.id });
    }
    void window.showInformationMessage(l10n.t('Logged in to {0}.', agent));
  }

  async pickTerminal(): Promise<{ readonly terminal: Terminal; readonly sessionId: string } | undefined> {
    const snapshot = await this.client.execute<Snapshot>('state');
    const session = snapshot.sessions.find(({ sessionId }) => sessionId === snapshot.activeSessionId);
    const terminals = session?.terminals ?? [];
    if (!session || terminals.length === 0) {
      void window.showInformationMessage(l10n.t('The agent has started no terminal in this session.'));
      return undefined;
    }
    const items = [...terminals].reverse().map((terminal) => ({
      label: terminal.command ?? terminal.terminalId,
      description: terminal.exitStatus ? l10n.t('ended with {0}', String(terminal.exitStatus.exitCode ?? terminal.exitStatus.signal)) : l10n.t('running'),
      terminal,
    }));
    const chosen = items.length === 1 ? items[0] : await window.showQuickPick(items, { title: l10n.t('Show Agent Terminal') });
    return chosen && { terminal: chosen.terminal, sessionId: session.sessionId };
  }
}

import { type Disposable, ProgressLocation, type Terminal, ThemeIcon, l10n, window } from 'vscode';
import type { Client } from './client';
import type { Config } from './config';
import { messageOf } from './environment';
import type { Agent, RunInTerminalParams, State as Snapshot } from './protocol';
import { unlinked, withoutIcons } from './safe';
import type { State } from './state';

/** Logging in to agents and out again, in a terminal where an agent wants that. */
export class Login implements Disposable {
  private readonly terminals = new Map<Terminal, string>();
  private readonly listener: Disposable;

  constructor(
    private readonly client: Client,
    private readonly state: State,
    private readonly config: Config,
  ) {
    this.listener = window.onDidCloseTerminal((closed) => {
      const agent = this.terminals.get(closed);
      this.terminals.delete(closed);
      if (agent !== undefined) void this.ended(agent, closed.exitStatus?.code);
    });
  }

  dispose(): void {
    this.listener.dispose();
  }

  /** By the agent's only way, or by one that the person picks. */
  async login(agent = this.agent): Promise<void> {
    const { authMethods: methods } = await this.client.execute<Agent>('agent.start', { agent });
    if (methods.length === 0) {
      void window.showInformationMessage(l10n.t('{0} names no way to log in.', agent));
      return;
    }
    const items = methods.map((method) => ({
      label: withoutIcons(method.name),
      description: method.kind === 'terminal' ? l10n.t('in a terminal') : '',
      detail: method.description === null ? '' : withoutIcons(method.description),
      method,
    }));
    const title = l10n.t('Log In to {0}', agent);
    const chosen = items.length === 1 ? items[0] : await window.showQuickPick(items, { title });
    if (!chosen) return;
    const argument = { agent, methodId: chosen.method.id };
    if (chosen.method.kind === 'terminal') {
      await this.client.execute('auth.login', argument);
      return;
    }
    const progress = { location: ProgressLocation.Notification, title: `${title}: ${chosen.label}`, cancellable: true };
    const done = await window.withProgress(progress, async (_, token) => {
      try {
        await this.client.execute('auth.login', argument, token);
        return true;
      } catch (error) {
        if (token.isCancellationRequested) return false;
        throw error;
      }
    });
    if (done) void window.showInformationMessage(l10n.t('Logged in to {0}.', agent));
  }

  async logout(): Promise<void> {
    const { agent } = this;
    await this.client.execute('auth.logout', { agent });
    void window.showInformationMessage(l10n.t('Logged out of {0}.', agent));
  }

  /** `acpEditor/runInTerminal`: the agent's own program, which the person types into. */
  runInTerminal({ agent, title, command, args, env, cwd }: RunInTerminalParams): null {
    const iconPath = new ThemeIcon('key');
    const terminal = window.createTerminal({ name: title, shellPath: command, shellArgs: [...args], env, cwd, iconPath });
    this.terminals.set(terminal, agent);
    terminal.show();
    return null;
  }

  private get agent(): string {
    return this.state.status?.agent ?? this.config.get('agent', 'demo');
  }

  /** An agent that runs already knows nothing of a login in another process. */
  private async ended(agent: string, code: number | undefined): Promise<void> {
    if (code !== 0) {
      void window.showWarningMessage(l10n.t('The login to {0} has not succeeded.', agent));
      return;
    }
    try {
      const { sessions } = await this.client.execute<Snapshot>('state');
      const busy = sessions.some((session) => session.agent === agent && session.state !== 'idle');
      if (!busy) await this.client.execute('agent.restart', { agent });
      void window.showInformationMessage(l10n.t('Logged in to {0}.', agent));
    } catch (error) {
      void window.showErrorMessage(unlinked(messageOf(error)));
    }
  }
}

import { ConfigurationTarget, type QuickPickItem, QuickPickItemKind, ThemeIcon, commands, l10n, window, workspace } from 'vscode';
import type { Client } from './client';
import type { Config } from './config';
import { commandLine } from './merge';
import type { SessionId } from './protocol';

/** The pickers for what a command needs and was not given. */
export class Pickers {
  constructor(
    private readonly client: Client,
    private readonly config: Config,
  ) {}

  /** Makes another agent the one that new sessions use. */
  async chooseAgent(): Promise<void> {
    const current = this.config.get('agent', 'demo');
    const agents = this.config.agents();
    const items: QuickPickItem[] = [
      { label: 'demo', description: l10n.t('built in; needs no network and no key') },
      ...Object.entries(agents).map(([label, entry]) => ({ label, description: commandLine(entry) })),
    ].map((item) => ({ ...item, iconPath: new ThemeIcon(item.label === current ? 'check' : 'blank') }));
    const add: QuickPickItem = {
      label: l10n.t('Add an Agent…'),
      description: l10n.t('in the settings'),
      iconPath: new ThemeIcon('add'),
      alwaysShow: true,
    };
    const chosen = await window.showQuickPick([...items, { label: '', kind: QuickPickItemKind.Separator }, add], {
      title: l10n.t('Choose Agent'),
      placeHolder: l10n.t('The agent for new sessions'),
    });
    if (chosen === add) await commands.executeCommand('workbench.action.openSettings', 'acpEditor.agents');
    if (!chosen || chosen === add || chosen.label === current) return;
    const section = workspace.getConfiguration('acpEditor');
    // Where the workspace names one, a change of the person's own would not show.
    const local = section.inspect('agent')?.workspaceValue !== undefined;
    await section.update('agent', chosen.label, local ? ConfigurationTarget.Workspace : ConfigurationTarget.Global);
    if (this.client.ready) await this.client.execute<SessionId>('session.new', { agent: chosen.label });
  }
}

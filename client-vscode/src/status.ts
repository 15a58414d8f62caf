import { Disposable, StatusBarAlignment, ThemeColor, l10n, window, workspace, MarkdownString, type StatusBarItem } from 'vscode';
import type { Client } from './client';
import type { ConfigOption } from './protocol';
import type { State } from './state';

/** The status bar: agent, state, following, what waits; and the session's mode and model. */
export class Status implements Disposable {
  private readonly item: StatusBarItem;
  private readonly options: readonly (readonly [category: string, item: StatusBarItem])[];
  private readonly listeners: Disposable;

  constructor(
    private readonly state: State,
    private readonly client: Client,
  ) {
    this.item = window.createStatusBarItem('acpEditor.status', StatusBarAlignment.Left, 10);
    this.item.name = l10n.t('ACP Agent');
    this.item.command = 'acpEditor.ui.menu';
    const option = (id: string, command: string, name: string, priority: number): StatusBarItem => {
      const item = window.createStatusBarItem(`acpEditor.${id}`, StatusBarAlignment.Left, priority);
      item.name = name;
      item.command = command;
      return item;
    };
    this.options = [
      ['mode', option('mode', 'acpEditor.ui.setMode', l10n.t('ACP Mode'), 9)],
      ['model', option('model', 'acpEditor.ui.setModel', l10n.t('ACP Model'), 8)],
    ];
    this.listeners = Disposable.from(
      state.onDidChangeStatus(() => this.draw()),
      state.onDidChangeSession(() => this.draw()),
      client.onDidChange(() => this.draw()),
      workspace.onDidGrantWorkspaceTrust(() => this.draw()),
    );
    this.draw();
    this.item.show();
  }

  dispose(): void {
    this.listeners.dispose();
    this.item.dispose();
    this.options.forEach(([, item]) => item.dispose());
  }

  private draw(): void {
    this.drawOptions();
    const status = this.state.status;
    const say = (text: string, tooltip: string, colour?: 'warning' | 'error'): void => {
      this.item.text = text;
      this.item.tooltip = plain(tooltip);
      this.item.accessibilityInformation = { label: `ACP: ${tooltip}`, role: 'button' };
      this.item.backgroundColor = colour && new ThemeColor(`statusBarItem.${colour}Background`);
    };
    if (!workspace.isTrusted) {
      say('$(shield) ACP', l10n.t('No agent is started until you trust this workspace.'));
      return;
    }
    if (!this.client.ready || !status) {
      if (this.client.error !== undefined) say('$(error) ACP', this.client.error, 'error');
      else say('$(circle-outline) ACP', l10n.t('The server is starting.'));
      return;
    }
    const words = stateWords(status.state, status.session?.state);
    const parts = [`$(${this.icon()}) ${status.title ?? status.agent}`];
    const told = [`${status.title ?? status.agent}: ${words}`];
    if (status.follow.enabled) {
      parts.push(status.follow.paused ? '$(eye-closed)' : '$(eye)');
      told.push(status.follow.paused ? l10n.t('following is paused') : l10n.t('following'));
    }
    if (status.permissions > 0) {
      parts.push(`$(shield) ${status.permissions}`);
      told.push(
        status.permissions === 1 ? l10n.t('1 request waits') : l10n.t('{0} requests wait', status.permissions),
      );
    }
    if (status.changes > 0) {
      parts.push(`$(diff) ${status.changes}`);
      told.push(status.changes === 1 ? l10n.t('1 changed file') : l10n.t('{0} changed files', status.changes));
    }
    const usage = status.session?.usage;
    if (usage && usage.size > 0) told.push(l10n.t('{0}% of the context used', Math.round((100 * usage.used) / usage.size)));
    const cost = costOf(usage?.cost);
    if (cost !== undefined) told.push(cost);
    if (status.error !== null && status.error !== '') told.push(status.error);
    const colour = status.permissions > 0 ? 'warning' : status.state === 'failed' ? 'error' : undefined;
    say(parts.join(' '), told.join(', '), colour);
  }

  private icon(): string {
    const status = this.state.status;
    if (status?.state === 'failed') return 'error';
    if (status?.session?.state === 'requires_action') return 'question';
    if (status?.session?.state === 'running' || status?.state === 'starting') return reducedMotion() ? 'sync' : 'sync~spin';
    return status?.error !== null && status?.error !== '' ? 'warning' : status.state === 'ready' ? 'circle-filled' : 'circle-outline';
  }

  private drawOptions(): void {
    const config = this.client.ready ? (this.state.activeSession?.info?.config ?? []) : [];
    for (const [category, item] of this.options) {
      const option = config.find((candidate) => candidate.category === category && candidate.kind === 'choice');
      if (!option || option.options.length < 2) {
        item.hide();
        continue;
      }
      const told = option.locked === null ? '' : `, ${l10n.t('locked by {0}', option.locked)}`;
      item.text = option.locked === null ? valueName(option) : `$(lock) ${valueName(option)}`;
      item.tooltip = plain(`${option.name}: ${valueName(option)}${told}`);
      item.accessibilityInformation = { label: `ACP, ${option.name}: ${valueName(option)}${told}`, role: 'button' };
      item.show();
    }
  }
}

/** What an option is set to, in its own words. */
export function valueName(option: ConfigOption): string {
  if (typeof option.value === 'boolean') return option.value ? l10n.t('on') : l10n.t('off');
  const value = typeof option.value === 'string' || typeof option.value === 'number' ? String(option.value) : '';
  return option.options.find((choice) => choice.value === value)?.name ?? value;
}

/** What a session has cost so far, in the agent's own currency. */
function costOf(cost: unknown): string | undefined {
  if (typeof cost !== 'object' || cost === null || !('amount' in cost) || typeof cost.amount !== 'number') return undefined;
  const currency = 'currency' in cost && typeof cost.currency === 'string' ? cost.currency : '';
  return l10n.t('{0} {1} spent', cost.amount.toFixed(2), currency);
}

function stateWords(agent: string, session: string | undefined): string {
  if (agent === 'failed') return l10n.t('failed');
  if (agent === 'starting') return l10n.t('starting');
  if (session === 'requires_action') return l10n.t('waiting for you');
  if (session === 'running') return l10n.t('working');
  return agent === 'ready' ? l10n.t('ready') : l10n.t('not started');
}

function reducedMotion(): boolean {
  return workspace.getConfiguration('workbench').get<string>('reduceMotion') === 'on';
}

/** Text of an agent's, shown as it is. */
function plain(text: string): MarkdownString {
  return new MarkdownString().appendText(text);
}

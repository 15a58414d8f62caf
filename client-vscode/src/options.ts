import { type QuickPickItem, QuickPickItemKind, ThemeIcon, l10n, window } from 'vscode';
import type { Client } from './client';
import { changedOptions, next, numberIn } from './optionRows';
import type { Choice, ConfigOption } from './protocol';
import type { State } from './state';
import { valueName } from './status';

type OptionItem = QuickPickItem & { readonly option?: ConfigOption };
type ChoiceItem = QuickPickItem & { readonly choice?: Choice };

/** The session's options: its agent's, and our own settings that concern it. */
export class Options {
  constructor(
    private readonly client: Client,
    private readonly state: State,
  ) {}

  /** Picks one of the options and a value for it. */
  async pick(): Promise<void> {
    const options = await this.client.execute<readonly ConfigOption[]>('config');
    const chosen = await window.showQuickPick(optionItems(options), {
      title: l10n.t('Set Option'),
      placeHolder: l10n.t('Choose an option to change it'),
      matchOnDescription: true,
      matchOnDetail: true,
    });
    if (chosen?.option) await this.change(chosen.option);
  }

  async pickByCategory(category: 'mode' | 'model'): Promise<void> {
    await this.change(this.byCategory(category));
  }

  /** The next choice of the mode, the first one after the last. */
  async nextMode(): Promise<void> {
    const option = this.byCategory('mode');
    throwIfLocked(option);
    const choice = next(option);
    if (choice) await this.send(option, choice.value);
  }

  private byCategory(category: string): ConfigOption {
    const options = this.state.activeSession?.info?.config ?? [];
    const option = options.find((candidate) => candidate.category === category && candidate.options.length > 0);
    if (!option) throw new Error(l10n.t('The session has no choice of that kind.'));
    return option;
  }

  private async change(option: ConfigOption): Promise<void> {
    throwIfLocked(option);
    switch (option.kind) {
      case 'boolean':
        await this.send(option, option.value !== true);
        return;
      case 'choice': {
        const chosen = await window.showQuickPick(choiceItems(option), {
          title: option.name,
          placeHolder: option.description ?? '',
          matchOnDescription: true,
        });
        if (chosen?.choice) await this.send(option, chosen.choice.value);
        return;
      }
      default:
        await this.askText(option);
    }
  }

  private async askText(option: ConfigOption): Promise<void> {
    const text = await window.showInputBox({
      title: option.name,
      value: valueName(option),
      prompt: option.description ?? '',
      validateInput: (value) => (option.kind === 'number' ? numberProblem(option, value) : undefined),
    });
    if (text !== undefined) await this.send(option, option.kind === 'number' ? numberIn(option, text) : text);
  }

  /** Sets it, and tells what else the agent made of that. */
  private async send(option: ConfigOption, value: unknown): Promise<void> {
    const before = this.state.activeSession?.info?.config ?? [];
    const config = await this.client.execute<readonly ConfigOption[]>('config.set', { configId: option.configId, value });
    const info = this.state.activeSession?.info;
    if (info) this.state.setSession({ ...info, config });
    const now = config.find(({ configId }) => configId === option.configId);
    if (now) window.setStatusBarMessage(`${now.name}: ${valueName(now)}`, 4000);
    const others = changedOptions(before, config).filter(({ configId }) => configId !== option.configId);
    const told = others.map((other) => `${other.name}: ${valueName(other)}`);
    if (now && now.value !== value) told.unshift(`${now.name}: ${valueName(now)}`);
    if (told.length > 0) void window.showInformationMessage(l10n.t('The agent also set {0}.', told.join(', ')));
  }
}

function numberProblem(option: ConfigOption, text: string): string | undefined {
  if (numberIn(option, text) !== undefined) return undefined;
  const { least, most } = option;
  if (least !== undefined && most !== undefined) return l10n.t('A number from {0} to {1}.', least, most);
  return least === undefined ? l10n.t('A number.') : l10n.t('A number of at least {0}.', least);
}

function throwIfLocked({ name, locked }: ConfigOption): void {
  if (locked !== null) throw new Error(l10n.t('{0} is locked by {1}.', name, locked));
}

/** The options under the headings of where they come from; a locked one says by whom. */
function optionItems(options: readonly ConfigOption[]): OptionItem[] {
  const items: OptionItem[] = [];
  let source: string | undefined;
  for (const option of options) {
    if (option.source !== source) items.push({ label: option.source, kind: QuickPickItemKind.Separator });
    source = option.source;
    const locked = option.locked === null ? '' : l10n.t('locked by {0}', option.locked);
    items.push({
      label: option.name,
      description: valueName(option),
      detail: [locked, option.description ?? ''].filter(Boolean).join(' · '),
      iconPath: new ThemeIcon(option.locked === null ? iconOf(option) : 'lock'),
      option,
    });
  }
  return items;
}

function iconOf({ kind, value }: ConfigOption): string {
  if (kind === 'boolean') return value === true ? 'pass-filled' : 'circle-large-outline';
  return kind === 'choice' ? 'list-selection' : 'edit';
}

/** The choices of an option, grouped as the agent groups them. */
function choiceItems(option: ConfigOption): ChoiceItem[] {
  const items: ChoiceItem[] = [];
  let group: string | null = null;
  for (const choice of option.options) {
    const its = choice.group ?? null;
    if (its !== null && its !== group) items.push({ label: its, kind: QuickPickItemKind.Separator });
    group = its;
    items.push({
      label: choice.name,
      description: choice.description ?? '',
      iconPath: new ThemeIcon(choice.value === option.value ? 'check' : 'blank'),
      choice,
    });
  }
  return items;
}

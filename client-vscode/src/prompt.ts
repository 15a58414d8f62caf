import { InputBoxValidationSeverity, commands, l10n, window } from 'vscode';
import { Attachments, shownFile } from './attachments';
import { type Client, whileItRuns } from './client';
import { isShown } from './documents';
import { messageOf } from './environment';
import { Hint } from './hint';
import type { PromptContext, Prompted, Ran, SourcedCommand } from './protocol';
import { unlinked } from './safe';
import { shortened, slashName, unknownCommand } from './slash';
import type { State } from './state';

/** What was typed; `asText`: it begins like a command, and is none. */
interface Typed {
  readonly text: string;
  readonly asText: boolean;
}

/** Asks for a prompt and sends it; `text` is what the box begins with. */
export class Prompt {
  constructor(
    private readonly client: Client,
    private readonly state: State,
  ) {}

  async ask(text = '', context: readonly PromptContext[] = []): Promise<void> {
    const attached = new Attachments([...context], this.state.status?.can?.includes('image') === true);
    const prompt = await this.read(text, attached);
    if (prompt) await this.send(prompt, attached);
  }

  /** A prompt about what is selected in the active editor, or about the picture in it. */
  async askAboutSelection(): Promise<void> {
    const shown = shownFile();
    if (shown) {
      await this.ask('', [shown]);
      return;
    }
    const editor = window.activeTextEditor;
    if (editor?.document.uri.scheme !== 'file') throw new Hint(l10n.t('Select something in a file first.'));
    const { selection, document } = editor;
    const { start, end } = selection.isEmpty ? document.lineAt(selection.active.line).range : selection;
    const range = {
      start: { line: start.line, character: start.character },
      end: { line: end.line, character: end.character },
    };
    await this.ask('', [{ uri: document.uri.toString(), range }]);
  }

  /** Picks a slash command; one that takes arguments is asked for them. */
  async pickCommand(): Promise<void> {
    const known = await this.commands();
    if (known.length === 0) {
      const message = this.state.activeSessionId === undefined
        ? l10n.t('The agent names its commands once there is a session.')
        : l10n.t('The agent has no commands.');
      void window.showInformationMessage(message);
      return;
    }
    const items = known.map((command) => ({
      label: `/${command.name}`,
      description: [command.hint ?? '', command.source].filter(Boolean).join(' · '),
      detail: command.description,
      command,
    }));
    const chosen = await window.showQuickPick(items, {
      title: l10n.t('Run Slash Command'),
      placeHolder: l10n.t('Choose a command'),
      matchOnDetail: true,
      matchOnDescription: true,
    });
    if (!chosen) return;
    const { name, hint } = chosen.command;
    if (hint === null || hint === '') await this.run(name, '');
    else await this.ask(`/${name} `);
  }

  /** A slash command by its name says what it printed; what else is typed is a prompt. */
  private async send({ text, asText }: Typed, attached: Attachments): Promise<void> {
    const name = asText ? undefined : slashName(text);
    const known = name === undefined ? [] : await this.commands();
    if (name !== undefined && attached.none && (known.length === 0 || known.some((one) => one.name === name))) {
      await this.run(name, text.trimStart().slice(name.length + 1).trim());
      return;
    }
    const { context, images } = attached;
    const argument = { text, context, images, wait: true, ...(asText ? { asText } : {}) };
    const prompted = await whileItRuns(this.client.execute<Prompted>('prompt', argument));
    if (!prompted) return;
    const { answer, said, stopReason, sessionId } = prompted;
    if (answer !== undefined) this.show(`/${slashName(text) ?? ''}`, answer);
    else if (said !== undefined && stopReason !== 'cancelled' && !isShown(sessionId)) this.show(this.agent, said);
  }

  private async run(name: string, args: string): Promise<void> {
    const ran = await whileItRuns(this.client.execute<Ran>('command.run', { name, arguments: args }));
    if (ran) this.show(`/${name}`, ran.printed);
  }

  private get agent(): string {
    return this.state.status?.title ?? this.state.status?.agent ?? '';
  }

  /** In a notification: there is no panel that it could stand in. */
  private show(who: string, words: string): void {
    const text = shortened(words);
    if (text === '') return;
    const showSession = l10n.t('Show Session');
    void window.showInformationMessage(unlinked(`${who}: ${text}`), showSession).then((answer) => {
      if (answer !== undefined) return commands.executeCommand('acpEditor.ui.showSession');
      return undefined;
    });
  }

  private async commands(): Promise<readonly SourcedCommand[]> {
    if (!this.client.ready || this.state.activeSessionId === undefined) return [];
    return this.client.execute<readonly SourcedCommand[]>('commands');
  }

  private async read(text: string, attached: Attachments): Promise<Typed | undefined> {
    const input = window.createInputBox();
    input.title = this.agent === '' ? l10n.t('Prompt Agent') : l10n.t('Prompt {0}', this.agent);
    input.placeholder = l10n.t('What should the agent do?');
    input.prompt = attached.describe();
    input.buttons = attached.buttons;
    input.value = text;
    input.valueSelection = [text.length, text.length];
    input.ignoreFocusOut = true;
    let warned: string | undefined;
    try {
      return await new Promise<Typed | undefined>((resolve) => {
        let known: readonly SourcedCommand[] = [];
        const hint = (): void => {
          const command = known.find(({ name }) => name === slashName(input.value));
          const message = `/${command?.name ?? ''} ${command?.hint ?? ''}`;
          input.validationMessage = command?.hint ? { message, severity: InputBoxValidationSeverity.Info } : undefined;
        };
        // The box does not wait for the commands, since hooks have a say in them.
        const asked = this.commands().then((found) => {
          known = found;
          hint();
          return found;
        }, () => known);
        input.onDidChangeValue(hint);
        const accept = async (): Promise<void> => {
          const value = input.value.trim();
          if (value === '') return;
          const unknown = unknownCommand(value, await asked);
          if (unknown === undefined || unknown === warned) {
            resolve({ text: value, asText: unknown !== undefined });
            return;
          }
          warned = unknown;
          const message = l10n.t('There is no command /{0}. Press Enter again to send it as text.', unknown);
          input.validationMessage = { message, severity: InputBoxValidationSeverity.Warning };
        };
        input.onDidAccept(() => void accept());
        let away = false;
        input.onDidTriggerButton((button) => {
          away = true; // a dialog takes the place of the box
          const failed = (error: unknown): void => void window.showErrorMessage(messageOf(error));
          void attached.add(button).catch(failed).finally(() => {
            away = false;
            input.prompt = attached.describe();
            input.show();
          });
        });
        input.onDidHide(() => {
          if (!away) resolve(undefined);
        });
        input.show();
      });
    } finally {
      input.dispose();
    }
  }
}

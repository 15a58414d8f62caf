import { InputBoxValidationSeverity, Uri, l10n, window, workspace } from 'vscode';
import type { Client } from './client';
import type { PromptContext, Prompted, SourcedCommand } from './protocol';
import { slashName, unknownCommand } from './slash';
import type { State } from './state';

/** Asks for a prompt and sends it; `text` is what the box begins with. */
export class Prompt {
  constructor(
    private readonly client: Client,
    private readonly state: State,
  ) {}

  async ask(text = '', context: readonly PromptContext[] = []): Promise<void> {
    const prompt = await this.read(text, context);
    if (prompt === undefined) return;
    await this.send(prompt, context);
  }

  /** A prompt about what is selected in the active editor. */
  async askAboutSelection(): Promise<void> {
    const editor = window.activeTextEditor;
    if (editor?.document.uri.scheme !== 'file') throw new Error(l10n.t('Select something in a file first.'));
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
    const commands = await this.commands();
    if (commands.length === 0) {
      const message = this.state.activeSessionId === undefined
        ? l10n.t('The agent names its commands once there is a session.')
        : l10n.t('The agent has no commands.');
      void window.showInformationMessage(message);
      return;
    }
    const items = commands.map((command) => ({
      label: `/${command.name}`,
      description: command.source,
      detail: command.description,
      command,
    }));
    const chosen = await window.showQuickPick(items, {
      title: l10n.t('Run Slash Command'),
      matchOnDetail: true,
      matchOnDescription: true,
    });
    if (!chosen) return;
    const { name, hint } = chosen.command;
    if (hint === null || hint === '') await this.send(`/${name}`);
    else await this.ask(`/${name} `);
  }

  private async send(text: string, context: readonly PromptContext[] = []): Promise<void> {
    const argument = { text, ...(context.length > 0 ? { context } : {}) };
    const { answer } = await this.client.execute<Prompted>('prompt', argument);
    if (answer !== undefined && answer !== '') void window.showInformationMessage(answer);
  }

  private async commands(): Promise<readonly SourcedCommand[]> {
    if (!this.client.ready || this.state.activeSessionId === undefined) return [];
    return this.client.execute<readonly SourcedCommand[]>('commands');
  }

  private async read(text: string, context: readonly PromptContext[]): Promise<string | undefined> {
    const commands = this.state.activeSession?.info?.commands ?? [];
    const input = window.createInputBox();
    const agent = this.state.status?.title ?? this.state.status?.agent ?? '';
    input.title = agent === '' ? l10n.t('Prompt Agent') : l10n.t('Prompt {0}', agent);
    input.placeholder = l10n.t('What should the agent do?');
    input.prompt = context.map(describeContext).join(', ');
    input.value = text;
    input.valueSelection = [text.length, text.length];
    input.ignoreFocusOut = true;
    let warned: string | undefined;
    try {
      return await new Promise<string | undefined>((resolve) => {
        input.onDidChangeValue((value) => {
          const name = slashName(value);
          const hint = commands.find((command) => command.name === name)?.hint;
          input.validationMessage =
            hint === undefined || hint === null || hint === ''
              ? undefined
              : { message: `/${name ?? ''} ${hint}`, severity: InputBoxValidationSeverity.Info };
        });
        input.onDidAccept(() => {
          const value = input.value.trim();
          if (value === '') return;
          const unknown = unknownCommand(value, commands);
          if (unknown !== undefined && unknown !== warned) {
            warned = unknown;
            const message = l10n.t('The agent has no command /{0}. Press Enter again to send it as text.', unknown);
            input.validationMessage = { message, severity: InputBoxValidationSeverity.Warning };
            return;
          }
          resolve(value);
        });
        input.onDidHide(() => resolve(undefined));
        input.show();
      });
    } finally {
      input.dispose();
    }
  }
}

function describeContext({ uri, range }: PromptContext): string {
  const name = workspace.asRelativePath(Uri.parse(uri), false);
  if (!range) return name;
  const first = range.start.line + 1;
  const last = range.end.line + 1;
  return first === last ? l10n.t('with {0}, line {1}', name, first) : l10n.t('with {0}, lines {1} to {2}', name, first, last);
}

import {
  type Disposable,
  EventEmitter,
  type Pseudoterminal,
  type QuickInputButton,
  type QuickPickItem,
  type Terminal as Window,
  type TerminalDimensions,
  ThemeIcon,
  l10n,
  window,
} from 'vscode';
import type { Client } from './client';
import { throttled } from './coalesce';
import type { State as Snapshot, Terminal, ToolCall } from './protocol';
import { forTerminal, visible, withoutIcons } from './safe';
import type { State } from './state';
import { difference, lineEnds } from './terminalText';

const LOOK_EVERY = 300;
/** Milliseconds between two looks at a terminal that is open and still runs. */
const INTERRUPT = '\x03';

interface Shown {
  readonly sessionId: string;
  readonly terminal: Terminal;
}

/** Terminals of the agent's, and those that it has in the editor: to look at, with colours, and to stop. */
export class Terminals implements Disposable {
  private readonly open = new Map<string, Window>();
  private readonly listener: Disposable;

  constructor(
    private readonly client: Client,
    private readonly state: State,
  ) {
    this.listener = window.onDidCloseTerminal((closed) => {
      for (const [key, terminal] of this.open) if (terminal === closed) this.open.delete(key);
    });
  }

  /** The one that a tool call runs in, else one that the person picks. */
  async pick(call?: ToolCall): Promise<void> {
    const snapshot = await this.client.execute<Snapshot>('state');
    const session = snapshot.sessions.find(({ sessionId }) => sessionId === snapshot.activeSessionId);
    const id = call && terminalOf(call);
    const terminals = (session?.terminals ?? []).filter(({ terminalId }) => id === undefined || terminalId === id);
    if (!session || terminals.length === 0) {
      void window.showInformationMessage(l10n.t('The agent has started no terminal in this session.'));
      return;
    }
    const { sessionId } = session;
    const [only, ...others] = [...terminals].reverse().map((terminal) => ({ sessionId, terminal }));
    const chosen = others.length === 0 ? only : await this.choose([...(only ? [only] : []), ...others]);
    if (chosen) this.show(chosen);
  }

  show({ sessionId, terminal }: Shown): void {
    const key = `${sessionId}\n${terminal.terminalId}`;
    const known = this.open.get(key);
    if (known) {
      known.show(true);
      return;
    }
    const argument = { sessionId, terminalId: terminal.terminalId };
    const view = new TerminalView(terminal, this.state, {
      read: () => this.client.execute<Terminal>('terminal.read', argument),
      cancel: () => this.client.execute('terminal.cancel', argument),
    });
    const name = l10n.t('Agent: {0}', visible(terminal.command ?? terminal.terminalId).slice(0, 40));
    const opened = window.createTerminal({ name, pty: view, iconPath: new ThemeIcon('hubot'), isTransient: true });
    this.open.set(key, opened);
    opened.show(true);
  }

  dispose(): void {
    this.listener.dispose();
    this.open.forEach((terminal) => terminal.dispose());
  }

  private async choose(found: readonly Shown[]): Promise<Shown | undefined> {
    const stop: QuickInputButton = { iconPath: new ThemeIcon('debug-stop'), tooltip: l10n.t('Stop') };
    const pick = window.createQuickPick<QuickPickItem & { readonly shown: Shown }>();
    pick.title = l10n.t('Show Agent Terminal');
    pick.items = found.map((shown) => ({
      label: withoutIcons(shown.terminal.command ?? shown.terminal.terminalId),
      description: statusOf(shown.terminal),
      buttons: shown.terminal.cancellable ? [stop] : [],
      shown,
    }));
    try {
      return await new Promise<Shown | undefined>((resolve, reject) => {
        pick.onDidAccept(() => resolve(pick.selectedItems[0]?.shown));
        pick.onDidTriggerItemButton(({ item: { shown } }) => {
          const argument = { sessionId: shown.sessionId, terminalId: shown.terminal.terminalId };
          this.client.execute('terminal.cancel', argument).then(() => resolve(undefined), reject);
        });
        pick.onDidHide(() => resolve(undefined));
        pick.show();
      });
    } finally {
      pick.dispose();
    }
  }
}

/** The terminal among a call's content, if there is one. */
export function terminalOf({ content }: Pick<ToolCall, 'content'>): string | undefined {
  for (const item of content) {
    if (typeof item !== 'object' || item === null || !('type' in item) || item.type !== 'terminal') continue;
    if ('terminalId' in item && typeof item.terminalId === 'string') return item.terminalId;
  }
  return undefined;
}

function statusOf({ exitStatus }: Terminal): string {
  if (!exitStatus) return l10n.t('running');
  return l10n.t('ended with {0}', String(exitStatus.exitCode ?? exitStatus.signal));
}

interface Source {
  read(): Promise<Terminal>;
  cancel(): Promise<unknown>;
}

class TerminalView implements Pseudoterminal {
  private readonly writeEmitter = new EventEmitter<string>();
  private readonly sizeEmitter = new EventEmitter<TerminalDimensions | undefined>();
  private readonly look: ReturnType<typeof throttled>;
  private listener: Disposable | undefined;
  private timer: ReturnType<typeof setInterval> | undefined;
  private shown = '';
  private size = '';
  private over = false;
  readonly onDidWrite = this.writeEmitter.event;
  readonly onDidOverrideDimensions = this.sizeEmitter.event;

  constructor(
    private terminal: Terminal,
    private readonly state: State,
    private readonly source: Source,
  ) {
    this.look = throttled(LOOK_EVERY, () => void this.update());
  }

  open(): void {
    const stop = this.terminal.cancellable ? ` (${l10n.t('Ctrl+C stops it')})` : '';
    this.writeEmitter.fire(`\x1b[?25l\x1b[2m$ ${visible(this.terminal.command ?? '')}${stop}\x1b[0m\r\n`);
    this.draw();
    if (this.terminal.exitStatus) return;
    this.listener = this.state.onDidChangeCall(() => this.look());
    this.timer = setInterval(() => this.look(), LOOK_EVERY);
  }

  close(): void {
    this.stop();
    this.writeEmitter.dispose();
    this.sizeEmitter.dispose();
  }

  /** What is typed goes nowhere, but for the key that everybody knows. */
  handleInput(data: string): void {
    if (data !== INTERRUPT || !this.terminal.cancellable) return;
    this.source.cancel().then(
      () => this.look(),
      (error: unknown) => void window.showErrorMessage(error instanceof Error ? error.message : String(error)),
    );
  }

  private async update(): Promise<void> {
    try {
      this.terminal = await this.source.read();
      this.draw();
    } catch {
      this.stop(); // the server is gone, or the session, and with it the terminal
    }
  }

  private draw(): void {
    if (this.over) return;
    const { exitStatus, size } = this.terminal;
    if (size && this.size !== `${size.cols}×${size.rows}`) {
      this.size = `${size.cols}×${size.rows}`;
      this.sizeEmitter.fire({ columns: size.cols, rows: size.rows });
    }
    const output = forTerminal(this.terminal.output);
    const { whole, text } = difference(this.shown, output);
    if (text !== '' || whole) this.writeEmitter.fire(`${whole ? '\x1b[2J\x1b[3J\x1b[H' : ''}${lineEnds(text)}`);
    this.shown = output;
    if (!exitStatus) return;
    this.over = true;
    const code = String(exitStatus.exitCode ?? exitStatus.signal ?? '');
    this.writeEmitter.fire(`\x1b[0m\r\n\x1b[2m${l10n.t('The command ended with {0}.', code)}\x1b[0m\r\n`);
    this.stop();
  }

  private stop(): void {
    this.look.cancel();
    clearInterval(this.timer);
    this.listener?.dispose();
    this.listener = undefined;
  }
}

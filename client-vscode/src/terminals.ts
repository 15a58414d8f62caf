import { type Disposable, EventEmitter, type Pseudoterminal, type Terminal as Window, l10n, window, ThemeIcon } from 'vscode';
import { throttled } from './coalesce';
import type { Client } from './client';
import type { RunInTerminalParams, State as Snapshot, Terminal } from './protocol';
import type { State } from './state';

const LOOK_EVERY = 500;
/** Milliseconds between two looks at a terminal that is open and still runs. */

/** The agent's terminals, to look at: what it runs, with its colours, and no input. */
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

  show(sessionId: string, terminal: Terminal): void {
    const key = `${sessionId}\n${terminal.terminalId}`;
    const known = this.open.get(key);
    if (known) {
      known.show(true);
      return;
    }
    const view = new TerminalView(terminal, this.state, async () => {
      const snapshot = await this.client.execute<Snapshot>('state');
      const session = snapshot.sessions.find((candidate) => candidate.sessionId === sessionId);
      return session?.terminals.find(({ terminalId }) => terminalId === terminal.terminalId);
    });
    const name = l10n.t('Agent: {0}', (terminal.command ?? terminal.terminalId).slice(0, 40));
    const opened = window.createTerminal({ name, pty: view, iconPath: new ThemeIcon('hubot'), isTransient: true });
    this.open.set(key, opened);
    opened.show(true);
  }

  dispose(): void {
    this.listener.dispose();
    this.open.forEach((terminal) => terminal.dispose());
  }
}

/** `acpEditor/runInTerminal`: a program of the person's own, such as a login, in a terminal that they type into. */
export function runInTerminal({ title, command, args, env, cwd }: RunInTerminalParams): null {
  const terminal = window.createTerminal({ name: title, shellPath: command, shellArgs: [...args], env, cwd });
  terminal.show();
  return null;
}

class TerminalView implements Pseudoterminal {
  private readonly writeEmitter = new EventEmitter<string>();
  private readonly look: ReturnType<typeof throttled>;
  private listener: Disposable | undefined;
  private timer: ReturnType<typeof setInterval> | undefined;
  private shown = '';
  readonly onDidWrite = this.writeEmitter.event;

  constructor(
    private terminal: Terminal,
    private readonly state: State,
    private readonly fetch: () => Promise<Terminal | undefined>,
  ) {
    this.look = throttled(LOOK_EVERY, () => void this.update());
  }

  open(): void {
    this.writeEmitter.fire(`\x1b[2m$ ${oneLine(this.terminal.command ?? '')}\x1b[0m\r\n`);
    this.draw();
    if (this.terminal.exitStatus) return;
    this.listener = this.state.onDidChangeCall(() => this.look());
    this.timer = setInterval(() => this.look(), LOOK_EVERY);
  }

  close(): void {
    this.stop();
    this.writeEmitter.dispose();
  }

  private async update(): Promise<void> {
    try {
      const found = await this.fetch();
      if (found) {
        this.terminal = found;
        this.draw();
      } else this.stop();
    } catch {
      this.stop(); // the server is gone, and with it the terminal
    }
  }

  /** Writes what is new; where the beginning was cut off meanwhile, everything again. */
  private draw(): void {
    const { output, exitStatus } = this.terminal;
    if (output.startsWith(this.shown)) this.writeEmitter.fire(lineEnds(output.slice(this.shown.length)));
    else this.writeEmitter.fire(`\x1b[2J\x1b[H${lineEnds(output)}`);
    this.shown = output;
    if (!exitStatus) return;
    const code = String(exitStatus.exitCode ?? exitStatus.signal ?? '');
    this.writeEmitter.fire(`\r\n\x1b[2m${l10n.t('The command ended with {0}.', code)}\x1b[0m\r\n`);
    this.stop();
  }

  private stop(): void {
    this.look.cancel();
    clearInterval(this.timer);
    this.listener?.dispose();
    this.listener = undefined;
  }
}

function lineEnds(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}

function oneLine(text: string): string {
  // eslint-disable-next-line no-control-regex -- an agent's command must not steer the terminal
  return text.replace(/[\x00-\x1f\x7f]/g, ' ');
}

import type { Readable } from 'node:stream';
import { type CancellationToken, type Disposable, EventEmitter, type LogOutputChannel, l10n, window, workspace, type ExtensionContext } from 'vscode';
import {
  CloseAction,
  ErrorAction,
  ErrorCodes,
  ExecuteCommandRequest,
  LanguageClient,
  type Middleware,
  ResponseError,
  RevealOutputChannelOn,
  type StaticFeature,
  State as ClientState,
} from 'vscode-languageclient/node';
import { coalesced } from './coalesce';
import type { Config } from './config';
import { messageOf, tail } from './environment';
import type {
  ChangesParams,
  DecorationsParams,
  ElicitParams,
  ElicitResult,
  PermissionsParams,
  RunInTerminalParams,
  SaveDocumentParams,
  SessionParams,
  State as Snapshot,
  StatusParams,
  ToolCallParams,
} from './protocol';
import { type ServerCommand, findServer } from './server';
import type { State } from './state';

const SURFACES = {
  decorations: true,
  permissions: true,
  toolCalls: true,
  changes: true,
  status: true,
  session: true,
  save: true,
  elicitation: true,
  terminal: true,
};
const STOP_TIMEOUT = 5000;
/** Milliseconds that the server has to end its agents before it is ended itself. */
const RESTARTS = 3;
/** How often a server that dies is started again within three minutes. */

/** What the surfaces add to the connection. */
export interface Hooks {
  readonly middleware: Middleware;
  save(params: SaveDocumentParams): Promise<unknown>;
  elicit(params: ElicitParams, token: CancellationToken): Promise<ElicitResult>;
  runInTerminal(params: RunInTerminalParams): null;
}

/** The answer to what takes as long as a turn; nothing where the server goes first, of which it is told elsewhere. */
export async function whileItRuns<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ResponseError && error.code === ErrorCodes.PendingResponseRejected) return undefined;
    throw error;
  }
}

/** The connection to the server: started, restarted and asked here and nowhere else. */
export class Client implements Disposable {
  private client: LanguageClient | undefined;
  private deaths: number[] = [];
  private stderr = '';
  private failure: string | undefined;
  private readonly emitter = new EventEmitter<void>();
  /** The server has become ready, or is not any longer. */
  readonly onDidChange = this.emitter.event;
  readonly restart = coalesced(() => this.restartNow());

  constructor(
    private readonly context: ExtensionContext,
    private readonly log: LogOutputChannel,
    private readonly config: Config,
    private readonly state: State,
    private readonly hooks: Hooks,
  ) {}

  get ready(): boolean {
    return this.client?.state === ClientState.Running;
  }

  /** Why the server does not run, where that is so. */
  get error(): string | undefined {
    return this.failure;
  }

  /** Sees to it that the server runs: waits for a start that is under way, or begins one. */
  async ensure(): Promise<void> {
    if (this.client?.state === ClientState.Starting) await this.client.start().catch(() => undefined);
    if (!this.ready) await this.restart.joined();
  }

  /** Runs a command of the server's; what it answers, or an error that a person can act on. */
  async execute<T>(command: string, argument?: object, token?: CancellationToken): Promise<T> {
    const client = this.client;
    if (client?.state !== ClientState.Running) {
      throw new Error(this.failure ?? l10n.t('The ACP server is not running.'));
    }
    const params = { command: `acpEditor.${command}`, arguments: argument ? [argument] : [] };
    return (await client.sendRequest(ExecuteCommandRequest.type, params, token)) as T;
  }

  notify(method: string, params: object): void {
    if (this.client?.state === ClientState.Running) void this.client.sendNotification(method, params);
  }

  /** The settings have changed. */
  configure(): void {
    this.notify('workspace/didChangeConfiguration', { settings: { acpEditor: this.config.settings() } });
  }

  /** Asks for everything at once: also of a server that has just come back after its death. */
  async refresh(): Promise<void> {
    this.state.setSnapshot(await this.execute<Snapshot>('state'));
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client) {
      if (client.state === ClientState.Running) await client.dispose(STOP_TIMEOUT).catch((error: unknown) => this.log.error(messageOf(error)));
      this.state.clear();
      this.emitter.fire();
    }
  }

  dispose(): void {
    this.emitter.dispose();
  }

  private async restartNow(): Promise<void> {
    await this.stop();
    if (!workspace.isTrusted) return;
    this.failure = undefined;
    this.stderr = '';
    try {
      const server = await findServer(this.context, this.log);
      this.log.info(`Starting ${[server.command, ...server.args].join(' ')} (${server.origin})`);
      const client = this.make(server);
      this.client = client;
      await client.start();
    } catch (error) {
      this.failed(l10n.t('The ACP server could not be started: {0}', this.reason(error)));
    }
    this.emitter.fire();
  }

  private make(server: ServerCommand): LanguageClient {
    const executable = { command: server.command, args: [...server.args], options: { cwd: server.cwd } };
    const client = new QuietClient('acpEditor', 'ACP Editor', executable, {
      documentSelector: [{ scheme: 'file' }],
      outputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: () => ({ acpEditor: this.config.settings() }),
      initializationFailedHandler: () => false,
      middleware: this.hooks.middleware,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => this.closed(),
      },
      stdioOptions: {
        stdout: (stream) => this.forward(stream),
        stderr: (stream) => this.forward(stream),
      },
    });
    client.registerFeature(declareSurfaces());
    client.onDidChangeState(({ newState }) => {
      if (client !== this.client) return;
      if (newState === ClientState.Running) void this.refresh().catch((error: unknown) => this.log.error(messageOf(error)));
      else this.state.clear();
      this.emitter.fire();
    });
    this.listen(client);
    return client;
  }

  private listen(client: LanguageClient): void {
    client.onNotification('acpEditor/status', (params: StatusParams) => this.state.setStatus(params));
    client.onNotification('acpEditor/toolCall', (params: ToolCallParams) => this.state.setCall(params));
    client.onNotification('acpEditor/decorations', (params: DecorationsParams) => this.state.setMarks(params));
    client.onNotification('acpEditor/permissions', (params: PermissionsParams) => this.state.setPermissions(params));
    client.onNotification('acpEditor/changes', (params: ChangesParams) => this.state.setChanges(params));
    client.onNotification('acpEditor/session', (params: SessionParams) => this.state.setSession(params));
    client.onRequest('acpEditor/saveDocument', (params: SaveDocumentParams) => this.hooks.save(params));
    client.onRequest('acpEditor/elicit', (params: ElicitParams, token: CancellationToken) => this.hooks.elicit(params, token));
    client.onRequest('acpEditor/runInTerminal', (params: RunInTerminalParams) => this.hooks.runInTerminal(params));
  }

  private forward(stream: Readable): void {
    stream.setEncoding('utf8');
    let begun = '';
    stream.on('data', (text: string) => {
      this.stderr = (this.stderr + text).slice(-4000);
      const lines = (begun + text).split(/\r?\n/);
      begun = lines.pop() ?? '';
      if (lines.length > 0) this.log.info(lines.join('\n')); // each call is an entry of the log
    });
    stream.on('end', () => {
      if (begun !== '') this.log.info(begun);
    });
  }

  private closed(): { action: CloseAction; handled: true } {
    const now = Date.now();
    this.deaths = [...this.deaths.filter((time) => now - time < 180_000), now];
    this.log.error('The server has ended.');
    if (this.deaths.length <= RESTARTS) {
      void window.showWarningMessage(l10n.t('The ACP server has ended and is started again.'));
      return { action: CloseAction.Restart, handled: true };
    }
    this.failed(l10n.t('The ACP server ended {0} times in three minutes: {1}', this.deaths.length, this.reason(undefined)));
    return { action: CloseAction.DoNotRestart, handled: true };
  }

  private reason(error: unknown): string {
    const last = tail(this.stderr, 300);
    const said = error === undefined ? '' : messageOf(error);
    return [said, last].filter(Boolean).join(' — ') || l10n.t('it said nothing');
  }

  private failed(message: string): void {
    this.failure = message;
    this.log.error(message);
    const showLog = l10n.t('Show Log');
    const restart = l10n.t('Restart Server');
    void window.showErrorMessage(message, showLog, restart).then((answer) => {
      if (answer === showLog) this.log.show();
      if (answer === restart) void this.restart();
    });
  }
}

/** Its own failures are in the log: what a person has to know, we tell, once. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

function declareSurfaces(): StaticFeature {
  return {
    fillClientCapabilities: (capabilities) => {
      capabilities.experimental = { ...(capabilities.experimental as object | undefined), acpEditor: SURFACES };
    },
    initialize: () => undefined,
    getState: () => ({ kind: 'static' }),
    clear: () => undefined,
  };
}

import { type Disposable, type QuickPickItem, Uri, commands, l10n, window, workspace, type LogOutputChannel } from 'vscode';
import { openAt, type Changes } from './changes';
import type { Client } from './client';
import type { Config } from './config';
import { showSession } from './documents';
import { messageOf } from './environment';
import { Hint } from './hint';
import type { Hooks } from './hooks';
import type { Options } from './options';
import type { Call, Permissions } from './permissions';
import type { Login } from './login';
import type { Pickers } from './picker';
import { unlinked } from './safe';
import type { Prompt } from './prompt';
import type { FollowState, ToolCall } from './protocol';
import type { Questions } from './questions';
import type { Rules } from './rules';
import type { Sessions } from './sessions';
import type { State } from './state';
import type { Terminals } from './terminals';
import type { AgentConsent } from './trust';

/** What the commands work with. */
export interface Parts {
  readonly client: Client;
  readonly state: State;
  readonly consent: AgentConsent;
  readonly config: Config;
  readonly log: LogOutputChannel;
  readonly prompt: Prompt;
  readonly pickers: Pickers;
  readonly sessions: Sessions;
  readonly questions: Questions;
  readonly login: Login;
  readonly options: Options;
  readonly permissions: Permissions;
  readonly rules: Rules;
  readonly hooks: Hooks;
  readonly changes: Changes;
  readonly terminals: Terminals;
  /** The person has moved by a command of ours. */
  readonly moved: () => void;
}

type Handler = (...args: unknown[]) => unknown;

/** Registers every command under `acpEditor.ui.`; the server's own have the ids without `ui`. */
export function registerCommands(parts: Parts): Disposable[] {
  return Object.entries(handlers(parts)).map(([name, handler]) =>
    commands.registerCommand(`acpEditor.ui.${name}`, async (...args: unknown[]) => {
      try {
        await handler(...args);
      } catch (error) {
        if (error instanceof Hint) {
          void window.showInformationMessage(error.message);
          return;
        }
        parts.log.error(`${name}: ${messageOf(error)}`);
        void tell(parts, error);
      }
    }),
  );
}

function handlers(parts: Parts): Record<string, Handler> {
  const { client, state, consent, log, prompt, pickers, options, permissions, rules, hooks, changes, terminals, moved } = parts;
  const running = <T>(run: () => Promise<T>): (() => Promise<T | undefined>) => {
    return async () => ((await mayStart(client)) ? run() : undefined);
  };
  const byHand = (run: Handler): Handler => {
    return async (...args) => {
      await run(...args);
      moved();
    };
  };
  return {
    prompt: running(() => prompt.ask()),
    promptWithSelection: running(() => prompt.askAboutSelection()),
    slashCommand: running(() => prompt.pickCommand()),
    cancel: () => client.execute('cancel'),
    newSession: running(() => client.execute('session.new')),
    chooseAgent: () => pickers.chooseAgent(),
    sessions: running(() => parts.sessions.pick()),
    login: async (agent) => ((await mayStart(client)) ? parts.login.login(typeof agent === 'string' ? agent : undefined) : undefined),
    logout: running(() => parts.login.logout()),
    answerQuestion: () => parts.questions.answer(),
    setOption: () => options.pick(),
    setMode: () => options.pickByCategory('mode'),
    setModel: () => options.pickByCategory('model'),
    nextMode: () => options.nextMode(),

    approve: (argument) => permissions.approve(callOf(argument)),
    reject: (argument) => permissions.reject(callOf(argument)),
    answer: (argument) => permissions.pickAnswer(callOf(argument)),
    answerOption: (requestId, optionId) => permissions.answer(String(requestId), String(optionId)),
    showProposedEdit: byHand((argument) => permissions.showEdit(callOf(argument))),
    alwaysAllow: (argument) => permissions.makeRule('allow', callOf(argument)),
    never: (argument) => permissions.makeRule('deny', callOf(argument)),
    rules: running(() => rules.list()),
    decisions: running(() => rules.showDecisions()),
    hooks: running(() => hooks.list()),

    toggleFollow: async () => {
      const { enabled } = await client.execute<FollowState>('follow.toggle');
      window.setStatusBarMessage(enabled ? l10n.t('Following the agent') : l10n.t('Not following the agent'), 3000);
    },
    goBack: () => client.execute('follow.back'),
    showSession: byHand(() => {
      const id = state.activeSessionId;
      if (id === undefined) throw new Hint(l10n.t('There is no session yet.'));
      return showSession(id);
    }),
    showTerminal: (row) => terminals.pick(toolCallOf(row)),
    cancelCall: async (row) => {
      const call = toolCallOf(row);
      if (call) await client.execute('toolCall.cancel', { toolCallId: call.toolCallId });
    },
    openLocation: byHand((uri, line) => openAt(Uri.parse(String(uri)), typeof line === 'number' ? line : undefined)),

    keepHunk: byHand((row) => changes.decideHunk('keep', row)),
    undoHunk: byHand((row) => changes.decideHunk('undo', row)),
    keepFile: byHand((row) => changes.decideFile('keep', row)),
    undoFile: byHand((row) => changes.decideFile('undo', row)),
    keepAll: byHand(() => changes.decideAll('keep')),
    undoAll: byHand(() => changes.decideAll('undo')),
    restoreUndo: byHand(() => changes.restore()),
    forget: async () => {
      if (!(await changes.forget())) return;
      await consent.forget();
      await client.restart(); // and reviews anew
    },
    nextChange: byHand(() => changes.go(1)),
    previousChange: byHand(() => changes.go(-1)),
    showChanges: byHand(() => changes.showAll()),
    diffFile: byHand((row) => changes.diffFile(row)),
    openChange: byHand((row) => changes.open(row)),

    restartAgent: () => client.execute('agent.restart'),
    stopAgent: () => client.execute('agent.stop', { agent: state.status?.agent }),
    restartServer: async () => ((await mayStart(client, false)) ? client.restart() : undefined),
    showLog: () => log.show(),
    saveTraffic: async () => {
      // Secrets are left out of it by the server, so that it can be sent to whoever makes the agent.
      const { path } = await client.execute<{ path: string }>('log.traffic');
      await window.showTextDocument(Uri.file(path), { preview: true });
    },
    menu: () => showMenu(parts),
  };
}

/** Whether the server may be asked: it is started where it is not, and never in an untrusted workspace. */
async function mayStart(client: Client, start = true): Promise<boolean> {
  if (!workspace.isTrusted) {
    const manage = l10n.t('Manage Workspace Trust');
    const message = l10n.t('No agent is started until you trust this workspace.');
    if ((await window.showInformationMessage(message, manage)) === manage) {
      await commands.executeCommand('workbench.trust.manage');
    }
    return false;
  }
  if (start) await client.ensure();
  return client.ready || !start;
}

/** Tells the person what went wrong; where an agent needs a login, with the way there. */
async function tell({ log }: Parts, error: unknown): Promise<void> {
  const showLog = l10n.t('Show Log');
  const logIn = l10n.t('Log In…');
  const agent = agentToLogInTo(error);
  const buttons = agent === undefined ? [showLog] : [logIn, showLog];
  const answer = await window.showErrorMessage(unlinked(`ACP: ${messageOf(error)}`), ...buttons);
  if (answer === showLog) log.show();
  if (answer === logIn && agent !== undefined) await commands.executeCommand('acpEditor.ui.login', agent);
}

/** What the server says beside its words when a session was refused for want of a login. */
function agentToLogInTo(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('data' in error)) return undefined;
  const { data } = error;
  if (typeof data !== 'object' || data === null || !('login' in data)) return undefined;
  return typeof data.login === 'string' ? data.login : undefined;
}

/** The call of a row of the session view. */
function toolCallOf(row: unknown): ToolCall | undefined {
  return typeof row === 'object' && row !== null && 'call' in row ? (row.call as ToolCall) : undefined;
}

/** A row of the session view, or the argument of a lens, a key or a caller. */
function callOf(argument: unknown): Call {
  if (typeof argument !== 'object' || argument === null) return {};
  if ('permission' in argument) return callOf(argument.permission);
  const call: { requestId?: string; source?: 'key' } = {};
  if ('requestId' in argument && typeof argument.requestId === 'string') call.requestId = argument.requestId;
  if ('source' in argument && argument.source === 'key') call.source = 'key';
  return call;
}

/** What makes sense now, from the status bar. */
async function showMenu({ client, state, questions }: Parts): Promise<void> {
  const { status } = state;
  const items: (QuickPickItem & { command: string })[] = [];
  const add = (label: string, command: string, offered = true): void => {
    if (offered) items.push({ label, command: `acpEditor.ui.${command}` });
  };
  const waiting = state.permissions.length > 0;
  add(`$(check) ${l10n.t('Approve')}`, 'approve', waiting);
  add(`$(close) ${l10n.t('Reject')}`, 'reject', waiting);
  add(`$(question) ${l10n.t('Answer Permission…')}`, 'answer', waiting);
  add(`$(diff) ${l10n.t('Show Proposed Edit')}`, 'showProposedEdit', state.permissions.some(({ diffs }) => diffs.length > 0));
  add(`$(question) ${l10n.t('Answer Question…')}`, 'answerQuestion', questions.open);
  add(`$(comment) ${l10n.t('Prompt Agent')}`, 'prompt');
  add(`$(debug-stop) ${l10n.t('Cancel')}`, 'cancel', state.running);
  add(`$(symbol-event) ${l10n.t('Run Slash Command…')}`, 'slashCommand', client.ready);
  const following = status?.follow.enabled === true;
  add(following ? `$(eye-closed) ${l10n.t('Stop Following')}` : `$(eye) ${l10n.t('Follow Agent')}`, 'toggleFollow', client.ready);
  add(`$(discard) ${l10n.t('Go Back')}`, 'goBack', client.ready);
  add(`$(diff-multiple) ${l10n.t('Show Changes')}`, 'showChanges', state.changes.length > 0);
  add(`$(output) ${l10n.t('Show Session')}`, 'showSession', state.activeSessionId !== undefined);
  add(`$(terminal) ${l10n.t('Show Agent Terminal…')}`, 'showTerminal', state.activeSessionId !== undefined);
  add(`$(settings) ${l10n.t('Set Option…')}`, 'setOption', (state.activeSession?.info?.config.length ?? 0) > 0);
  add(`$(add) ${l10n.t('New Session')}`, 'newSession', client.ready);
  add(`$(history) ${l10n.t('Sessions…')}`, 'sessions', client.ready);
  add(`$(hubot) ${l10n.t('Choose Agent')}`, 'chooseAgent');
  add(`$(key) ${l10n.t('Log In…')}`, 'login', client.ready);
  add(`$(refresh) ${l10n.t('Restart Agent')}`, 'restartAgent', client.ready);
  add(`$(debug-disconnect) ${l10n.t('Stop Agent')}`, 'stopAgent', status?.state === 'ready');
  add(`$(refresh) ${l10n.t('Restart Server')}`, 'restartServer', !client.ready);
  add(`$(list-flat) ${l10n.t('Show Log')}`, 'showLog');
  const chosen = await window.showQuickPick(items, { title: 'ACP', placeHolder: status?.error ?? client.error ?? '' });
  if (chosen) await commands.executeCommand(chosen.command);
}

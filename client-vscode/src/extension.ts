import { CancellationTokenSource, type ExtensionContext, window, workspace } from 'vscode';
import { Activity } from './activity';
import { Announcer } from './announce';
import { Changes } from './changes';
import { Client } from './client';
import { registerCommands } from './commands';
import { Config } from './config';
import { maintainContextKeys } from './contextKeys';
import { Decorations } from './decorations';
import { followSessions, saveDocument } from './documents';
import { Follower } from './follow';
import { HunkLenses } from './lenses';
import { Login } from './login';
import { Hooks } from './hooks';
import { Options } from './options';
import { Permissions } from './permissions';
import { Pickers } from './picker';
import { Prompt } from './prompt';
import { Questions } from './questions';
import { Rules } from './rules';
import { Sessions } from './sessions';
import { State } from './state';
import { Status } from './status';
import { Terminals } from './terminals';
import { SessionTree } from './tree';
import { AgentConsent } from './trust';

/** What other extensions and tests may use. */
export interface Api {
  readonly state: State;
  readonly client: Client;
}

let stop: (() => Promise<void>) | undefined;
// The one thing that outlives `activate`: VS Code calls `deactivate` without an argument.

export function activate(context: ExtensionContext): Api {
  const log = window.createOutputChannel('ACP Editor', { log: true });
  const state = new State();
  const consent = new AgentConsent(context.globalState);
  const config = new Config(consent);
  const activity = new Activity((uri) => client.notify('acpEditor/userActivity', uri === undefined ? {} : { uri }));
  const follower = new Follower(config, activity, state, (message) => log.debug(message));
  const client: Client = new Client(context, log, config, state, {
    elicit: (params, token) => questions.ask(params, token),
    runInTerminal: (params) => login.runInTerminal(params),
    save: (params) => activity.edit(() => saveDocument(params)),
    middleware: {
      provideCodeLenses: () => [], // ours are made here
      window: {
        showDocument: (params, token, next) => (params.external === true ? next(params, token) : follower.show(params)),
      },
      workspace: {
        handleApplyEdit: (params, next) => activity.edit(() => next(params, new CancellationTokenSource().token)),
        configuration: async (params, token, next) => {
          const values = await next(params, token);
          if (!Array.isArray(values)) return values;
          return values.map((value: unknown, at) =>
            params.items[at]?.section === 'acpEditor' ? config.settings() : value,
          );
        },
        didChangeConfiguration: () => Promise.resolve(), // the listener below tells what the server may see
      },
    },
  });
  const announcer = new Announcer(state);
  const rules = new Rules(client, state);
  const permissions = new Permissions(client, state, config, rules, announcer, follower);
  const changes = new Changes(client, state, announcer);
  const terminals = new Terminals(client, state);
  const questions = new Questions();
  const login = new Login(client, state, config);

  context.subscriptions.push(
    log,
    state,
    consent,
    config,
    activity,
    follower,
    client,
    announcer,
    rules,
    permissions,
    changes,
    terminals,
    questions,
    login,
    new Decorations(state, config),
    new HunkLenses(state),
    new SessionTree(state),
    new Status(state, client),
    maintainContextKeys(state, client, questions),
    followSessions(),
    config.onDidChange(() => {
      client.configure();
      consent.ask();
    }),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('acpEditor.server')) void client.restart();
    }),
    workspace.onDidGrantWorkspaceTrust(() => {
      consent.ask();
      void client.restart();
    }),
    ...registerCommands({
      client,
      state,
      consent,
      config,
      log,
      prompt: new Prompt(client, state),
      pickers: new Pickers(client, config),
      sessions: new Sessions(client, state),
      questions,
      login,
      options: new Options(client, state),
      permissions,
      rules,
      hooks: new Hooks(client),
      changes,
      terminals,
      moved: () => activity.seen(window.activeTextEditor?.document.uri),
    }),
  );
  stop = () => client.stop();
  consent.ask();
  void client.restart();
  return { state, client };
}

export function deactivate(): Promise<void> | undefined {
  return stop?.();
}

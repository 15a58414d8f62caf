import { Disposable, commands, window, workspace } from 'vscode';
import type { Client } from './client';
import type { Questions } from './questions';
import type { State } from './state';

/** Keeps the keys that `when` clauses read, so that only commands that make sense are offered. */
export function maintainContextKeys(state: State, client: Client, questions: Questions): Disposable {
  const known = new Map<string, unknown>();
  const set = (key: string, value: boolean | number): void => {
    if (known.get(key) === value) return;
    known.set(key, value);
    void commands.executeCommand('setContext', `acpEditor.${key}`, value);
  };
  const update = (): void => {
    const config = state.activeSession?.info?.config ?? [];
    const has = (category: string): boolean =>
      config.some((option) => option.category === category && option.options.length > 1);
    set('restricted', !workspace.isTrusted);
    set('serverReady', client.ready);
    set('failed', client.error !== undefined);
    set('running', state.running);
    set('hasSession', state.activeSessionId !== undefined);
    set('permissions', state.permissions.length);
    set('question', questions.open);
    set('proposedEdit', state.permissions.some((permission) => permission.diffs.length > 0));
    set('hasChanges', state.changes.length > 0);
    set('fileHasChanges', state.changeOf(window.activeTextEditor?.document.uri) !== undefined);
    set('following', state.status?.follow.enabled === true);
    set('agentRuns', state.status?.state === 'ready');
    set('canLogout', state.status?.can?.includes('logout') === true);
    set('hasOptions', config.length > 0);
    set('hasModes', has('mode'));
    set('hasModels', has('model'));
  };
  update();
  return Disposable.from(
    state.onDidChangeStatus(update),
    state.onDidChangePermissions(update),
    state.onDidChangeChanges(update),
    state.onDidChangeSession(update),
    client.onDidChange(update),
    questions.onDidChange(update),
    window.onDidChangeActiveTextEditor(update),
    workspace.onDidGrantWorkspaceTrust(update),
  );
}

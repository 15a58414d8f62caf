import { ConfigurationTarget, l10n, workspace } from 'vscode';
import { replaced } from './merge';
import type { Rule } from './protocol';

/** Whether a rule stands in the editor's settings, the person's or the workspace's. */
export function isInSettings({ scope, source }: Pick<Rule, 'scope' | 'source'>): boolean {
  return scope === null && (source === 'user' || source === 'workspace');
}

/** Puts another rule in a rule's place in the settings; without one, takes it out. */
export async function changeSetting({ rule, effect, source }: Rule, to: string | undefined): Promise<void> {
  const section = workspace.getConfiguration('acpEditor');
  const key = `permissions.${effect}`;
  const found = section.inspect<unknown[]>(key);
  const [value, target] =
    source === 'workspace'
      ? [found?.workspaceValue, ConfigurationTarget.Workspace]
      : [found?.globalValue, ConfigurationTarget.Global];
  const rules = replaced(value ?? [], rule, to);
  if (!rules) throw new Error(l10n.t('{0} is not in the settings any more.', rule));
  await section.update(key, rules.length > 0 ? rules : undefined, target);
}

import { ConfigurationTarget, type Disposable, EventEmitter, type Memento, workspace } from 'vscode';

export type Verdict = 'allow' | 'deny';
export type Scope = 'session' | 'workspace' | 'everywhere';

/** A rule that the person made from a prompt. */
export interface SavedRule {
  readonly verdict: Verdict;
  readonly rule: string;
  readonly scope: Scope;
}

const KEY = 'rules';

/**
 * Rules made from prompts. Those for everywhere stand in the person's settings; those for this
 * workspace are kept by VS Code and not in the workspace's files, so that a workspace cannot bring
 * its own; those for now are forgotten when the window closes.
 */
export class SavedRules implements Disposable {
  private readonly emitter = new EventEmitter<void>();
  private session: readonly SavedRule[] = [];
  readonly onDidChange = this.emitter.event;

  constructor(private readonly memento: Memento) {}

  /** Those that the settings do not hold. */
  all(): readonly SavedRule[] {
    return [...this.session, ...this.memento.get<readonly SavedRule[]>(KEY, [])];
  }

  /** All, those in the person's settings too. */
  listed(): readonly SavedRule[] {
    const mine = (verdict: Verdict): SavedRule[] =>
      settingsRules(verdict).map((rule) => ({ verdict, rule, scope: 'everywhere' }));
    return [...this.all(), ...mine('allow'), ...mine('deny')];
  }

  async add(added: SavedRule): Promise<void> {
    if (this.listed().some((rule) => same(rule, added))) return;
    switch (added.scope) {
      case 'session':
        this.session = [...this.session, added];
        break;
      case 'workspace':
        await this.memento.update(KEY, [...this.memento.get<readonly SavedRule[]>(KEY, []), added]);
        break;
      case 'everywhere':
        await setSettingsRules(added.verdict, [...settingsRules(added.verdict), added.rule]);
        break;
    }
    this.emitter.fire();
  }

  async remove(removed: SavedRule): Promise<void> {
    const others = (rules: readonly SavedRule[]): SavedRule[] => rules.filter((rule) => !same(rule, removed));
    switch (removed.scope) {
      case 'session':
        this.session = others(this.session);
        break;
      case 'workspace':
        await this.memento.update(KEY, others(this.memento.get<readonly SavedRule[]>(KEY, [])));
        break;
      case 'everywhere':
        await setSettingsRules(
          removed.verdict,
          settingsRules(removed.verdict).filter((rule) => rule !== removed.rule),
        );
        break;
    }
    this.emitter.fire();
  }

  dispose(): void {
    this.emitter.dispose();
  }
}

function same(a: SavedRule, b: SavedRule): boolean {
  return a.verdict === b.verdict && a.rule === b.rule && a.scope === b.scope;
}

function settingsRules(verdict: Verdict): readonly string[] {
  return workspace.getConfiguration('acpEditor.permissions').inspect<string[]>(verdict)?.globalValue ?? [];
}

async function setSettingsRules(verdict: Verdict, rules: readonly string[]): Promise<void> {
  const value = rules.length > 0 ? rules : undefined;
  await workspace.getConfiguration('acpEditor.permissions').update(verdict, value, ConfigurationTarget.Global);
}

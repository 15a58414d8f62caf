import {
  type Disposable,
  EventEmitter,
  type QuickInputButton,
  type QuickPickItem,
  QuickPickItemKind,
  ThemeIcon,
  Uri,
  commands,
  l10n,
  window,
  workspace,
} from 'vscode';
import type { Client } from './client';
import { decisionLines, type LoggedDecision } from './decisions';
import { Hint } from './hint';
import { describe } from './permissions';
import type { Permission, Rule, RuleOffer } from './protocol';
import { changeSetting, isInSettings } from './ruleSettings';
import type { State } from './state';

export type Effect = 'allow' | 'deny';
type RuleItem = QuickPickItem & { readonly rule?: Rule };
type Action = { readonly what: 'open' | 'edit' | 'revoke'; readonly rule: Rule };

const DECISIONS = Uri.parse('acp-decisions:/Permission%20Decisions');

/** Rules made from a prompt, listed, edited and taken back; the server keeps those that were saved. */
export class Rules implements Disposable {
  private readonly decisions = { text: '', changed: new EventEmitter<Uri>() };
  private readonly provider: Disposable;
  private readonly edit: QuickInputButton = { iconPath: new ThemeIcon('edit'), tooltip: l10n.t('Edit') };
  private readonly revoke: QuickInputButton = { iconPath: new ThemeIcon('trash'), tooltip: l10n.t('Revoke') };

  constructor(
    private readonly client: Client,
    private readonly state: State,
  ) {
    this.provider = workspace.registerTextDocumentContentProvider(DECISIONS.scheme, {
      onDidChange: this.decisions.changed.event,
      provideTextDocumentContent: () => this.decisions.text,
    });
  }

  dispose(): void {
    this.provider.dispose();
    this.decisions.changed.dispose();
  }

  /** Makes a rule for calls like this one, shown before it is saved; the server answers the request by it. */
  async make(permission: Permission, effect: Effect): Promise<void> {
    const title = effect === 'allow' ? l10n.t('Always Allow…') : l10n.t('Never Allow…');
    const offers = (permission.offers ?? []).filter((offer) => offer.effect === effect);
    if (offers.length === 0) throw new Hint(l10n.t('No rule fits this request.'));
    const rule = await this.pickWidth(title, describe(permission), offers);
    if (rule === undefined) return;
    const saved = effect === 'allow' ? l10n.t('Allow {0}', rule) : l10n.t('Never {0}', rule);
    const where = await window.showQuickPick(
      [
        { label: l10n.t('In this session'), detail: l10n.t('{0}, until the session ends', saved), scope: 'session' },
        { label: l10n.t('In this workspace'), detail: l10n.t('{0}, in this folder', saved), scope: 'workspace' },
        { label: l10n.t('Everywhere'), detail: l10n.t('{0}, in every folder', saved), scope: 'everywhere' },
      ],
      { title, placeHolder: l10n.t('Where does it hold?') },
    );
    if (!where) return;
    const { sessionId } = permission;
    await this.client.execute<Rule>('permission.remember', { rule, effect, scope: where.scope, sessionId });
    window.setStatusBarMessage(`$(shield) ${saved}`, 5000);
  }

  /** Every rule that holds, with where it stands; all but those of others can be edited and revoked. */
  async list(): Promise<void> {
    const rules = await this.client.execute<readonly Rule[]>('permission.rules');
    if (rules.length === 0) {
      const message = l10n.t('There are no permission rules yet. When an agent asks, “Always Allow…” and “Never Allow…” make them.');
      const settings = l10n.t('Open Settings');
      if ((await window.showInformationMessage(message, settings)) === settings) {
        await commands.executeCommand('workbench.action.openSettings', 'acpEditor.permissions');
      }
      return;
    }
    const pick = window.createQuickPick<RuleItem>();
    pick.title = l10n.t('Permission Rules');
    pick.placeholder = l10n.t('Choose a rule to see where it stands');
    pick.matchOnDescription = true;
    pick.matchOnDetail = true;
    pick.items = this.items(rules);
    try {
      const action = await new Promise<Action | undefined>((resolve) => {
        pick.onDidAccept(() => {
          const rule = pick.selectedItems[0]?.rule;
          resolve(rule && { what: 'open', rule });
        });
        pick.onDidTriggerItemButton(({ item, button }) => {
          resolve(item.rule && { what: button === this.edit ? 'edit' : 'revoke', rule: item.rule });
        });
        pick.onDidHide(() => resolve(undefined));
        pick.show();
      });
      if (action) await this.act(action);
    } finally {
      pick.dispose();
    }
  }

  /** What was decided lately, and by which rule. */
  async showDecisions(): Promise<void> {
    const rows = await this.client.execute<readonly LoggedDecision[]>('permission.log');
    this.decisions.text = decisionLines(rows);
    this.decisions.changed.fire(DECISIONS);
    const document = await workspace.openTextDocument(DECISIONS);
    await window.showTextDocument(document, { preview: true });
  }

  private async pickWidth(title: string, placeholder: string, offers: readonly RuleOffer[]): Promise<string | undefined> {
    const pick = window.createQuickPick<QuickPickItem>();
    pick.title = title;
    pick.placeholder = placeholder;
    pick.items = offers.map(({ label, rule }) => ({ label, description: rule, buttons: [this.edit] }));
    try {
      const chosen = await new Promise<{ readonly rule: string; readonly edit: boolean } | undefined>((resolve) => {
        const take = (item: QuickPickItem | undefined, edit: boolean): void =>
          resolve(item?.description === undefined ? undefined : { rule: item.description, edit });
        pick.onDidAccept(() => take(pick.selectedItems[0], false));
        pick.onDidTriggerItemButton(({ item }) => take(item, true));
        pick.onDidHide(() => resolve(undefined));
        pick.show();
      });
      return chosen?.edit === true ? await askRule(title, chosen.rule) : chosen?.rule;
    } finally {
      pick.dispose();
    }
  }

  private items(rules: readonly Rule[]): RuleItem[] {
    const groups = new Map<string, RuleItem[]>();
    for (const rule of rules) {
      const place = this.placeOf(rule);
      const items = groups.get(place) ?? [];
      groups.set(place, items);
      const changeable = rule.scope !== null || isInSettings(rule);
      items.push({
        label: rule.rule,
        description: effectName(rule.effect),
        iconPath: new ThemeIcon(rule.problem === undefined ? iconOf(rule.effect) : 'warning'),
        ...(rule.problem === undefined ? {} : { detail: rule.problem }),
        buttons: changeable ? [this.edit, this.revoke] : [],
        rule,
      });
    }
    return [...groups].flatMap(([label, items]) => [{ label, kind: QuickPickItemKind.Separator }, ...items]);
  }

  private placeOf({ source, scope, where }: Rule): string {
    switch (scope ?? source) {
      case 'session':
        return this.state.activeSessionId === where ? l10n.t('this session') : l10n.t('session {0}', where);
      case 'workspace':
        return scope === null ? l10n.t("the workspace's settings") : l10n.t('this workspace');
      case 'everywhere':
        return l10n.t('everywhere');
      case 'user':
        return l10n.t('your settings');
      case 'managed':
        return l10n.t('managed on this machine: {0}', where);
      case 'builtin':
        return l10n.t('built in: {0}', where);
      default:
        return where;
    }
  }

  private async act({ what, rule }: Action): Promise<void> {
    if (what === 'open') {
      await this.open(rule);
      return;
    }
    const to = what === 'edit' ? await askRule(l10n.t('Edit Rule'), rule.rule) : undefined;
    if (what === 'edit' && to === undefined) return;
    if (rule.scope === null) {
      await changeSetting(rule, to);
    } else {
      const { effect, scope, where } = rule;
      const argument = { rule: rule.rule, effect, scope, where };
      if (to === undefined) await this.client.execute('permission.revoke', argument);
      else await this.client.execute('permission.edit', { ...argument, to });
    }
    const told = to === undefined ? l10n.t('Revoked {0}.', rule.rule) : l10n.t('Changed {0} to {1}.', rule.rule, to);
    void window.showInformationMessage(told);
  }

  /** Shows where a rule stands: the settings, or the file. */
  private async open(rule: Rule): Promise<void> {
    if (rule.scope === null && rule.source !== 'managed') {
      const query = rule.source === 'builtin' ? rule.where : `acpEditor.permissions.${rule.effect}`;
      const workspaceOnly = rule.source === 'workspace' ? 'Workspace' : '';
      await commands.executeCommand(`workbench.action.open${workspaceOnly}Settings`, { query });
    } else if (rule.scope === 'everywhere' || rule.source === 'managed') {
      await window.showTextDocument(Uri.file(rule.where), { preview: true });
    } else {
      const message = l10n.t('{0} holds in {1}.', rule.rule, this.placeOf(rule));
      const revoke = l10n.t('Revoke');
      if ((await window.showInformationMessage(message, revoke)) === revoke) await this.act({ what: 'revoke', rule });
    }
  }
}

async function askRule(title: string, value: string): Promise<string | undefined> {
  const prompt = l10n.t('what(pattern), such as edit(src/**) or execute(git status:*)');
  const text = await window.showInputBox({ title, value, prompt, ignoreFocusOut: true });
  return text === undefined || text.trim() === '' ? undefined : text.trim();
}

function iconOf(effect: string): string {
  return effect === 'allow' ? 'check' : effect === 'deny' ? 'circle-slash' : 'question';
}

function effectName(effect: string): string {
  switch (effect) {
    case 'allow':
      return l10n.t('allow');
    case 'deny':
      return l10n.t('never');
    case 'ask':
      return l10n.t('ask');
    default:
      return effect;
  }
}

import { type QuickPickItem, ThemeIcon, l10n, window, workspace } from 'vscode';
import type { Client } from './client';
import type { Permission, Rule, RuleOffer } from './protocol';
import { describe } from './permissions';

export type Effect = 'allow' | 'deny';
type RuleItem = QuickPickItem & { readonly rule: Rule };

/** Rules made from a prompt, listed, and taken back; the server keeps them. */
export class Rules {
  constructor(private readonly client: Client) {}

  /** Makes a rule for calls like this one, shown before it is saved; the server answers the request by it. */
  async make(permission: Permission, effect: Effect): Promise<void> {
    const title = effect === 'allow' ? l10n.t('Always Allow…') : l10n.t('Never Allow…');
    const offers: readonly RuleOffer[] = (permission.offers ?? []).filter((offer) => offer.effect === effect);
    if (offers.length === 0) throw new Error(l10n.t('No rule fits this request.'));
    const items = offers.map((offer) => ({ label: offer.label, description: offer.rule, offer }));
    const chosen = await window.showQuickPick(items, { title, placeHolder: describe(permission) });
    if (!chosen) return;
    const { rule } = chosen.offer;
    const where = await window.showQuickPick(
      [
        { label: l10n.t('In this session'), scope: 'session' },
        { label: l10n.t('In this workspace'), scope: 'workspace' },
        { label: l10n.t('Everywhere'), scope: 'everywhere' },
      ],
      { title, placeHolder: rule },
    );
    if (!where) return;
    const { sessionId } = permission;
    await this.client.execute<Rule>('permission.remember', { rule, effect, scope: where.scope, sessionId });
  }

  /** Every rule that holds, with where it stands; those that were saved from a prompt can be revoked. */
  async list(): Promise<void> {
    const rules = await this.client.execute<readonly Rule[]>('permission.rules');
    if (rules.length === 0) {
      void window.showInformationMessage(l10n.t('There are no permission rules yet.'));
      return;
    }
    const revoke = { iconPath: new ThemeIcon('trash'), tooltip: l10n.t('Revoke') };
    const pick = window.createQuickPick<RuleItem>();
    pick.title = l10n.t('Permission Rules');
    pick.placeholder = l10n.t('Choose a rule to revoke it');
    pick.matchOnDescription = true;
    pick.matchOnDetail = true;
    pick.items = rules.map((rule) => ({
      label: rule.rule,
      description: effectName(rule.effect),
      detail: [rule.source, rule.where].filter(Boolean).join(' · '),
      buttons: rule.scope === null ? [] : [revoke],
      rule,
    }));
    try {
      const chosen = await new Promise<Rule | undefined>((resolve) => {
        pick.onDidAccept(() => resolve(pick.selectedItems[0]?.rule));
        pick.onDidTriggerItemButton(({ item }) => resolve(item.rule));
        pick.onDidHide(() => resolve(undefined));
        pick.show();
      });
      if (!chosen) return;
      if (chosen.scope === null) {
        void window.showInformationMessage(l10n.t('{0} stands in {1}; it is changed there.', chosen.rule, chosen.where));
        return;
      }
      const { rule, effect, scope } = chosen;
      await this.client.execute('permission.revoke', { rule, effect, scope });
      void window.showInformationMessage(l10n.t('Revoked {0}.', rule));
    } finally {
      pick.dispose();
    }
  }

  /** What was decided lately, and by which rule. */
  async showDecisions(): Promise<void> {
    const rows = await this.client.execute<readonly Readonly<Record<string, unknown>>[]>('permission.log');
    const content = rows.map((row) => JSON.stringify(row)).join('\n');
    const document = await workspace.openTextDocument({ language: 'jsonl', content });
    await window.showTextDocument(document, { preview: true });
  }
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

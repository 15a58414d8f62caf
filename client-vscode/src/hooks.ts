import { type QuickPickItem, ThemeIcon, l10n, window } from 'vscode';
import type { Client } from './client';
import type { Hook, HookWord } from './protocol';

/** The installed hooks: what each takes part in, and what it decided lately. */
export class Hooks {
  constructor(private readonly client: Client) {}

  async list(): Promise<void> {
    const hooks = await this.client.execute<readonly Hook[]>('hooks');
    if (hooks.length === 0) {
      void window.showInformationMessage(l10n.t('No hooks are installed.'));
      return;
    }
    const items = hooks.map((hook) => ({
      label: hook.name,
      description: hook.package ?? '',
      detail: [...hook.problems, saidOf(hook)].join(' · '),
      iconPath: new ThemeIcon(hook.problems.length > 0 ? 'warning' : 'plug'),
      hook,
    }));
    const chosen = await window.showQuickPick(items, {
      title: l10n.t('Hooks'),
      placeHolder: l10n.t('Choose a hook to see what it said'),
      matchOnDetail: true,
    });
    if (chosen) await showWords(chosen.hook);
  }
}

async function showWords({ name, last, takesPart }: Hook): Promise<void> {
  const items: QuickPickItem[] = last.map((word) => ({
    label: wordOf(word),
    description: new Date(word.time).toLocaleTimeString(),
    detail: word.reason,
  }));
  if (items.length === 0) items.push({ label: l10n.t('It has said nothing yet.'), detail: takesPart.join(', ') });
  await window.showQuickPick(items, { title: l10n.t('What the hook {0} said', name), matchOnDetail: true });
}

function wordOf({ about, said }: HookWord): string {
  return about === '' ? said : `${about}: ${said}`;
}

function saidOf({ said, takesPart }: Hook): string {
  const counts = Object.entries(said).map(([word, count]) => `${word} × ${count}`);
  return counts.length > 0 ? counts.join(', ') : takesPart.join(', ');
}

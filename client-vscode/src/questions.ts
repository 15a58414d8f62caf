import { type CancellationToken, type QuickPickItem, Uri, env, l10n, window } from 'vscode';
import { type Problem, readAnswer } from './answers';
import type { ElicitField, ElicitParams, ElicitResult } from './protocol';

type Answer = { readonly value: unknown } | 'skipped' | 'cancelled';

/** `acpEditor/elicit`: an agent's question, asked field by field; nothing is asked before the person agrees. */
export async function answerQuestion(params: ElicitParams, token: CancellationToken): Promise<ElicitResult> {
  const accept = params.mode === 'url' ? l10n.t('Open in the Browser') : l10n.t('Answer…');
  const decline = l10n.t('Decline');
  const about = params.url === null ? params.message : `${params.message} — ${params.url}`;
  const said = await window.showInformationMessage(`${params.agent}: ${about}`, accept, decline);
  if (token.isCancellationRequested || said === undefined) return { action: 'cancel', content: null };
  if (said === decline) return { action: 'decline', content: null };
  if (params.mode === 'url') {
    const opened = params.url !== null && (await env.openExternal(Uri.parse(params.url)));
    return { action: opened ? 'accept' : 'cancel', content: null };
  }
  const content: Record<string, unknown> = {};
  for (const [index, field] of params.fields.entries()) {
    const title = `${params.agent} (${index + 1}/${params.fields.length})`;
    const answer = await askField(field, title, token);
    if (answer === 'cancelled') return { action: 'cancel', content: null };
    if (answer !== 'skipped') content[field.key] = answer.value;
  }
  return { action: 'accept', content };
}

async function askField(field: ElicitField, title: string, token: CancellationToken): Promise<Answer> {
  const placeHolder = field.description === null ? field.title : `${field.title}: ${field.description}`;
  const options = { title, placeHolder, ignoreFocusOut: true };
  switch (field.kind) {
    case 'boolean': {
      const items = [
        { label: l10n.t('Yes'), value: true },
        { label: l10n.t('No'), value: false },
      ];
      if (field.default === false) items.reverse();
      return chosen(await window.showQuickPick(items, options, token));
    }
    case 'choice': {
      const items = choices(field, (value) => value === field.default);
      return chosen(await window.showQuickPick(items, options, token));
    }
    case 'choices': {
      const preset = Array.isArray(field.default) ? field.default : [];
      const items = choices(field, (value) => preset.includes(value));
      const picked = await window.showQuickPick(items, { ...options, canPickMany: true }, token);
      return picked ? { value: picked.map((item) => item.value) } : 'cancelled';
    }
    default:
      return askText(field, title, placeHolder, token);
  }
}

async function askText(field: ElicitField, title: string, prompt: string, token: CancellationToken): Promise<Answer> {
  const preset = typeof field.default === 'string' || typeof field.default === 'number' ? String(field.default) : '';
  const text = await window.showInputBox(
    {
      title,
      prompt,
      value: preset,
      ignoreFocusOut: true,
      validateInput: (value) => {
        const reading = readAnswer(field, value);
        return reading && 'problem' in reading ? explain(reading.problem, field) : undefined;
      },
    },
    token,
  );
  if (text === undefined) return 'cancelled';
  const reading = readAnswer(field, text);
  return reading && 'value' in reading ? { value: reading.value } : 'skipped';
}

function choices(field: ElicitField, preset: (value: string) => boolean): (QuickPickItem & { readonly value: string })[] {
  const items = field.options.map(({ value, title }) => ({ label: title, value, picked: preset(value) }));
  return items.sort((a, b) => Number(b.picked) - Number(a.picked));
}

function chosen(item: { readonly value: unknown } | undefined): Answer {
  return item ? { value: item.value } : 'cancelled';
}

function explain(problem: Problem, field: ElicitField): string {
  switch (problem) {
    case 'missing':
      return l10n.t('An answer is needed.');
    case 'not-a-number':
      return field.kind === 'integer' ? l10n.t('A whole number is needed.') : l10n.t('A number is needed.');
    case 'too-small':
      return l10n.t('At least {0}.', String(field.least));
    case 'too-large':
      return l10n.t('At most {0}.', String(field.most));
    case 'pattern':
      return l10n.t('It has to match {0}.', field.pattern ?? '');
  }
}

import {
  type CancellationToken,
  Disposable,
  type InputBox,
  QuickInputButtons,
  type QuickPick,
  type QuickPickItem,
  l10n,
  window,
} from 'vscode';
import { type Problem, formatOf, readAnswer, readChoices } from './answers';
import type { ElicitField } from './protocol';
import { withoutIcons } from './safe';

type Step = { readonly value: unknown } | 'skipped' | 'back' | 'cancelled';
type Item = QuickPickItem & { readonly value?: unknown };

/** One field of a form: where it stands in it, and what was answered before the person went back to it. */
interface Place {
  readonly field: ElicitField;
  readonly agent: string;
  readonly at: number;
  readonly count: number;
  readonly before: unknown;
}

/** Asks field by field, with the way back; undefined where the person leaves it or it is withdrawn. */
export async function askForm(
  agent: string,
  fields: readonly ElicitField[],
  token: CancellationToken,
): Promise<Record<string, unknown> | undefined> {
  const answers = new Map<string, unknown>();
  let at = 0;
  for (let field = fields[at]; field; field = fields[at]) {
    const before = answers.has(field.key) ? answers.get(field.key) : field.default;
    const step = await askField({ field, agent, at, count: fields.length, before }, token);
    if (step === 'cancelled') return undefined;
    if (step === 'back') {
      at -= 1;
      continue;
    }
    if (step === 'skipped') answers.delete(field.key);
    else answers.set(field.key, step.value);
    at += 1;
  }
  return Object.fromEntries(answers);
}

function askField(place: Place, token: CancellationToken): Promise<Step> {
  const { field } = place;
  switch (field.kind) {
    case 'boolean':
      return askOne(place, [{ label: l10n.t('Yes'), value: true }, { label: l10n.t('No'), value: false }], token);
    case 'choice':
      return askOne(place, field.options.map(({ value, title }) => ({ label: withoutIcons(title), value })), token);
    case 'choices':
      return askSeveral(place, token);
    default:
      return askText(place, token);
  }
}

function askOne(place: Place, items: Item[], token: CancellationToken): Promise<Step> {
  const pick = window.createQuickPick<Item>();
  const skip: Item = { label: l10n.t('Leave it out'), alwaysShow: true };
  pick.items = place.field.required ? items : [...items, skip];
  const preset = items.find((item) => item.value === place.before);
  pick.activeItems = preset ? [preset] : [];
  pick.placeholder = questionOf(place.field);
  pick.matchOnDescription = true;
  return run(pick, place, token, (settle) => [
    pick.onDidAccept(() => {
      const chosen = pick.selectedItems[0] ?? pick.activeItems[0];
      if (chosen) settle(chosen === skip ? 'skipped' : { value: chosen.value });
    }),
  ]);
}

function askSeveral(place: Place, token: CancellationToken): Promise<Step> {
  const { field } = place;
  const pick = window.createQuickPick<Item>();
  const preset: readonly unknown[] = Array.isArray(place.before) ? place.before : [];
  pick.canSelectMany = true;
  pick.items = field.options.map(({ value, title }) => ({ label: withoutIcons(title), value }));
  pick.selectedItems = pick.items.filter((item) => preset.includes(item.value));
  const bounds = [
    ...(field.least === null ? [] : [l10n.t('at least {0}', field.least)]),
    ...(field.most === null ? [] : [l10n.t('at most {0}', field.most)]),
  ];
  pick.placeholder = [questionOf(field), ...bounds].join(', ');
  return run(pick, place, token, (settle) => [
    pick.onDidAccept(() => {
      const values = pick.selectedItems.map((item) => item.value);
      const problem = readChoices(field, values.length);
      if (problem) pick.placeholder = explain(problem, field);
      else settle(values.length === 0 && !field.required ? 'skipped' : { value: values });
    }),
  ]);
}

function askText(place: Place, token: CancellationToken): Promise<Step> {
  const { field, before } = place;
  const input = window.createInputBox();
  input.value = typeof before === 'string' || typeof before === 'number' ? String(before) : '';
  input.prompt = questionOf(field);
  input.placeholder = [hintOf(field), field.required ? '' : l10n.t('may be left empty')].filter(Boolean).join(', ');
  return run(input, place, token, (settle) => [
    input.onDidChangeValue(() => (input.validationMessage = undefined)),
    input.onDidAccept(() => {
      const reading = readAnswer(field, input.value);
      if (reading && 'problem' in reading) input.validationMessage = explain(reading.problem, field);
      else settle(reading ? { value: reading.value } : 'skipped');
    }),
  ]);
}

/** Shows an input until it is settled, left or withdrawn. */
async function run(
  input: InputBox | QuickPick<Item>,
  place: Place,
  token: CancellationToken,
  listen: (settle: (step: Step) => void) => Disposable[],
): Promise<Step> {
  input.title = place.agent;
  input.step = place.at + 1;
  input.totalSteps = place.count;
  input.ignoreFocusOut = true;
  input.buttons = place.at > 0 ? [QuickInputButtons.Back] : [];
  const listeners: Disposable[] = [];
  try {
    return await new Promise<Step>((settle) => {
      listeners.push(
        ...listen(settle),
        input.onDidTriggerButton(() => settle('back')),
        input.onDidHide(() => settle('cancelled')),
        token.onCancellationRequested(() => settle('cancelled')),
      );
      input.show();
    });
  } finally {
    Disposable.from(...listeners).dispose();
    input.dispose();
  }
}

function questionOf({ title, description }: ElicitField): string {
  return withoutIcons(description === null ? title : `${title}: ${description}`);
}

function hintOf(field: ElicitField): string {
  switch (field.kind === 'integer' || field.kind === 'number' ? field.kind : formatOf(field)) {
    case 'integer':
      return l10n.t('a whole number');
    case 'number':
      return l10n.t('a number');
    case 'email':
      return l10n.t('a mail address');
    case 'uri':
      return l10n.t('an address such as https://example.org');
    case 'date':
      return l10n.t('a date such as 2000-12-31');
    case 'date-time':
      return l10n.t('a time such as 2000-12-31T23:59:00Z');
    default:
      return '';
  }
}

/** It stands where the question stood, so it names the field. */
function explain(problem: Problem, field: ElicitField): string {
  return `${withoutIcons(field.title)}: ${wrong(problem, field)}`;
}

function wrong(problem: Problem, field: ElicitField): string {
  switch (problem) {
    case 'missing':
      return l10n.t('an answer is needed');
    case 'not-a-number':
      return field.kind === 'integer' ? l10n.t('a whole number is needed') : l10n.t('a number is needed');
    case 'too-small':
      return sized(field) ? l10n.t('at least {0} characters', String(field.least)) : l10n.t('at least {0}', String(field.least));
    case 'too-large':
      return sized(field) ? l10n.t('at most {0} characters', String(field.most)) : l10n.t('at most {0}', String(field.most));
    case 'pattern':
      return l10n.t('it has to match {0}', field.pattern ?? '');
    default:
      return l10n.t('what is needed is {0}', hintOf(field));
  }
}

function sized({ kind }: ElicitField): boolean {
  return kind === 'text';
}

/** One line of the log of decisions, as far as it is shown. */
export interface LoggedDecision {
  readonly time?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly tool?: string;
  readonly kind?: string;
  readonly decision?: string;
  readonly answers?: string;
  readonly outcome?: string;
  readonly rule?: string;
  readonly source?: string;
  readonly hook?: string;
  readonly setting?: string;
}

/** The decisions as a table of text, the newest first. */
export function decisionLines(rows: readonly LoggedDecision[]): string {
  const header = ['time', 'decision', 'answer', 'decided by', 'call', 'agent', 'session'];
  const cells = [...rows].reverse().map((row) => [
    (row.time ?? '').replace('T', ' ').slice(0, 19),
    row.decision ?? '',
    (row.outcome ?? '').replaceAll('_', ' '),
    decidedBy(row),
    [row.kind, row.tool].filter(Boolean).join(' '),
    row.agent ?? '',
    row.session ?? '',
  ]);
  const widths = header.map((title, at) => Math.max(title.length, ...cells.map((line) => line[at]?.length ?? 0)));
  const line = (texts: readonly string[]): string => texts.map((text, at) => text.padEnd(widths[at] ?? 0)).join('  ').trimEnd();
  return [line(header), ...cells.map(line)].join('\n') + '\n';
}

function decidedBy({ rule, source, hook, setting, answers }: LoggedDecision): string {
  if (hook !== undefined) return `hook ${hook}`;
  if (rule !== undefined) return `rule ${rule} (${source ?? 'unknown'})`;
  if (setting !== undefined) return `setting ${setting}`;
  return answers === 'nobody' ? 'nobody was there' : 'you';
}

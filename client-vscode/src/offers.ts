/** What a call is, as far as a rule can name it. */
export interface RuleSubject {
  readonly kind: string | null;
  readonly name: string | null;
  readonly command: string | null;
  /** Paths of its files, relative to the workspace, with `/`. */
  readonly files: readonly string[];
}

export type Width = 'command' | 'prefix' | 'file' | 'folder' | 'tool' | 'kind';

/** A rule that fits the call at hand. */
export interface RuleOffer {
  readonly rule: string;
  readonly width: Width;
}

/** Rules of growing width for a call, the narrowest first; none where nothing about the call is known. */
export function ruleOffers(subject: RuleSubject): readonly RuleOffer[] {
  const offers: RuleOffer[] = [];
  const kind = subject.kind ?? '*';
  if (subject.command !== null && subject.command !== '') {
    const command = subject.command.trim();
    offers.push({ rule: `execute(${command})`, width: 'command' });
    const words = leadingWords(command);
    if (words !== undefined && words !== command) offers.push({ rule: `execute(${words}:*)`, width: 'prefix' });
  }
  const [file] = subject.files;
  if (file !== undefined && subject.files.length === 1) {
    offers.push({ rule: `${kind}(/${escapeGlob(file)})`, width: 'file' });
    const folder = file.includes('/') ? file.slice(0, file.lastIndexOf('/')) : '';
    if (folder !== '') offers.push({ rule: `${kind}(/${escapeGlob(folder)}/**)`, width: 'folder' });
  }
  if (subject.name !== null && /^[\w.:-]+$/.test(subject.name)) offers.push({ rule: subject.name, width: 'tool' });
  if (subject.kind !== null) offers.push({ rule: subject.kind, width: 'kind' });
  return offers.filter((offer, index) => offers.findIndex((other) => other.rule === offer.rule) === index);
}

/** The program and its subcommand, where the line is one plain command. */
function leadingWords(command: string): string | undefined {
  if (/[\n;&|<>`$(){}\\'"*?]/.test(command)) return undefined;
  const words = command.split(/\s+/);
  const [program, next] = words;
  if (program === undefined || program.includes('=')) return undefined;
  return next !== undefined && /^[a-z][\w:-]*$/i.test(next) && words.length > 2 ? `${program} ${next}` : program;
}

function escapeGlob(path: string): string {
  return path.replace(/[\\*?[\]!#]/g, '\\$&');
}

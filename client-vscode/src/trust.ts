import { createHash } from 'node:crypto';
import { type Disposable, EventEmitter, type Memento, l10n, window, workspace } from 'vscode';
import { type AgentEntries, type AgentEntry, commandLine } from './merge';

const KEY = 'agentConsent';
type Decisions = Readonly<Record<string, boolean>>;

/** What the person decided about agents that a workspace's settings want to start; asked about once each. */
export class AgentConsent implements Disposable {
  private readonly emitter = new EventEmitter<void>();
  private readonly asked = new Set<string>();
  readonly onDidDecide = this.emitter.event;

  constructor(private readonly memento: Memento) {}

  isApproved(name: string, entry: AgentEntry): boolean {
    return this.decisions()[fingerprint(name, entry)] === true;
  }

  /** Asks about every agent of the workspace that was not decided yet. */
  ask(): void {
    if (!workspace.isTrusted) return;
    const found = workspace.getConfiguration('acpEditor').inspect<AgentEntries>('agents');
    const theirs = { ...found?.workspaceValue, ...found?.workspaceFolderValue };
    for (const [name, entry] of Object.entries(theirs)) {
      if (typeof entry.command === 'string') void this.askAbout(name, entry);
    }
  }

  async forget(): Promise<void> {
    this.asked.clear();
    await this.memento.update(KEY, undefined);
    this.emitter.fire();
  }

  dispose(): void {
    this.emitter.dispose();
  }

  private async askAbout(name: string, entry: AgentEntry): Promise<void> {
    const key = fingerprint(name, entry);
    if (key in this.decisions() || this.asked.has(key)) return;
    this.asked.add(key);
    const allow = l10n.t('Allow');
    const never = l10n.t("Don't Allow");
    const names = Object.keys(entry.env ?? {});
    const environment = names.length > 0 ? ` ${l10n.t('It sets {0}.', names.join(', '))}` : '';
    const question = l10n.t(
      "This workspace's settings want to start the agent “{0}” with the command: {1}",
      name,
      commandLine(entry),
    );
    const answer = await window.showWarningMessage(`ACP: ${question}${environment}`, allow, never);
    if (answer === undefined) return;
    await this.memento.update(KEY, { ...this.decisions(), [key]: answer === allow });
    this.emitter.fire();
  }

  private decisions(): Decisions {
    return this.memento.get<Decisions>(KEY, {});
  }
}

/** One decision holds for one entry in one workspace: whatever changes is asked about again. */
function fingerprint(name: string, entry: AgentEntry): string {
  const folders = workspace.workspaceFolders?.map((folder) => folder.uri.toString()) ?? [];
  return createHash('sha256').update(JSON.stringify([folders, name, entry])).digest('hex');
}

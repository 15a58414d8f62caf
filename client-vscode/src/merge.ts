/** An agent as the settings name it, in Zed's form. */
export interface AgentEntry {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export type AgentEntries = Readonly<Record<string, AgentEntry>>;

/** A setting's values by where they stand, as VS Code's `inspect` gives them. */
export interface Inspected<T> {
  readonly defaultValue?: T;
  readonly globalValue?: T;
  readonly workspaceValue?: T;
  readonly workspaceFolderValue?: T;
}

/** The person's agents, and those of the workspace's that they agreed to. */
export function mergedAgents(
  mine: AgentEntries,
  theirs: AgentEntries,
  approved: (name: string, entry: AgentEntry) => boolean,
): AgentEntries {
  const merged: Record<string, AgentEntry> = { ...mine };
  for (const [name, entry] of Object.entries(theirs)) {
    if (approved(name, entry)) merged[name] = entry;
  }
  return merged;
}

/** What the person set, whatever a workspace says. */
export function own<T>(found: Inspected<T> | undefined): T | undefined {
  return found?.globalValue ?? found?.defaultValue;
}

/** The rules of a workspace's settings, which may only tighten. */
export function workspaceRules(found: Inspected<readonly string[]> | undefined): readonly string[] {
  return [...new Set([...(found?.workspaceValue ?? []), ...(found?.workspaceFolderValue ?? [])])];
}

/** The command line of an agent, for a person to read. */
export function commandLine(entry: AgentEntry): string {
  return [entry.command, ...(entry.args ?? [])].map((part) => (/\s/.test(part) ? JSON.stringify(part) : part)).join(' ');
}

/** The list with `to` in the place of the first `rule`, or without it; undefined where it is not there. */
export function replaced(rules: readonly unknown[], rule: string, to: string | undefined): unknown[] | undefined {
  const at = rules.findIndex((one) => (typeof one === 'string' ? one.trim() : undefined) === rule.trim());
  if (at < 0) return undefined;
  return [...rules.slice(0, at), ...(to === undefined ? [] : [to]), ...rules.slice(at + 1)];
}

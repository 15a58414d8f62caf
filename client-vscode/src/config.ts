import { type Disposable, EventEmitter, workspace } from 'vscode';
import { type AgentEntries, mergedAgents, own, workspaceRules } from './merge';
import type { AgentConsent } from './trust';

const SECTION = 'acpEditor';

/** The settings as the server is to see them: what a workspace may not decide alone is left out. */
export class Config implements Disposable {
  private readonly emitter = new EventEmitter<void>();
  private readonly listeners: Disposable[];
  readonly onDidChange = this.emitter.event;

  constructor(private readonly consent: AgentConsent) {
    this.listeners = [
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(SECTION)) this.emitter.fire();
      }),
      consent.onDidDecide(() => this.emitter.fire()),
    ];
  }

  get(key: string, otherwise: boolean): boolean;
  get(key: string, otherwise: string): string;
  get(key: string, otherwise: boolean | string): boolean | string {
    return workspace.getConfiguration(SECTION).get(key, otherwise);
  }

  /** Agents by name that may be started, the built-in one aside. */
  agents(): AgentEntries {
    const found = workspace.getConfiguration(SECTION).inspect<AgentEntries>('agents');
    const mine = { ...found?.defaultValue, ...found?.globalValue };
    const theirs = { ...found?.workspaceValue, ...found?.workspaceFolderValue };
    return mergedAgents(mine, theirs, (name, entry) => this.consent.isApproved(name, entry));
  }

  /** The whole section as plain JSON. */
  settings(): Record<string, unknown> {
    const section = workspace.getConfiguration(SECTION);
    const plain = JSON.parse(JSON.stringify(section)) as Record<string, unknown>;
    delete plain['server'];
    plain['agents'] = this.agents();
    plain['mcpServers'] = own(section.inspect<object>('mcpServers')) ?? {}; // these start programs too
    const rules = (key: string): string[] | undefined => own(section.inspect<string[]>(`permissions.${key}`));
    plain['permissions'] = {
      allow: rules('allow'),
      ask: rules('ask'),
      deny: rules('deny'),
      readInside: own(section.inspect<boolean>('permissions.readInside')),
    };
    plain['workspacePermissions'] = Object.fromEntries(
      ['allow', 'ask', 'deny'].map((key) => [key, workspaceRules(section.inspect<string[]>(`permissions.${key}`))]),
    );
    return plain;
  }

  dispose(): void {
    this.listeners.forEach((listener) => void listener.dispose());
    this.emitter.dispose();
  }
}

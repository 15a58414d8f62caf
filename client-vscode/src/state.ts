import { EventEmitter, type Disposable, Uri } from 'vscode';
import type {
  Change,
  ChangesParams,
  Decoration,
  DecorationsParams,
  Permission,
  PermissionsParams,
  SessionParams,
  State as Snapshot,
  StatusParams,
  ToolCall,
  ToolCallParams,
} from './protocol';

/** One session as far as we were told of it; the calls in the order of first sight. */
export interface SessionView {
  info: SessionParams | undefined;
  readonly toolCalls: Map<string, ToolCall>;
}

/** What the server last said, and when it changed. Every surface draws from here. */
export class State implements Disposable {
  status: StatusParams | undefined;
  permissions: readonly Permission[] = [];
  changes: readonly Change[] = [];
  changesTotal: ChangesParams['changesTotal'];
  readonly sessions = new Map<string, SessionView>();
  private readonly marks = new Map<string, readonly Decoration[]>();

  private readonly statusEmitter = new EventEmitter<void>();
  private readonly permissionsEmitter = new EventEmitter<void>();
  private readonly changesEmitter = new EventEmitter<void>();
  private readonly sessionEmitter = new EventEmitter<string>();
  private readonly callEmitter = new EventEmitter<ToolCallParams>();
  private readonly marksEmitter = new EventEmitter<string>();

  readonly onDidChangeStatus = this.statusEmitter.event;
  readonly onDidChangePermissions = this.permissionsEmitter.event;
  readonly onDidChangeChanges = this.changesEmitter.event;
  /** Fires with the session's id. */
  readonly onDidChangeSession = this.sessionEmitter.event;
  readonly onDidChangeCall = this.callEmitter.event;
  /** Fires with the document's URI in our own spelling. */
  readonly onDidChangeMarks = this.marksEmitter.event;

  get activeSessionId(): string | undefined {
    return this.status?.session?.sessionId;
  }

  get activeSession(): SessionView | undefined {
    const id = this.activeSessionId;
    return id === undefined ? undefined : this.sessions.get(id);
  }

  get running(): boolean {
    const state = this.status?.session?.state;
    return state === 'running' || state === 'requires_action';
  }

  call(toolCallId: string | null): ToolCall | undefined {
    if (toolCallId === null) return undefined;
    const active = this.activeSession?.toolCalls.get(toolCallId);
    if (active) return active;
    for (const session of this.sessions.values()) {
      const found = session.toolCalls.get(toolCallId);
      if (found) return found;
    }
    return undefined;
  }

  marksOf(uri: Uri): readonly Decoration[] {
    return this.marks.get(uri.toString()) ?? [];
  }

  /** The unreviewed change of a file, or of the file that one side of a review's diff is about. */
  changeOf(uri: Uri | undefined): Change | undefined {
    const key = (uri?.query === 'review' ? uri.with({ scheme: 'file', query: '' }) : uri)?.toString();
    return key === undefined ? undefined : this.changes.find((change) => sameUri(change.uri, key));
  }

  setStatus(params: StatusParams): void {
    this.status = params;
    this.statusEmitter.fire();
  }

  setPermissions(params: PermissionsParams): void {
    this.permissions = params.permissions;
    this.permissionsEmitter.fire();
  }

  setChanges(params: ChangesParams): void {
    this.changes = params.changes;
    this.changesTotal = params.changesTotal;
    this.changesEmitter.fire();
  }

  setSession(params: SessionParams): void {
    this.view(params.sessionId).info = params;
    this.sessionEmitter.fire(params.sessionId);
  }

  setCall(params: ToolCallParams): void {
    this.view(params.sessionId).toolCalls.set(params.toolCall.toolCallId, params.toolCall);
    this.callEmitter.fire(params);
  }

  setMarks(params: DecorationsParams): void {
    const key = Uri.parse(params.uri).toString();
    if (params.decorations.length > 0) this.marks.set(key, params.decorations);
    else this.marks.delete(key);
    this.marksEmitter.fire(key);
  }

  /** Takes over everything that a snapshot knows; marks come by notification alone. */
  setSnapshot(snapshot: Snapshot): void {
    this.sessions.clear();
    for (const session of snapshot.sessions) {
      this.sessions.set(session.sessionId, {
        info: session,
        toolCalls: new Map(session.toolCalls.map((call) => [call.toolCallId, call])),
      });
      this.sessionEmitter.fire(session.sessionId);
    }
    this.setPermissions(snapshot);
    this.setChanges(snapshot);
  }

  /** The server is gone: nothing of it holds any longer. */
  clear(): void {
    this.status = undefined;
    this.sessions.clear();
    const marked = [...this.marks.keys()];
    this.marks.clear();
    marked.forEach((key) => this.marksEmitter.fire(key));
    this.setPermissions({ permissions: [] });
    this.setChanges({ changes: [] });
    this.statusEmitter.fire();
    this.sessionEmitter.fire('');
  }

  dispose(): void {
    for (const emitter of [this.statusEmitter, this.permissionsEmitter, this.changesEmitter]) emitter.dispose();
    for (const emitter of [this.sessionEmitter, this.callEmitter, this.marksEmitter]) emitter.dispose();
  }

  private view(sessionId: string): SessionView {
    let view = this.sessions.get(sessionId);
    if (!view) {
      view = { info: undefined, toolCalls: new Map() };
      this.sessions.set(sessionId, view);
    }
    return view;
  }
}

/** Whether a URI as the server spells it is this one as VS Code spells it. */
export function sameUri(theirs: string, ours: string): boolean {
  return theirs === ours || Uri.parse(theirs).toString() === ours;
}

import { type CancellationToken, type Disposable, EventEmitter, type Uri, commands, env, l10n, window } from 'vscode';
import { askForm } from './form';
import { Hint } from './hint';
import { unlinked } from './safe';
import type { ElicitParams, ElicitResult } from './protocol';

const SHORT = 200;
/** Characters of an address that a notification shows whole; a longer one is looked at in a dialog. */

const CANCEL: ElicitResult = { action: 'cancel', content: null };
const DECLINE: ElicitResult = { action: 'decline', content: null };

interface Waiting {
  readonly params: ElicitParams;
  readonly token: CancellationToken;
  readonly settle: (result: ElicitResult) => void;
  answering: boolean;
}

/** Agents' questions: told by a notification, and asked step by step once the person agrees. */
export class Questions implements Disposable {
  private waiting: Waiting | undefined;
  private readonly emitter = new EventEmitter<void>();
  readonly onDidChange = this.emitter.event;

  /** Whether a question waits for the person. */
  get open(): boolean {
    return this.waiting !== undefined;
  }

  /** `acpEditor/elicit`; the server asks one at a time, and takes back what is to be answered no more. */
  async ask(params: ElicitParams, token: CancellationToken): Promise<ElicitResult> {
    let withdrawn: Disposable | undefined;
    try {
      return await new Promise<ElicitResult>((settle) => {
        const waiting: Waiting = { params, token, settle, answering: false };
        withdrawn = token.onCancellationRequested(() => {
          settle(CANCEL);
          // A notification cannot be taken back, only put away.
          if (!waiting.answering) void commands.executeCommand('notifications.hideToasts');
        });
        this.set(waiting);
        void this.notify(waiting);
      });
    } finally {
      withdrawn?.dispose();
      this.set(undefined);
    }
  }

  /** Answers what waits: its notification may be out of sight. */
  async answer(): Promise<void> {
    if (!this.waiting) throw new Hint(l10n.t('No agent asks anything.'));
    await this.begin(this.waiting);
  }

  dispose(): void {
    this.emitter.dispose();
  }

  private async notify(waiting: Waiting): Promise<void> {
    const { agent, message, mode, url, fields } = waiting.params;
    const decline = l10n.t('Decline');
    const accept = this.acceptTitle(waiting.params);
    const address = mode !== 'url' || url === null ? '' : url.length <= SHORT ? ` — ${url}` : ` — ${hostOf(url)}…`;
    const said = await window.showInformationMessage(unlinked(`${agent}: ${message}${address}`), accept, decline);
    if (waiting !== this.waiting || waiting.answering) return;
    if (said === decline) waiting.settle(DECLINE);
    else if (said === undefined) waiting.settle(CANCEL);
    else if (mode === 'form' && fields.length === 0) waiting.settle({ action: 'accept', content: {} });
    else if (mode === 'url' && url !== null && url.length <= SHORT) await this.openAddress(waiting, url);
    else await this.begin(waiting);
  }

  private acceptTitle({ mode, url, fields }: ElicitParams): string {
    if (mode === 'form') return fields.length === 0 ? l10n.t('Accept') : l10n.t('Answer…');
    return url !== null && url.length <= SHORT ? l10n.t('Open in the Browser') : l10n.t('Show the Address…');
  }

  private async begin(waiting: Waiting): Promise<void> {
    const { agent, message, mode, url, fields } = waiting.params;
    if (waiting.answering) return;
    waiting.answering = true;
    if (mode === 'form') {
      const content = fields.length === 0 ? await this.confirm(waiting) : await askForm(agent, fields, waiting.token);
      waiting.settle(content ? { action: 'accept', content } : CANCEL);
      return;
    }
    if (url === null) {
      waiting.settle(CANCEL);
      return;
    }
    const open = l10n.t('Open in the Browser');
    const said = await window.showInformationMessage(unlinked(`${agent}: ${message}`), { modal: true, detail: url }, open);
    if (said === open) await this.openAddress(waiting, url);
    else waiting.settle(CANCEL);
  }

  private async confirm({ params: { agent, message } }: Waiting): Promise<Record<string, unknown> | undefined> {
    const accept = l10n.t('Accept');
    const said = await window.showInformationMessage(unlinked(`${agent}: ${message}`), { modal: true }, accept);
    return said === accept ? {} : undefined;
  }

  private async openAddress(waiting: Waiting, url: string): Promise<void> {
    if (waiting.token.isCancellationRequested) return;
    // As a text: what becomes of an address in a Uri is no longer the same, which breaks logins.
    const opened = await env.openExternal(url as unknown as Uri);
    waiting.settle(opened ? { action: 'accept', content: null } : CANCEL);
  }

  private set(waiting: Waiting | undefined): void {
    this.waiting = waiting;
    this.emitter.fire();
  }
}

function hostOf(url: string): string {
  try {
    return new URL(url).origin;
  } catch {
    return '';
  }
}

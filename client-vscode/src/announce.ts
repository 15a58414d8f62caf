import { type Disposable, StatusBarAlignment, type StatusBarItem, l10n, window } from 'vscode';
import type { State } from './state';

const SHOWN = 5000;
/** Milliseconds that a sentence stays in the status bar. */

/**
 * Says what happened in one sentence, to the eye and to screen readers: VS Code has no call for that,
 * but a status bar item with the role of an alert is a live region.
 */
export class Announcer implements Disposable {
  private readonly item: StatusBarItem;
  private readonly listener: Disposable;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private last: string | undefined;

  constructor(private readonly state: State) {
    this.item = window.createStatusBarItem('acpEditor.announcement', StatusBarAlignment.Left, -1000);
    this.item.name = l10n.t('ACP Announcements');
    this.listener = state.onDidChangeStatus(() => this.statusChanged());
  }

  /** `text` may hold icons; `spoken` is what is read out. */
  say(text: string, spoken: string): void {
    clearTimeout(this.timer);
    this.item.text = text;
    this.item.accessibilityInformation = { label: spoken, role: 'alert' };
    this.item.show();
    this.timer = setTimeout(() => this.item.hide(), SHOWN);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.listener.dispose();
    this.item.dispose();
  }

  private statusChanged(): void {
    const status = this.state.status;
    const now = status?.state === 'failed' ? 'failed' : status?.session?.state;
    const before = this.last;
    this.last = now;
    if (!status || now === before || before === undefined) return;
    const name = status.title ?? status.agent;
    if (now === 'failed') {
      this.say(`$(error) ${l10n.t('{0} has failed', name)}`, l10n.t('{0} has failed: {1}', name, status.error ?? ''));
    } else if (now === 'running' && before !== 'requires_action') {
      this.say(`$(play) ${l10n.t('{0} is working', name)}`, l10n.t('{0} is working', name));
    } else if (now === 'idle') {
      const message =
        status.session?.stopReason === 'cancelled' ? l10n.t('{0} was cancelled', name) : l10n.t('{0} has finished', name);
      this.say(`$(check) ${message}`, message);
    }
  }
}

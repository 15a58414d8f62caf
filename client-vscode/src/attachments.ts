import { type QuickInputButton, TabInputCustom, ThemeIcon, UIKind, Uri, env, l10n, window, workspace } from 'vscode';
import { pictureOf } from './clipboard';
import { Hint } from './hint';
import type { Image, PromptContext } from './protocol';
import { visible } from './safe';

/** What goes with a prompt beside its text: files, parts of files, and pictures that are no files. */
export class Attachments {
  readonly images: Image[] = [];
  readonly buttons: readonly QuickInputButton[];
  private readonly fromFiles: QuickInputButton = { iconPath: new ThemeIcon('attach'), tooltip: l10n.t('Attach Files…') };

  /** `pictures`: the agent takes them. */
  constructor(
    readonly context: PromptContext[],
    pictures: boolean,
  ) {
    const fromClipboard: QuickInputButton = {
      iconPath: new ThemeIcon('file-media'),
      tooltip: l10n.t('Attach the Picture in the Clipboard'),
    };
    this.buttons = pictures && isHere() ? [this.fromFiles, fromClipboard] : [this.fromFiles];
  }

  get none(): boolean {
    return this.context.length === 0 && this.images.length === 0;
  }

  /** One line for the person. */
  describe(): string {
    const pictures = this.images.length;
    const more = pictures === 0 ? [] : [pictures === 1 ? l10n.t('1 picture') : l10n.t('{0} pictures', pictures)];
    const parts = [...this.context.map(describeContext), ...more];
    return parts.length === 0 ? '' : l10n.t('with {0}', parts.join(', '));
  }

  /** Lets the person attach what the button is for. */
  async add(button: QuickInputButton): Promise<void> {
    if (button === this.fromFiles) await this.addFiles();
    else await this.addPicture();
  }

  private async addFiles(): Promise<void> {
    const folder = workspace.workspaceFolders?.[0]?.uri;
    const chosen = await window.showOpenDialog({
      canSelectMany: true,
      openLabel: l10n.t('Attach'),
      title: l10n.t('Attach Files'),
      ...(folder ? { defaultUri: folder } : {}),
    });
    const known = new Set(this.context.map(({ uri }) => uri));
    const added = (chosen ?? []).filter(({ scheme }) => scheme === 'file').map((uri) => ({ uri: uri.toString() }));
    this.context.push(...added.filter(({ uri }) => !known.has(uri)));
  }

  private async addPicture(): Promise<void> {
    const data = await pictureOf(process.platform);
    if (data === undefined) throw new Hint(l10n.t('There is no picture in the clipboard.'));
    this.images.push({ mimeType: 'image/png', data });
  }
}

/** The file that is looked at where it is no text, such as a picture. */
export function shownFile(): PromptContext | undefined {
  const input = window.tabGroups.activeTabGroup.activeTab?.input;
  return input instanceof TabInputCustom && input.uri.scheme === 'file' ? { uri: input.uri.toString() } : undefined;
}

/** Whether this runs where the person's clipboard is. */
function isHere(): boolean {
  return env.uiKind === UIKind.Desktop && env.remoteName === undefined;
}

function describeContext({ uri, range }: PromptContext): string {
  const name = visible(workspace.asRelativePath(Uri.parse(uri), false));
  if (!range) return name;
  const first = range.start.line + 1;
  const last = range.end.line + 1;
  return first === last ? l10n.t('{0}, line {1}', name, first) : l10n.t('{0}, lines {1} to {2}', name, first, last);
}

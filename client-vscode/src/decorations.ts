import {
  type DecorationOptions,
  type DecorationRenderOptions,
  Disposable,
  MarkdownString,
  OverviewRulerLane,
  Range,
  type TextEditor,
  type TextEditorDecorationType,
  ThemeColor,
  type Uri,
  l10n,
  window,
} from 'vscode';
import type { Config } from './config';
import { BARE, type MarkKind, type MarkLook, STYLES, arranged } from './marks';
import type { Decoration } from './protocol';
import type { State } from './state';

/** Draws the marks: which lines the agent reads, edits, and has changed. */
export class Decorations implements Disposable {
  private readonly types = new Map<string, TextEditorDecorationType>();
  private readonly listeners: Disposable;

  constructor(
    private readonly state: State,
    private readonly config: Config,
  ) {
    for (const style of STYLES) this.types.set(style, window.createTextEditorDecorationType(appearance(style)));
    this.listeners = Disposable.from(
      state.onDidChangeMarks((key) => this.drawWhere((uri) => uri.toString() === key)),
      // Whether a call is still active shows in its marks, and comes in a message of its own.
      state.onDidChangeCall(({ toolCall }) =>
        this.drawWhere((uri) => state.marksOf(uri).some((mark) => mark.toolCallId === toolCall.toolCallId)),
      ),
      // And whether it waits for the person.
      state.onDidChangePermissions(() => this.drawWhere((uri) => state.marksOf(uri).length > 0)),
      window.onDidChangeVisibleTextEditors((editors) => editors.forEach((editor) => this.draw(editor))),
      window.onDidChangeTextEditorViewColumn(({ textEditor }) => this.draw(textEditor)),
      config.onDidChange(() => this.drawWhere(() => true)),
    );
  }

  dispose(): void {
    this.listeners.dispose();
    this.types.forEach((type) => type.dispose());
  }

  private drawWhere(wanted: (uri: Uri) => boolean): void {
    window.visibleTextEditors.filter((editor) => wanted(editor.document.uri)).forEach((editor) => this.draw(editor));
  }

  /** Every known type is set, so that those without a mark are cleared. */
  private draw(editor: TextEditor): void {
    const groups = new Map<string, DecorationOptions[]>();
    const labels = this.config.get('decorations.labels', true);
    const waiting = new Set(this.state.permissions.map(({ toolCallId }) => toolCallId));
    const active = (mark: Decoration): boolean | undefined => this.state.call(mark.toolCallId)?.active;
    // Only a side of a diff has no column of its own, and there the diff shows what has changed.
    const hunks = editor.viewColumn !== undefined;
    for (const { mark, look, style, label } of arranged(
      this.state.marksOf(editor.document.uri).filter(({ hunkId }) => hunks || hunkId === undefined),
      active,
      editor.document.lineCount,
    )) {
      const options: DecorationOptions = { range: wholeRange(mark, editor), hoverMessage: hover(mark) };
      if (label && labels) {
        const waits = mark.toolCallId !== null && waiting.has(mark.toolCallId);
        options.renderOptions = { after: words(look, this.state.call(mark.toolCallId)?.title ?? null, waits) };
      }
      const group = groups.get(style);
      if (group) group.push(options);
      else groups.set(style, [options]);
    }
    for (const [key, type] of this.types) editor.setDecorations(type, groups.get(key) ?? []);
  }
}

function appearance(style: string): DecorationRenderOptions {
  const [kind = BARE, phase] = style.split('.');
  if (kind === BARE) return { isWholeLine: true };
  const edge = new ThemeColor(phase === 'failed' ? 'acpEditor.failedForeground' : `acpEditor.${kind}Foreground`);
  const shared = { isWholeLine: true, overviewRulerColor: edge, borderColor: edge };
  if (kind === 'removed') {
    const borderWidth = phase === 'end' ? '0 0 2px 0' : '2px 0 0 0';
    return { ...shared, overviewRulerLane: OverviewRulerLane.Left, borderStyle: 'solid', borderWidth };
  }
  const background = { backgroundColor: new ThemeColor(`acpEditor.${kind}Background`) };
  if (phase === undefined) {
    return { ...shared, ...background, overviewRulerLane: OverviewRulerLane.Left, borderStyle: 'solid', borderWidth: '0 0 0 2px' };
  }
  const call = { ...shared, ...(phase === 'active' ? background : {}), overviewRulerLane: OverviewRulerLane.Full };
  if (style.endsWith('.within')) return call;
  return { ...call, borderStyle: phase === 'done' ? 'dotted' : 'solid', borderWidth: '0 0 0 3px' };
}

function wholeRange(mark: Decoration, editor: TextEditor): Range {
  const last = editor.document.lineCount - 1;
  const { start, end } = mark.range;
  const clamp = (line: number): number => Math.min(Math.max(line, 0), last);
  return editor.document.validateRange(new Range(clamp(start.line), start.character, clamp(end.line), end.character));
}

function hover(mark: Decoration): MarkdownString {
  // Untrusted: it quotes the agent, which may quote anybody.
  const text = new MarkdownString(mark.hover);
  text.isTrusted = false;
  text.supportHtml = false;
  return text;
}

function words(look: MarkLook, title: string | null, waits: boolean): NonNullable<DecorationRenderOptions['after']> {
  const verb = look.phase !== 'active' ? done(look.kind) : waits ? l10n.t('waits for you') : doing(look.kind);
  const symbol = look.phase === 'active' ? '●' : look.phase === 'failed' ? '✗' : '✓';
  const short = title === null ? '' : ` — ${shortened(title)}`;
  return {
    contentText: `${symbol} ${verb}${short}`,
    color: new ThemeColor(look.phase === 'active' ? `acpEditor.${look.kind}Foreground` : 'acpEditor.labelForeground'),
    fontStyle: 'italic',
    margin: '0 0 0 2.5em',
  };
}

function doing(kind: MarkKind): string {
  switch (kind) {
    case 'read':
      return l10n.t('reading');
    case 'edit':
      return l10n.t('editing');
    case 'delete':
      return l10n.t('deleting');
    case 'move':
      return l10n.t('moving');
    case 'search':
      return l10n.t('searching');
    case 'execute':
      return l10n.t('running');
    default:
      return l10n.t('working');
  }
}

/** Also of what failed, which the symbol before it says. */
function done(kind: MarkKind): string {
  switch (kind) {
    case 'read':
      return l10n.t('read');
    case 'edit':
      return l10n.t('edit');
    case 'delete':
      return l10n.t('deletion');
    case 'move':
      return l10n.t('move');
    case 'search':
      return l10n.t('search');
    case 'execute':
      return l10n.t('run');
    default:
      return l10n.t('work');
  }
}

function shortened(title: string): string {
  const line = title.replace(/\s+/g, ' ').trim();
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

/** An agent's words for a notification, in whose text VS Code makes links, also such as run commands. */
export function unlinked(text: string): string {
  return text.replaceAll('](', '] (');
}

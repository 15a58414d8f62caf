// What the driver reads off the page; put into every page before VS Code loads.
"use strict";
(() => {
  const plain = (text) => text.replaceAll("\u00a0", " ");
  const shown = (element) => element.getClientRects().length > 0;

  /** The first editor to be seen that the selector finds, with its line numbers by their place. */
  function find(selector) {
    const editor = [...document.querySelectorAll(selector)].find(shown);
    if (!editor) return null;
    const numbers = new Map();
    for (const row of editor.querySelectorAll(".margin-view-overlays > div")) {
      const number = row.querySelector(".line-numbers")?.textContent;
      if (number) numbers.set(row.style.top, Number(number));
    }
    return { editor, number: (row) => numbers.get(row.style.top) };
  }

  const nameOf = (group) => group.querySelector(".tab.active")?.dataset.resourceName ?? "";

  window.look = {
    /** [number from 1, text] of the lines to be seen. */
    lines(selector) {
      const found = find(selector);
      if (!found) return [];
      return [...found.editor.querySelectorAll(".view-lines > .view-line")]
        .map((line) => [found.number(line), plain(line.textContent)])
        .filter(([number]) => number);
    },

    /** [number, background] of lines that an extension's decoration colours as a whole. */
    colours(selector) {
      const found = find(selector);
      if (!found) return [];
      return [...found.editor.querySelectorAll(".view-overlays > div")]
        .flatMap((row) => [...row.querySelectorAll('[class*="ced-"]')].map((mark) => [row, mark]))
        .map(([row, mark]) => [found.number(row), getComputedStyle(mark).backgroundColor])
        .filter(([number, colour]) => number && colour !== "rgba(0, 0, 0, 0)");
    },

    /** [number, text] of what decorations put before or after the text of lines. */
    labels(selector) {
      const found = find(selector);
      if (!found) return [];
      return [...found.editor.querySelectorAll(".view-lines > .view-line")].flatMap((line) =>
        [...line.querySelectorAll("span")]
          .flatMap((span) => ["::before", "::after"].map((which) => getComputedStyle(span, which).content))
          .filter((content) => content.startsWith('"') && content !== '""')
          .map((content) => [found.number(line), plain(JSON.parse(content))]),
      );
    },

    inEditor() {
      return Boolean(document.activeElement?.closest(".editor-group-container .monaco-editor"));
    },

    /** Where keys go, in words. */
    focus() {
      const element = document.activeElement;
      const group = element?.closest(".editor-group-container");
      if (group) return `editor ${nameOf(group)}`;
      if (element?.closest(".quick-input-widget")) return "quick input";
      if (element?.closest(".notifications-toasts")) return "notification";
      return element?.closest(".part")?.id ?? element?.tagName ?? "";
    },
  };
})();

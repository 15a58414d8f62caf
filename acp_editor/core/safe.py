"""An agent's words made harmless where a person reads them.

Nothing invisible stays invisible, nothing turns the direction of the text, and Markdown cannot run a
command, load an image or hold HTML. Source for what Markdown is: CommonMark 0.31 with GFM's autolinks.
"""

from __future__ import annotations

import html
import re
import unicodedata

LABEL_LIMIT = 200
"""Characters of a label, of which more is cut."""

_PERHAPS_HIDDEN = re.compile(r"[^\x20-\x7e]")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>&#~|!$@])")
_LINE_START = re.compile(r"([-+=>]|\d{1,9}(?=[.)]))")
_WEB = re.compile(r"(?i)\b(https?|ftp|www)([:.])")
_TARGET = re.compile(r"\](\(|:)(\s*<?[^\s)>]*)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_FENCE = re.compile(r"(`{3,}|~{3,})([^`]*)$")
_ANY_FENCE = re.compile(r"[ \t>*+\-\d.)]+(```|~~~)")
_RUN = re.compile(r"`+")
_ALLOWED_SCHEMES = frozenset({"http:", "https:", "mailto:"})
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
_JOINER = "\u200d"


def visible(text: str, keep: str = "\n\t") -> str:
    """The text with every control, direction and invisible character written out.

    Those of ASCII become their pictures (␛), others their code point (⟨202E⟩). What is in `keep`
    stays; so do the joiners within emoji.
    """

    def shown(match: re.Match[str]) -> str:
        character = match[0]
        return character if character in keep or not _hidden(text, match.start()) else _written_out(character)

    return _PERHAPS_HIDDEN.sub(shown, text)


def plain(text: str, limit: int = LABEL_LIMIT) -> str:
    """One line for a label, cut at `limit` characters."""
    text = text[: limit * 4].strip().replace("\r\n", "\n").replace("\n", " ↵ ").replace("\t", " ")
    return cut(visible(text, keep=""), limit)


def notice(text: str) -> str:
    """A message's text: VS Code makes links of Markdown's in it, also such as run commands."""
    return visible(text).replace("](", "] (")


def cut(text: str, limit: int) -> str:
    """The text, or its beginning with an ellipsis."""
    return text if len(text) <= limit else text[: max(0, limit - 1)].rstrip() + "…"


def markdown(text: str, limit: int | None = None) -> str:
    """Markdown that shows the text as it stands, line for line, with no links."""
    text = visible(text if limit is None else cut(text, limit)).replace("\t", " ")
    return "  \n".join(_escaped(line.strip()) for line in text.split("\n"))


def fenced(text: str, language: str = "", limit: int | None = None) -> str:
    """A Markdown code block that the text cannot end."""
    text = text.replace("\r\n", "\n").strip("\n")
    body = visible(text if limit is None else cut(text, limit))
    fence = "`" * max(3, 1 + max((len(run) for run in _RUN.findall(body)), default=0))
    return f"{fence}{language}\n{body}\n{fence}"


def prose(text: str) -> str:
    """Markdown that an agent wrote, with its formatting but without HTML, images and other than web links.

    Where it is in doubt whether something is code, it is taken for text, so that at worst a backslash
    too many is seen.
    """
    lines = visible(text.replace("\r\n", "\n")).split("\n")
    # A fence that is indented or in a list may end where we do not see it: then none is trusted.
    trusted = not any(_ANY_FENCE.match(line) for line in lines)
    result: list[str] = []
    block: list[str] = []
    fence = ""
    for line in lines:
        if fence:
            result.append(line)
            bare = line.strip()
            if len(bare) >= len(fence) and set(bare) == {fence[0]}:
                fence = ""
            continue
        opening = _FENCE.match(line) if trusted else None
        if opening or not line.strip():
            result += _defused(block)
            block = []
            result.append(line)
            fence = opening[1] if opening else ""
        else:
            block.append(line)
    result += _defused(block)
    if fence:
        result.append(fence)
    return "\n".join(result)


def _hidden(text: str, index: int) -> bool:
    character = text[index]
    if character in _INVISIBLE or "\U000e0000" <= character <= "\U000e0fff":
        return True
    if character == _JOINER:
        around = text[index - 1 : index] + text[index + 1 : index + 2]
        return len(around) != 2 or not all(unicodedata.category(c) in ("So", "Sk", "Mn") for c in around)
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cs", "Co")


def _written_out(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨{code:04X}⟩"


def _escaped(line: str) -> str:
    line = _SPECIAL.sub(r"\\\1", line)
    line = _WEB.sub(lambda match: f"{match[1]}\\{match[2]}", line)
    # A digit cannot be escaped, the point behind it can.
    start = _LINE_START.match(line)
    if start and start[1].isdigit():
        return f"{start[1]}\\{line[start.end() :]}"
    return f"\\{line}" if start else line


def _defused(block: list[str]) -> list[str]:
    """A paragraph's lines without what could do harm; code within a line is left alone if it is sure."""
    pieces = [_code_spans(line) for line in block]
    if any(spans is None for spans in pieces) or any("\\`" in line for line in block):
        return _defuse("\n".join(block)).split("\n") if block else []
    result: list[str] = []
    for line, spans in zip(block, pieces, strict=True):
        parts: list[str] = []
        done = 0
        for start, end in spans or ():
            parts += [_defuse(line[done:start]), line[start:end]]
            done = end
        result.append("".join([*parts, _defuse(line[done:])]))
    return _split_targets(result)


def _split_targets(lines: list[str]) -> list[str]:
    """Keeps a link's target from standing on the line after its text, where it was not looked at."""
    return [re.sub(r"\]([(:]\s*)$", r"]\\\1", line) for line in lines]


def _code_spans(line: str) -> list[tuple[int, int]] | None:
    """Where code stands in a line, None if a run of backticks has no partner in it."""
    runs = [(match.start(), match.end()) for match in _RUN.finditer(line)]
    spans: list[tuple[int, int]] = []
    index = 0
    while index < len(runs):
        start, end = runs[index]
        close = next((n for n in range(index + 1, len(runs)) if runs[n][1] - runs[n][0] == end - start), None)
        if close is None:
            return None
        spans.append((start, runs[close][1]))
        index = close + 1
    return spans


def _defuse(text: str) -> str:
    text = re.sub(r"<(?=[A-Za-z/!?])", r"\\<", text)
    text = text.replace("![", "\\![")
    return _TARGET.sub(_checked_target, text)


def _checked_target(match: re.Match[str]) -> str:
    target = html.unescape(match[2]).replace("\\", "").strip().lstrip("<").strip()
    scheme = _SCHEME.match(target)
    harmless = not scheme or scheme[0].lower() in _ALLOWED_SCHEMES
    return match[0] if harmless else f"]\\{match[1]}{match[2]}"

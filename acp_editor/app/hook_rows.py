"""The installed hooks as rows: where each comes from, what it takes part in, what it said lately."""

from __future__ import annotations

from datetime import UTC, datetime

from acp_editor.lsp import messages
from acp_editor.policy.hook_records import Word
from acp_editor.policy.hooks import Hooks


def hook_rows(hooks: Hooks) -> list[messages.Hook]:
    """In the order in which they are heard, then those that could not be loaded."""
    rows = [_row(hooks, name, _problems(hooks, name)) for name in hooks.names]
    missing = dict.fromkeys(one.hook for one in hooks.problems if one.hook not in hooks.names)
    return [*rows, *(_row(hooks, name, _problems(hooks, name)) for name in missing)]


def _problems(hooks: Hooks, name: str) -> list[str]:
    return [problem.message for problem in hooks.problems if problem.hook == name]


def _row(hooks: Hooks, name: str, problems: list[str]) -> messages.Hook:
    package = hooks.packages.get(name)
    return {
        "name": name,
        "package": f"{package.name} {package.version}" if package else None,
        "takesPart": list(hooks.takes_part(name)),
        "said": dict(hooks.records.counts(name)),
        "last": [_word(word) for word in hooks.records.last(name)],
        "problems": problems,
    }


def _word(word: Word) -> messages.HookWord:
    when = datetime.fromtimestamp(word.time, UTC).isoformat(timespec="seconds")
    return {"time": when, "about": word.about, "said": word.said, "reason": word.reason}

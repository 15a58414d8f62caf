"""What the built-in agent does with a prompt: its slash commands, else the guided tour."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from acp_editor.agents import rewrites, tools
from acp_editor.agents.guide import guided_tour
from acp_editor.agents.prompt import Prompt
from acp_editor.agents.turn import Turn
from acp_editor.agents.workspace import File, lines_with, walk
from acp_editor.core.model import Command, PlanEntry

Script: TypeAlias = Callable[[Turn, str], Awaitable[None]]

MAX_ROWS: Final = 30
"""Rows of a plan; the last one stands for the rest."""

COMMANDS: Final = (
    Command("rename", "Rename a word over the whole workspace", "OLD NEW"),
    Command(
        "replace", "Replace a text over the whole workspace", "OLD NEW (in quotes where they have spaces)"
    ),
    Command("todo", "Find TODO, FIXME and HACK comments and plan them"),
    Command("run", "Run a command in the workspace", "COMMAND"),
    Command("tour", "A guided tour: read, propose one edit, check", "what to look at"),
    Command("help", "Say what I can do"),
)


async def play(turn: Turn, prompt: Prompt) -> None:
    """Does what the prompt asks for."""
    match prompt.command:
        case None:
            await guided_tour(turn, prompt)
        case ("tour", rest):
            await guided_tour(turn, Prompt(rest, prompt.subjects))
        case (name, rest) if script := _SCRIPTS.get(name):
            await script(turn, rest)
        case (name, _):
            await turn.say(f"I do not know `/{name}`. {_usage()}")


async def rename(turn: Turn, rest: str) -> None:
    match _words(rest):
        case [old, new] if re.fullmatch(r"\S+", old) and re.fullmatch(r"\S+", new) and old != new:
            await _rewrite(turn, "Rename", rewrites.whole_word(old), old, new)
        case _:
            await turn.say("Please name the word and its new name: `/rename OLD NEW`, two different words.")


async def replace(turn: Turn, rest: str) -> None:
    match _words(rest):
        case [old, new] if old and old != new:
            await _rewrite(turn, "Replace", rewrites.phrase(old), old, new)
        case _:
            await turn.say(
                "Please say what to replace and with what: `/replace OLD NEW`, "
                'in quotes where there are spaces, as in `/replace "old text" "new text"`.'
            )


async def todo(turn: Turn, rest: str) -> None:
    if rest:
        await turn.say("`/todo` takes nothing more; I look through the whole workspace.\n\n")
    await turn.think("Comments that say TODO, FIXME or HACK are promises. Let me collect them.")
    found = await tools.search(
        turn, "Search for TODO, FIXME and HACK", rewrites.TASK.pattern, lambda: rewrites.tasks(_files(turn))
    )
    if not found:
        await turn.say("Nothing is left to do: no comment here says TODO, FIXME or HACK.")
        return
    urgency = {"high": 0, "medium": 1, "low": 2}
    entries = sorted(map(rewrites.task_entry, found), key=lambda entry: urgency[entry.priority])
    turn.plan(*_shortened(entries))
    rows = "\n".join(f"- {entry.content}" for entry in entries[:MAX_ROWS])
    await turn.say(
        f"{_count(len(found), 'thing is', 'things are')} left to do, the urgent ones first:\n\n{rows}\n"
    )


async def run(turn: Turn, rest: str) -> None:
    if not rest:
        await turn.say("Please say what to run: `/run COMMAND`, for example `/run git status`.")
    elif turn.plan_only:
        await turn.say(f"I would run `{rest}`. The mode is “Plan only”, so I leave it at that.")
    else:
        await tools.run_and_tell(turn, rest)


async def usage(turn: Turn, rest: str) -> None:
    await turn.say(_usage())


async def _rewrite(turn: Turn, verb: str, pattern: re.Pattern[str], old: str, new: str) -> None:
    """One edit for each file that has a match, each asked for by itself."""
    await turn.think(f"First I look where `{old}` is.")
    found = await tools.search(
        turn,
        f"Search for `{old}`",
        old,
        lambda: [hit for file in _files(turn) for hit in lines_with(file, pattern)],
    )
    if not found:
        await turn.say(f"I found no `{old}` in this workspace, so there is nothing to change.")
        return
    files = list({hit.path: hit.name for hit in found}.items())
    counts = Counter(hit.path for hit in found)
    rows = [PlanEntry(f"{verb} in {name} ({_count(counts[path], 'line')})") for path, name in files]
    plan = turn.plan(*_shortened(rows))
    places = f"{_count(len(found), 'line')} of {_count(len(files), 'file')}"
    if turn.plan_only:
        await turn.say(f"`{old}` is in {places}. The mode is “Plan only”, so I leave it at that.")
        return
    await turn.say(f"`{old}` is in {places}. I ask before each file.\n\n")
    outcomes: Counter[str] = Counter()
    for index, (path, name) in enumerate(files):
        row = min(index, len(plan.entries) - 1)
        plan.start(row)
        text = await tools.text_of(turn, path)
        if text is None or not pattern.search(text):
            outcomes["failed"] += 1  # it is gone, or was changed since the search
        else:
            title = (
                f"{verb} `{old}` by `{new}` in {name}"
                if verb == "Replace"
                else f"Rename `{old}` to `{new}` in {name}"
            )
            after = rewrites.rewrite(text, pattern, new)
            outcomes[await tools.edit(turn, path, text, after, title, {"old": old, "new": new})] += 1
        if row == index:
            plan.done(row)
        await turn.look(0.5)
    plan.done(len(plan.entries) - 1)
    told = {"applied": "changed", "rejected": "left as you wished", "failed": "could not be changed"}
    parts = [f"{_count(outcomes[key], 'file')} {words}" for key, words in told.items() if outcomes[key]]
    await turn.say(f"{', '.join(parts)}.")


def _files(turn: Turn) -> list[File]:
    """The files of all the session's folders, each once."""
    found = {file.path: file for root in turn.roots for file in walk(root).files}
    return list(found.values())


def _shortened(entries: list[PlanEntry]) -> list[PlanEntry]:
    if len(entries) <= MAX_ROWS:
        return entries
    left = len(entries) - MAX_ROWS + 1
    return [*entries[: MAX_ROWS - 1], PlanEntry(f"and {left} more", "low")]


def _words(text: str) -> list[str] | None:
    try:
        return shlex.split(text)
    except ValueError:
        return None  # a quote without its other half


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _usage() -> str:
    rows = [
        f"- `/{command.name}{' ' + command.hint if command.hint else ''}`: {command.description}"
        for command in COMMANDS
    ]
    return "This is what I can do:\n\n" + "\n".join(rows) + "\n\nAnything else gets you the guided tour."


_SCRIPTS: Final[dict[str, Script]] = {
    "rename": rename,
    "replace": replace,
    "todo": todo,
    "run": run,
    "help": usage,
}

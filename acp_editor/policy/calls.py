"""What a tool call is about, gathered for the check from all that the agent said of it.

An agent may name a file in several places and a command in others. All of them count: a call is allowed only
if each is.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast
from urllib.parse import unquote, urlsplit

from acp_editor.core.diffs import MAX_PROPOSALS, proposals
from acp_editor.core.model import Json, Location, PermissionRequest, ToolCall
from acp_editor.policy.check import CheckInput
from acp_editor.policy.commands import parse_command
from acp_editor.policy.matching import File
from acp_editor.policy.rules import KINDS

_PATH_KEYS: Final = frozenset(
    {
        "path", "paths", "file", "files", "file_path", "file_paths", "filepath", "filename", "abs_path",
        "absolute_path", "notebook_path", "old_path", "new_path", "source_path", "destination_path",
        "target_path",
        "target_file", "dir_path", "directory", "src", "dst",
    }
)  # fmt: skip
_READING: Final = frozenset({"read", "search", "fetch", "think"})
_FOLDER_KEYS: Final = ("cwd", "workdir", "working_directory", "workingDirectory")
_COMMAND_KEYS: Final = ("command", "cmd", "script", "command_line")
_EDITOR_COMMANDS: Final = frozenset(
    {"view", "create", "str_replace", "insert", "undo_edit", "delete", "rename"}
)
"""What editing tools with a `command` field call their operations."""
MAX_FILES: Final = 1_000
"""Files of one call that are looked at, on the disk too; where it names more, no rule for files allows it."""

Resolve = Callable[[str], str]


def real_path(path: str) -> str:
    """The absolute path with its links resolved, as far as it exists."""
    return os.path.realpath(path)


def file_at(name: str, cwd: str, roots: Sequence[str], resolve: Resolve = real_path) -> File:
    """The file that an agent means by `name`, a path or a file URI; `cwd` is where relative ones begin."""
    text = name
    if name.lower().startswith("file:"):
        text = unquote(urlsplit(name).path)
        text = text[1:] if re.match(r"/[A-Za-z]:", text) else text
    joined = os.path.join(cwd, text)
    path = resolve(joined)
    relative = _under(path, [resolve(root) for root in roots])
    named = _under(os.path.normpath(joined), [os.path.normpath(root) for root in roots])
    return File(path, relative, named if named is not None else relative, os.path.isdir(path))


def _under(path: str, roots: Iterable[str]) -> str | None:
    """The path below the innermost root that it is in, with `/`."""
    best: str | None = None
    for root in roots:
        try:
            relative = os.path.relpath(path, root).replace(os.sep, "/")
        except ValueError:  # another drive
            continue
        inside = relative != ".." and not relative.startswith("../")
        if inside and (best is None or len(relative) < len(best)):
            best = relative
    return best


def input_from(
    call: ToolCall,
    request: PermissionRequest | None,
    cwd: str,
    roots: Sequence[str],
    resolve: Resolve = real_path,
    *,
    agent: str | None = None,
    read_only: bool = False,
) -> CheckInput:
    """What the check needs to know of a merged call and the request that asks about it, if one does."""
    given = _mapping(call.raw_input)
    commands = _commands(given, call.kind)
    if request is not None and request.command and request.command not in commands:
        commands.append(request.command)
    command = "\n".join(commands) if commands else None
    folder = next((given[key] for key in _FOLDER_KEYS if _text(given.get(key))), None)
    folder = os.path.join(cwd, folder or (request.cwd if request else None) or cwd)
    shown = _shown_paths(call.content)
    proposed = proposals(call, cwd)
    names = [location.path for location in call.locations] + shown + _input_paths(given)
    names += [path for proposal in proposed for path in (proposal.path, proposal.old_path) if path]
    names = [name for name in dict.fromkeys(names) if name]
    meta = _mapping(call.meta.get("claudeCode"))
    files = (file_at(name, cwd, roots, resolve) for name in names[:MAX_FILES])
    return CheckInput(
        kind=call.kind,
        tool=call.name or (meta["toolName"] if _text(meta.get("toolName")) else None),
        input=call.raw_input,
        files=tuple(dict.fromkeys(files)),
        command=command,
        targets=_targets(command, folder, roots, resolve) if command is not None else {},
        changes=command is None and bool(proposed or (shown and call.kind not in _READING)),
        astray=command is not None and file_at(folder, cwd, roots, resolve).relative is None,
        more_files=len(names) > MAX_FILES or len(proposed) >= MAX_PROPOSALS,
        agent=agent,
        read_only=read_only,
        session_id=request.session_id if request else None,
        tool_call_id=call.tool_call_id,
    )


def input_from_arguments(
    arguments: Mapping[str, Json], cwd: str, roots: Sequence[str], resolve: Resolve = real_path
) -> CheckInput:
    """The same for a dry run, `{tool, kind?, input?, command?, files?}`; raises ValueError."""
    for key in ("tool", "kind", "command"):
        if arguments.get(key) is not None and not _text(arguments[key]):
            raise ValueError(f"`{key}` has to be a text.")
    names: Json = arguments.get("files") or []
    if not isinstance(names, list) or not all(_text(name) for name in cast("list[Json]", names)):
        raise ValueError("`files` has to be a list of paths.")
    tool, kind, command = arguments.get("tool"), arguments.get("kind"), arguments.get("command")
    given = arguments.get("input")
    if kind is None:
        runs = command is not None or bool(_commands(_mapping(given), "other"))
        kind = "execute" if runs else tool if tool in KINDS else "other"
    locations = tuple(Location(name) for name in cast("list[str]", names))
    call = ToolCall("", tool, kind=kind, raw_input=given, locations=locations)
    request = PermissionRequest("", (), command=command)
    return input_from(call, request, cwd, roots, resolve)


def _targets(command: str, folder: str, roots: Sequence[str], resolve: Resolve) -> dict[str, File]:
    """The files that a command redirects to and from, but for those whose folder cannot be told."""
    parsed = parse_command(command)
    return {
        name: file_at(name, folder, roots, resolve)
        for name in parsed.writes + parsed.reads
        if os.path.isabs(name) or not parsed.changes_folder
    }


def _text(value: Json) -> bool:
    return isinstance(value, str) and bool(value)


def _mapping(value: Json) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower()


def _commands(given: Mapping[str, Any], kind: str) -> list[str]:
    """The command lines in a raw input; a list of words becomes the line that means the same."""
    found: list[str] = []
    paths = any(_snake(key) in _PATH_KEYS for key in given)
    for key in _COMMAND_KEYS:
        value: Json = given.get(key)
        if isinstance(value, list):
            words = [str(word) for word in cast("list[Json]", value)]
            value = words[0] if len(words) == 1 else shlex.join(words)
        if not _text(value) or (paths and kind != "execute" and value in _EDITOR_COMMANDS):
            continue
        arguments: Json = given.get("args") if key == "command" else None
        if isinstance(arguments, list) and arguments:
            value = shlex.join([value, *(str(word) for word in cast("list[Json]", arguments))])
        elif _text(arguments):
            value = f"{value} {arguments}"
        if value not in found:
            found.append(value)
    return found


def _shown_paths(content: Sequence[Json]) -> list[str]:
    """The files of the edits that a call shows, as named, also where the rest of an edit cannot be read."""
    found: list[str] = []
    for item in content:
        block = _mapping(item)
        if block.get("type") != "diff":
            continue
        changes: Json = block.get("changes")
        for change in [block, *(cast("list[Json]", changes) if isinstance(changes, list) else [])]:
            entry = _mapping(change)
            found += [entry[key] for key in ("path", "oldPath", "newPath") if _text(entry.get(key))]
    return found


def _input_paths(given: Mapping[str, Any]) -> list[str]:
    """The files that a raw input names, at its top and in its lists of edits."""
    found: list[str] = []
    for key, value in given.items():
        name = _snake(str(key))
        if name in _PATH_KEYS:
            values: list[Json] = cast("list[Json]", value) if isinstance(value, list) else [value]
            for one in values:
                if _text(one):
                    found.append(cast("str", one))
                else:
                    found += _input_paths(_mapping(one))
        elif name in ("changes", "edits", "operations"):
            if isinstance(value, Mapping):
                found += [path for path in cast("Mapping[str, Json]", value) if "/" in path or "." in path]
            elif isinstance(value, list):
                for one in cast("list[Json]", value):
                    found += _input_paths(_mapping(one))
    return found

"""An operation ("edit app.py") in the words of whatever tools an agent offers its model."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

OLD = '    return "Hello, " + name'
NEW = '    return f"Hello, {name}!"'
TASKS = ("Read app.py", "Edit app.py", "Run it")


class Call(NamedTuple):
    """A call of a tool; the arguments of a `custom` tool are one free text."""

    name: str
    arguments: Any
    custom: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])
    custom: bool = False

    @property
    def properties(self) -> Mapping[str, Any]:
        return self.schema.get("properties") or {}

    def first(self, *names: str, default: str = "") -> str:
        """The first of the names that it has as a parameter."""
        return next((name for name in names if name in self.properties), default)


NAMES: Mapping[str, Sequence[str]] = {
    "read": (
        "mcp__acp__Read",
        "read_text_file",
        "read",
        "Read",
        "read_file",
        "ReadFile",
        "view_file",
        "view",
    ),
    "edit": (
        *("mcp__acp__Edit", "edit", "Edit", "replace", "edit_file", "StrReplaceFile"),
        *("search_replace", "str_replace", "apply_patch", "patch", "replace_in_file"),
    ),
    "write": (
        *("mcp__acp__Write", "write_text_file", "write", "Write", "write_file", "WriteFile"),
        *("write_to_file", "create_file", "create"),
    ),
    "shell": (
        *("mcp__acp__Bash", "bash", "Bash", "run_shell_command", "Shell", "shell", "exec_command"),
        *("shell_command", "execute_command", "execute", "terminal", "local_shell"),
    ),
    "plan": ("TodoWrite", "todowrite", "write_todos", "todo_write", "SetTodoList", "todo", "update_plan"),
    "grep": ("grep", "Grep", "grep_search", "search_file_content", "GrepTool", "ripgrep", "search_files"),
    "enterplan": ("enter_plan_mode", "EnterPlanMode"),
    "exitplan": ("exit_plan_mode", "ExitPlanMode"),
    "taskcreate": ("TaskCreate",),
    "taskupdate": ("TaskUpdate",),
}
PATHS = ("file_path", "filePath", "absolute_path", "path", "target_file", "filename", "file")


def fit(operation: str, given: Mapping[str, Any], tools: Sequence[Tool], workspace: str) -> Call | None:
    """None where the agent has no tool for it."""
    by_name = {tool.name: tool for tool in tools}
    tool = next((by_name[name] for name in NAMES[operation] if name in by_name), None)
    if tool is None:
        return _by_shell(operation, given, tools, workspace)
    if tool.custom:
        patched = tool.name == "apply_patch"
        return Call(tool.name, patch(given["path"]) if patched else given.get("cmd", ""), True)
    arguments = _arguments(operation, given, tool, workspace)
    for name in tool.schema.get("required") or ():
        if name not in arguments:
            arguments[name] = 60_000 if "timeout" in name else default(tool.properties.get(name, {}))
    return Call(tool.name, arguments)


def _by_shell(operation: str, given: Mapping[str, Any], tools: Sequence[Tool], workspace: str) -> Call | None:
    """For agents that do everything with a shell and patches, such as Codex."""
    names = {tool.name: tool for tool in tools}
    if operation == "write" and "apply_patch" in names and names["apply_patch"].custom:
        added = "".join(f"+{line}\n" for line in given["content"].splitlines())
        return Call(
            "apply_patch", f"*** Begin Patch\n*** Add File: {given['path']}\n{added}*** End Patch", True
        )
    if not names.keys() & {"exec_command", "shell_command"}:
        return None
    match operation:
        case "grep":
            command = f"grep -rn {given['pattern']} ."
        case "read" if "offset" in given:
            last = given["offset"] + given["limit"] - 1
            command = f"sed -n {given['offset']},{last}p {given['path']}"
        case "read":
            command = f"cat {given['path']}"
        case "edit" if "exec_command" in names:
            command = f"apply_patch <<'EOF'\n{patch(given['path'])}\nEOF"
            return fit("shell", {"cmd": command}, tools, workspace)
        case _:
            return None
    return fit("shell", {"cmd": command, "quiet": True}, tools, workspace)


def patch(path: str) -> str:
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n def greet(name):\n-{OLD}\n+{NEW}\n*** End Patch"


def _arguments(operation: str, given: Mapping[str, Any], tool: Tool, workspace: str) -> dict[str, Any]:
    path = tool.first(*PATHS, default="path")
    match operation:
        case "read":
            return {path: os.path.join(workspace, given["path"]), **_window(given, tool)}
        case "write":
            text = tool.first("content", "text", "file_text", "contents", "new_text", default="content")
            return {path: os.path.join(workspace, given["path"]), text: given["content"]}
        case "edit":
            return _edit(tool, path, os.path.join(workspace, given["path"]), given["path"])
        case "shell":
            return _shell(given, tool)
        case "plan":
            return _plan(tool, given["state"])
        case "grep":
            return {tool.first("pattern", "query", "regex", default="pattern"): given["pattern"]}
        case "taskcreate":
            task = TASKS[given["n"]]
            return {"subject": task, "description": task, "activeForm": "Doing it"}
        case "taskupdate":
            return {"taskId": given["id"], "status": given["status"]}
        case "exitplan" if "plan" in tool.properties:
            return {"plan": given["plan"]}
        case _:
            return {}


def _window(given: Mapping[str, Any], tool: Tool) -> dict[str, Any]:
    if "offset" not in given:
        return {}
    start, count = given["offset"], given["limit"]
    pairs = (("offset", "limit"), ("line_offset", "n_lines"), ("start_line", "end_line"))
    for first, second in pairs:
        if first in tool.properties and second in tool.properties:
            return {first: start, second: start + count - 1 if second == "end_line" else count}
    return {}


def _edit(tool: Tool, path: str, absolute: str, relative: str) -> dict[str, Any]:
    if tool.name == "apply_patch":
        return {tool.first("input", "patchText", "patch", default="input"): patch(relative)}
    if tool.name == "StrReplaceFile":
        return {"path": absolute, "edit": {"old": OLD, "new": NEW}}
    if tool.name == "search_replace" and "content" in tool.properties:
        text = f"<<<<<<< SEARCH\n{OLD}\n=======\n{NEW}\n>>>>>>> REPLACE"
        return {"file_path": absolute, "content": text}
    if tool.name == "patch" and "patch" in tool.properties:
        return {"path": absolute, "patch": f"<<<<<<< ORIGINAL\n{OLD}\n=======\n{NEW}\n>>>>>>> UPDATED"}
    if "edits" in tool.properties:
        one = Tool("edits", tool.properties["edits"].get("items") or {})
        return {path: absolute, "edits": [_replacement(one)]}
    reason = {"instruction": "use an f-string"} if "instruction" in tool.properties else {}
    return {path: absolute, **_replacement(tool), **reason}


def _replacement(tool: Tool) -> dict[str, str]:
    old = tool.first(
        "old_string", "oldString", "old_str", "oldText", "old_text", "search", default="old_string"
    )
    new = tool.first(
        "new_string", "newString", "new_str", "newText", "new_text", "replace", default="new_string"
    )
    return {old: OLD, new: NEW}


def _shell(given: Mapping[str, Any], tool: Tool) -> dict[str, Any]:
    line = given["cmd"]
    if tool.name == "local_shell":
        return {"command": ["bash", "-lc", line]}
    name = tool.first("command", "cmd", "commands", "script", default="command")
    listed = (tool.properties.get(name) or {}).get("type") == "array"
    arguments: dict[str, Any] = {name: ["bash", "-lc", line] if listed else line}
    if "description" in tool.properties:
        arguments["description"] = "Run a demo command"
    if "sandbox_permissions" in tool.properties and not given.get("quiet"):
        arguments |= {
            "sandbox_permissions": "require_escalated",
            "justification": "to run outside the sandbox",
        }
    if "is_background" in tool.properties:
        arguments["is_background"] = False
    return arguments


def _plan(tool: Tool, state: int) -> dict[str, Any]:
    statuses = ("completed", "in_progress", "pending") if state == 0 else ("completed",) * 3
    if tool.name == "update_plan":
        steps = [{"step": task, "status": status} for task, status in zip(TASKS, statuses, strict=True)]
        return {"explanation": "demo", "plan": steps}
    key = "todos" if "todos" in tool.properties else next(iter(tool.properties), "todos")
    item = _item(tool, key)
    entries = [_entry(item, number, *pair) for number, pair in enumerate(zip(TASKS, statuses, strict=True))]
    arguments: dict[str, Any] = {key: entries}
    if "action" in tool.properties:
        arguments["action"] = "write"
    return arguments


def _item(tool: Tool, key: str) -> Mapping[str, Any]:
    """The properties of one entry of a list of tasks, whatever way the schema writes it."""
    parameter = tool.properties.get(key, {})
    item: Mapping[str, Any] = {}
    for variant in (parameter, *parameter.get("anyOf", ())):
        item = variant.get("items") or item
    if "$ref" in item:
        definitions = tool.schema.get("$defs") or tool.schema.get("definitions") or {}
        item = definitions.get(item["$ref"].rsplit("/", 1)[-1], {})
    return item.get("properties", {})


def _entry(item: Mapping[str, Any], number: int, task: str, status: str) -> dict[str, str]:
    names = [name for name in ("content", "title", "description", "text", "task") if name in item]
    entry = dict.fromkeys(names[:2] if names[:1] == ["description"] else names[:1] or ["content"], task)
    known = json.dumps(item.get("status", {}))
    if status == "completed" and '"completed"' not in known and '"done"' in known:
        status = "done"
    if status == "pending" and '"pending"' not in known and '"todo"' in known:
        status = "todo"
    if "status" in item or not item:
        entry["status"] = status
    extras = {"activeForm": f"Doing: {task}", "id": str(number + 1), "priority": "medium"}
    return entry | {name: value for name, value in extras.items() if name in item}


def default(schema: Mapping[str, Any]) -> Any:
    """Something that a parameter of that schema takes."""
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), None)
    if schema.get("enum"):
        return schema["enum"][0]
    values = {"string": "demo", "integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}
    return values.get(str(kind), "demo")

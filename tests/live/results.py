"""What was seen to work with real agents: taken from their traffic, kept in results.json.

One row for each agent and protocol version:
`scenarios` says "ok" or what went wrong; `seen` is what the agent said and did in its scenario "full";
`faults` are those that the server told of and `deviations` what the schema does not allow, by scenario.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

import lab
from acp_editor.acp.negotiate import spoken
from acp_editor.core.model import Capabilities, Fault

Json: TypeAlias = Any
Results: TypeAlias = dict[str, dict[str, Json]]
Change: TypeAlias = Callable[[Results], None]
Traffic: TypeAlias = list[tuple[str, Json]]

SESSIONS = ("load", "resume", "list", "close", "delete", "fork")
PROMPTS = ("image", "audio", "embedded_context")
MCP = ("mcp_stdio", "mcp_http", "mcp_sse")


def seen(traffic: Traffic, state: dict[str, Json]) -> dict[str, Json]:
    """What one conversation shows of an agent; `state` is the server's at its end."""
    asked = {m["id"]: m["method"] for way, m in traffic if way == "out" and "method" in m and "id" in m}
    answers = [
        (asked.get(m["id"]), m["result"])
        for way, m in traffic
        if way == "in" and "method" not in m and "result" in m
    ]
    answer = next(result for method, result in answers if method == "initialize")
    dialect = spoken(answer)
    faults: list[Fault] = []
    info = dialect.decode_info(answer, faults)
    can = info.capabilities
    theirs = [m for way, m in traffic if way == "in" and "method" in m]
    updates = [m["params"]["update"] for m in theirs if m["method"] == "session/update"]
    requests = [m["method"] for m in theirs if "id" in m]
    calls = [update for update in updates if update["sessionUpdate"].startswith("tool_call")]
    calls += [call for m in theirs if (call := _asked_for(m))]
    session = state["sessions"][0] if state.get("sessions") else {}
    return {
        "title": info.title or info.name,
        "version": info.version,
        "protocol": dialect.VERSION,
        "sessions": _named(can, SESSIONS),
        "prompts": _named(can, PROMPTS),
        "mcp": [name.removeprefix("mcp_") for name in _named(can, MCP)],
        "reads": "fs/read_text_file" in requests,
        "writes": "fs/write_text_file" in requests,
        "terminals": _terminals(requests, updates),
        "permissions": requests.count("session/request_permission"),
        "diffs": any(item.get("type") == "diff" for call in calls for item in call.get("content") or ()),
        "locations": any(call.get("locations") for call in calls),
        "lines": any(
            place.get("line") is not None for call in calls for place in call.get("locations") or ()
        ),
        "told": sorted({_without_chunk(update["sessionUpdate"]) for update in updates}),
        "options": [
            option["configId"] for option in session.get("config", ()) if option["source"] != "acp-editor"
        ],
        "commands": len(session.get("commands", ())),
    }


def faults(state: dict[str, Json]) -> list[str]:
    """The codes of what the server told of."""
    return sorted({fault["code"] for fault in state.get("faults", ())})


def _asked_for(message: Json) -> Json:
    """The tool call that a permission is asked for, in either version."""
    if message.get("method") != "session/request_permission":
        return None
    params = message["params"]
    return params.get("toolCall") or (params.get("subject") or {}).get("toolCall")


def _named(can: Capabilities, names: Iterable[str]) -> list[str]:
    return [name for name in names if getattr(can, name)]


def _terminals(requests: list[str], updates: list[Json]) -> str:
    """Whose terminals its commands run in: the editor's, its own that it shows, or none that is seen."""
    if "terminal/create" in requests:
        return "editor"
    if any(update["sessionUpdate"].startswith("terminal_") for update in updates) or any(
        any(key.startswith("terminal_") for key in update.get("_meta") or ()) for update in updates
    ):
        return "agent"
    return "none"


def _without_chunk(kind: str) -> str:
    return kind.removesuffix("_chunk").removesuffix("_update")


# -- the file ------------------------------------------------------------------------------------


def load(path: Path) -> Results:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def update(path: Path, change: Change) -> None:
    rows = load(path)
    change(rows)
    text = json.dumps(dict(sorted(rows.items())), indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def _row(rows: Results, name: str, version: int) -> dict[str, Json]:
    agent = lab.AGENTS[name]
    row = rows.setdefault(f"{name} {version}", {"scenarios": {}})
    row |= {"agent": name, "protocol": version, "package": agent.npm or agent.pip}
    return row


def passed(
    name: str,
    version: int,
    scenario: str,
    found: dict[str, Json],
    told: Iterable[str],
    deviations: Iterable[str],
) -> Change:
    """`told` are codes of faults."""

    def change(rows: Results) -> None:
        row = _row(rows, name, version)
        row["scenarios"][scenario] = "ok"
        row.setdefault("faults", {})[scenario] = list(told)
        row.setdefault("deviations", {})[scenario] = sorted(deviations)
        if scenario == "full":
            row["seen"] = found

    return change


def failed(name: str, version: int, scenario: str, why: str) -> Change:
    def change(rows: Results) -> None:
        _row(rows, name, version)["scenarios"][scenario] = why.splitlines()[0][:200] if why else "failed"

    return change

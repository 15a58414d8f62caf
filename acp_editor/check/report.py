"""What a check found, as text for a person and as JSON for a program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Final

from acp_editor.check.run import Run, Version
from acp_editor.core.model import AgentInfo, Capabilities, Json
from acp_editor.core.safe import plain, visible

OK: Final = 0
WRONG: Final = 1
NOT_CHECKED: Final = 2

_LABELS: Final = {
    "load": "load",
    "resume": "resume",
    "list": "list",
    "close": "close",
    "delete": "delete",
    "fork": "fork",
    "logout": "log out",
    "image": "images",
    "audio": "audio",
    "embedded_context": "embedded files",
    "mcp_stdio": "MCP over stdio",
    "mcp_http": "MCP over HTTP",
    "mcp_sse": "MCP over SSE",
    "additional_directories": "several folders",
    "prompt_queueing": "prompts in mid turn",
}


def exit_code(runs: Mapping[Version, Run]) -> int:
    """WRONG where anything is, NOT_CHECKED where no turn could be had (no start, no login)."""
    if any(run.info is not None and run.wrong for run in runs.values()):
        return WRONG
    return OK if all(run.complete for run in runs.values()) else NOT_CHECKED


def as_json(command: Sequence[str], runs: Mapping[Version, Run]) -> Json:
    return {
        "command": list(command),
        "exit": exit_code(runs),
        "versions": {str(version): _run(run) for version, run in sorted(runs.items())},
    }


def _run(run: Run) -> Json:
    info = run.info
    return {
        "speaks": info is not None,
        "failure": run.failure,
        "stderr": run.stderr,
        "agent": {"name": info.name, "title": info.title, "version": info.version} if info else None,
        "capabilities": asdict(info.capabilities) if info else None,
        "authMethods": [
            {"id": method.method_id, "name": method.name, "type": method.kind} for method in info.auth_methods
        ]
        if info
        else [],
        "steps": [asdict(step) for step in run.steps],
        "told": dict(run.told),
        "faults": [
            {"code": fault.code, "message": fault.message, "count": count, "detail": fault.detail}
            for fault, count in run.faults
        ],
    }


def as_text(command: Sequence[str], runs: Mapping[Version, Run]) -> str:
    lines = [plain(" ".join(command))]
    for version, run in sorted(runs.items()):
        lines += ["", *_text(version, run)]
    verdict = {
        OK: "Nothing wrong was seen.",
        WRONG: "Something is wrong.",
        NOT_CHECKED: "It could not be checked.",
    }
    return "\n".join([*lines, "", verdict[exit_code(runs)]]) + "\n"


def _text(version: Version, run: Run) -> Iterator[str]:
    if run.info is not None:
        yield f"Version {version}: {_who(run.info)}"
        yield f"  can: {_abilities(run.info.capabilities)}"
        if run.info.auth_methods:
            methods = ", ".join(plain(method.method_id) for method in run.info.auth_methods)
            yield f"  login: {methods}"
    for step in run.steps:
        detail = plain(step.detail, 300)
        yield f"  {step.name:20} {step.outcome:12} {detail}".rstrip()
    if run.told:
        told = ", ".join(f"{plain(kind)} {count}" for kind, count in sorted(run.told.items()))
        yield f"  sent: {told}"
    for fault, count in run.faults:
        times = "once" if count == 1 else f"{count} times"
        yield f"  wrong: {fault.code} ({times}): {plain(fault.message, 300)}"
        if fault.detail:
            yield f"         last: {plain(fault.detail, 300)}"
    if run.failure is not None:
        yield f"  failed: {plain(run.failure, 300)}"
        for line in run.stderr.strip().splitlines()[-10:]:
            yield f"          {visible(line)}"


def _who(info: AgentInfo) -> str:
    name = plain(info.title or info.name or "an agent that does not say its name")
    return f"{name} {plain(info.version)}" if info.version else name


def _abilities(abilities: Capabilities) -> str:
    can = asdict(abilities)
    return ", ".join(label for name, label in _LABELS.items() if can[name]) or "nothing beyond the protocol"

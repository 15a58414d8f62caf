"""The draft of version 2: what an agent says, read into the model, and what we say, written out.

Null clears a field; the turn ends with a state update; diffs are changes with a patch; terminals are
the agent's, their output base64; permission requests have a title and a subject.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from acp_editor.acp import encode
from acp_editor.acp.blocks import (
    note_unknown,
    read_command,
)
from acp_editor.acp.encode import Call, Workspace
from acp_editor.acp.lenient import (
    Faults,
    Object,
    missing,
    optional_string,
    read_items,
    required_string,
    wrong_type,
)
from acp_editor.acp.starts import options_of, started_id
from acp_editor.acp.updates import (
    read_call,
)
from acp_editor.acp.updates_v2 import CALL_RULES, decode_update, read_config_option
from acp_editor.acp.wire import (
    Anything,
    Implementation,
    Items,
    McpCapabilities,
    Offered,
    PromptCapabilities,
    Text,
    Variable,
    Wire,
    or_default,
    permission_options,
    read,
)
from acp_editor.core.model import (
    AgentInfo,
    AuthMethod,
    Capabilities,
    CommandsUpdate,
    ConfigOption,
    ConfigUpdate,
    Json,
    PermissionRequest,
    SessionStart,
    Update,
    is_object,
)

__all__ = ["decode_update"]

VERSION: Final[Literal[2]] = 2


# -- answers and requests of an agent ------------------------------------------------------------


class _SessionCapabilities(Wire):
    prompt: Annotated[PromptCapabilities, or_default(PromptCapabilities())] = PromptCapabilities()
    mcp: Annotated[McpCapabilities, or_default(McpCapabilities())] = McpCapabilities()
    delete: Offered = False
    fork: Offered = False
    additional_directories: Offered = False


class _AgentCapabilities(Wire):
    session: Annotated[_SessionCapabilities | None, or_default(None)] = None


class _AuthMethod(Wire):
    method_id: str
    name: str
    description: Text = None
    type: Annotated[str, or_default("agent")] = "agent"
    args: list[str] | None = None
    env: list[Variable] | None = None


class _Initialized(Wire):
    info: Implementation
    capabilities: Annotated[_AgentCapabilities, or_default(_AgentCapabilities())] = _AgentCapabilities()
    auth_methods: Items[_AuthMethod] = Field(default_factory=list[_AuthMethod])


class _RequestPermission(Wire):
    session_id: str
    title: Text = None
    description: Text = None
    subject: Anything = None
    options: Json


def decode_info(raw: Json, faults: Faults) -> AgentInfo:
    """The answer to initialize; raises Unreadable where it has no `info`."""
    answer = read(_Initialized, raw, "The answer to initialize", faults)
    session = answer.capabilities.session
    has_sessions, session = session is not None, session or _SessionCapabilities()
    return AgentInfo(
        protocol=2,
        name=answer.info.name,
        title=answer.info.title or answer.info.name,
        version=answer.info.version,
        auth_methods=tuple(
            AuthMethod(
                method.method_id,
                method.name,
                method.description,
                method.type,
                tuple(method.args or ()),
                {variable.name: variable.value for variable in method.env or ()},
            )
            for method in answer.auth_methods
        ),
        capabilities=Capabilities(
            load=has_sessions,
            resume=has_sessions,
            list=has_sessions,
            close=has_sessions,
            delete=session.delete,
            fork=session.fork,
            image=session.prompt.image,
            audio=session.prompt.audio,
            embedded_context=session.prompt.embedded_context,
            mcp_stdio=session.mcp.stdio,
            mcp_http=session.mcp.http,
            mcp_sse=False,
            logout=bool(answer.auth_methods),
            additional_directories=session.additional_directories,
        ),
    )


def decode_session(raw: Json, session_id: str | None, faults: Faults) -> SessionStart:
    """The answer to session/new and resume; raises Unreadable if it names no session."""
    session_id = started_id(raw, session_id)
    answer: Object = raw if is_object(raw) else {}
    updates: list[Update] = []
    options = decode_options(raw, faults)
    if options is not None:
        updates.append(ConfigUpdate(options))
    commands: Json = answer.get("availableCommands")
    if commands is not None:
        read_ = read_items(commands, "availableCommands", "An answer", faults, read_command)
        updates += [] if read_ is None else [CommandsUpdate(read_)]
    return SessionStart(session_id, tuple(updates))


def decode_options(raw: Json, faults: Faults) -> tuple[ConfigOption, ...] | None:
    """The whole list of options in an answer, None where it has none."""
    return options_of(raw, read_config_option, faults)


def decode_permission(raw: Json, faults: Faults) -> PermissionRequest:
    """Raises Unreadable where it cannot be answered: no session, no options."""
    what = "session/request_permission"
    request = read(_RequestPermission, raw, what, faults)
    if request.title is None:
        missing(faults, what, "title", "a string", raw)
    options = permission_options(request.options, what, faults)
    title, subject = request.title or "", request.subject
    kind: Json = subject.get("type") if is_object(subject) else None
    if not is_object(subject) or not isinstance(kind, str):
        if subject is not None:
            wrong_type(faults, what, "subject", "an object with a type", subject)
        return PermissionRequest(request.session_id, options, title, request.description, subject=subject)
    match kind:
        case "tool_call" if is_object(subject.get("toolCall")):
            call = read_call(subject["toolCall"], what, faults, CALL_RULES, None)
            return PermissionRequest(
                request.session_id,
                options,
                title,
                request.description,
                tool_call=call,
                tool_call_id=call.tool_call_id if call else None,
                subject=subject,
            )
        case "command":
            return PermissionRequest(
                request.session_id,
                options,
                title,
                request.description,
                command=required_string(subject, "command", what, faults),
                cwd=required_string(subject, "cwd", what, faults),
                terminal_id=optional_string(subject, "terminalId", what, faults),
                tool_call_id=optional_string(subject, "toolCallId", what, faults),
                subject=subject,
            )
        case "tool_call":
            missing(faults, what, "toolCall", "an object", subject)
        case _:
            note_unknown(kind, "subject", what, faults)
    return PermissionRequest(request.session_id, options, title, request.description, subject=subject)


# -- what we say ---------------------------------------------------------------------------------

CLIENT_CAPABILITIES: Final[Object] = {"auth": {"terminal": {}}, "elicitation": encode.ELICITATION}


def initialize(client: Object) -> Object:
    return {"protocolVersion": 2, "info": client, "capabilities": CLIENT_CAPABILITIES}


def new_session(where: Workspace) -> Call:
    return "session/new", where.params(says_stdio=True)


def load_session(session_id: str, where: Workspace) -> Call:
    method, params = resume_session(session_id, where)
    return method, {**params, "replayFrom": {"type": "start"}}


def resume_session(session_id: str, where: Workspace) -> Call:
    return "session/resume", {"sessionId": session_id, **where.params(says_stdio=True)}


def login(method_id: str) -> Call:
    return "auth/login", {"methodId": method_id}


def logout() -> Call:
    return "auth/logout", {}


def set_config(session_id: str, option: ConfigOption, value: Json) -> Call:
    kind = {"choice": "id", "boolean": "boolean"}.get(option.kind, option.kind)
    return "session/set_config_option", {
        "sessionId": session_id,
        "configId": option.config_id,
        "type": kind,
        "value": value,
    }

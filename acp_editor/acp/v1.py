"""Version 1 of the protocol: what an agent says, read into the model, and what we say, written out.

Null leaves a field as it was; the turn ends with the answer to `session/prompt`; diffs are old and new
text; terminals are the client's, though some agents report their own in `_meta`.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from acp_editor.acp import encode
from acp_editor.acp.blocks import note_unknown
from acp_editor.acp.encode import Call, Workspace
from acp_editor.acp.lenient import (
    Faults,
    Object,
    list_items,
    missing,
    optional_string,
    required_string,
)
from acp_editor.acp.starts import options_of, started_id
from acp_editor.acp.updates import (
    read_call,
)
from acp_editor.acp.updates_v1 import CALL_RULES, decode_update, read_config_option
from acp_editor.acp.wire import (
    Anything,
    Flag,
    Implementation,
    Items,
    McpCapabilities,
    Offered,
    PromptCapabilities,
    Text,
    Wire,
    or_default,
    permission_options,
    read,
)
from acp_editor.core.model import (
    AgentInfo,
    AuthMethod,
    Capabilities,
    Choice,
    ConfigOption,
    ConfigUpdate,
    Json,
    PermissionRequest,
    SessionStart,
    ToolCallUpsert,
    Update,
    is_object,
)

__all__ = ["decode_update"]

VERSION: Final[Literal[1]] = 1

STOP_REASONS: Final = frozenset({"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"})

# -- answers and requests of an agent ------------------------------------------------------------


class _SessionCapabilities(Wire):
    list: Offered = False
    delete: Offered = False
    resume: Offered = False
    close: Offered = False
    fork: Offered = False
    additional_directories: Offered = False


class _Auth(Wire):
    logout: Offered = False


class _AgentCapabilities(Wire):
    load_session: Flag = False
    prompt_capabilities: Annotated[PromptCapabilities, or_default(PromptCapabilities())] = (
        PromptCapabilities()
    )
    mcp_capabilities: Annotated[McpCapabilities, or_default(McpCapabilities())] = McpCapabilities()
    session_capabilities: Annotated[_SessionCapabilities, or_default(_SessionCapabilities())] = (
        _SessionCapabilities()
    )
    auth: Annotated[_Auth, or_default(_Auth())] = _Auth()


class _AuthMethod(Wire):
    id: str
    name: str
    description: Text = None
    type: Annotated[str, or_default("agent")] = "agent"
    args: list[str] | None = None
    env: dict[str, str] | None = None


class _Initialized(Wire):
    agent_capabilities: Annotated[_AgentCapabilities, or_default(_AgentCapabilities())] = _AgentCapabilities()
    auth_methods: Items[_AuthMethod] = Field(default_factory=list[_AuthMethod])
    agent_info: Annotated[Implementation | None, or_default(None)] = None


class _RequestPermission(Wire):
    session_id: str
    tool_call: Anything = None
    options: Json


def decode_info(raw: Json, faults: Faults) -> AgentInfo:
    """The answer to initialize; raises Unreadable where it is no object."""
    answer = read(_Initialized, raw, "The answer to initialize", faults)
    can, session = answer.agent_capabilities, answer.agent_capabilities.session_capabilities
    return AgentInfo(
        protocol=1,
        name=answer.agent_info and answer.agent_info.name,
        title=answer.agent_info and (answer.agent_info.title or answer.agent_info.name),
        version=answer.agent_info and answer.agent_info.version,
        auth_methods=tuple(
            AuthMethod(m.id, m.name, m.description, m.type, tuple(m.args or ()), m.env or {})
            for m in answer.auth_methods
        ),
        capabilities=Capabilities(
            load=can.load_session,
            resume=session.resume,
            list=session.list,
            close=session.close,
            delete=session.delete,
            fork=session.fork,
            image=can.prompt_capabilities.image,
            audio=can.prompt_capabilities.audio,
            embedded_context=can.prompt_capabilities.embedded_context,
            mcp_stdio=True,
            mcp_http=can.mcp_capabilities.http,
            mcp_sse=can.mcp_capabilities.sse,
            logout=can.auth.logout,
            additional_directories=session.additional_directories,
            prompt_queueing=_queues_prompts(can.model_extra or {}),
        ),
    )


def _queues_prompts(extra: Object) -> bool:
    """Version 1 has no capability for it; Claude's adapter says so under its own name in `_meta`."""
    meta: Json = extra.get("_meta")
    return is_object(meta) and any(
        is_object(value) and value.get("promptQueueing") is True for value in meta.values()
    )


def decode_session(raw: Json, session_id: str | None, faults: Faults) -> SessionStart:
    """The answer to session/new, load, resume and fork; raises Unreadable if it names no session."""
    what = "The answer to a session request"
    session_id = started_id(raw, session_id)
    answer: Object = raw if is_object(raw) else {}
    updates: list[Update] = []
    for key, origin, name in (("modes", "mode", "Mode"), ("models", "model", "Model")):
        state: Json = answer.get(key)
        if is_object(state):
            option = _read_choice_state(state, origin, name, what, faults)
            updates += [ConfigUpdate((option,), option.origin)] if option else []
    options = decode_options(raw, faults)
    if options is not None:
        updates.append(ConfigUpdate(options))
    return SessionStart(session_id, tuple(updates))


def _read_choice_state(
    state: Object, origin: str, name: str, what: str, faults: Faults
) -> ConfigOption | None:
    """`modes` and `models`: one is current, several are available."""
    id_key, kind = ("id", "Mode") if origin == "mode" else ("modelId", "Model")
    current = required_string(state, f"current{kind}Id", what, faults)
    if current is None:
        return None

    def read_choice(item: Json, what: str, faults: Faults) -> Choice | None:
        if not is_object(item) or not isinstance(item.get(id_key), str):
            return None
        value: str = item[id_key]
        named = optional_string(item, "name", what, faults)
        return Choice(value, named or value, optional_string(item, "description", what, faults))

    choices = list_items(state, f"available{kind}s", what, faults, read_choice)
    return ConfigOption(
        origin, name, "choice", current, None, origin, choices, "mode" if origin == "mode" else "model"
    )


def decode_options(raw: Json, faults: Faults) -> tuple[ConfigOption, ...] | None:
    """The whole list of options in an answer, None where it has none."""
    return options_of(raw, read_config_option, faults)


def decode_permission(raw: Json, faults: Faults) -> PermissionRequest:
    """Raises Unreadable where it cannot be answered: no session, no options."""
    what = "session/request_permission"
    request = read(_RequestPermission, raw, what, faults)
    call: ToolCallUpsert | None = None
    if is_object(request.tool_call):
        call = read_call(request.tool_call, what, faults, CALL_RULES, announces=False)
    else:
        missing(faults, what, "toolCall", "an object", raw)
    return PermissionRequest(
        request.session_id,
        permission_options(request.options, what, faults),
        tool_call=call,
        tool_call_id=call.tool_call_id if call else None,
    )


def decode_stop_reason(raw: Json, faults: Faults) -> str | None:
    """Why a turn ended, from the answer to session/prompt."""
    reason: Json = raw.get("stopReason") if is_object(raw) else None
    if not isinstance(reason, str):
        missing(faults, "The answer to session/prompt", "stopReason", "a string", raw)
        return None
    if reason not in STOP_REASONS:
        note_unknown(reason, "stopReason", "The answer to session/prompt", faults)
    return reason


# -- what we say ---------------------------------------------------------------------------------

CLIENT_CAPABILITIES: Final[Object] = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "session": {"compaction": {}, "configOptions": {"boolean": {}}, "notices": {}},
    "auth": {"terminal": True},
    "elicitation": encode.ELICITATION,
}


def initialize(client: Object) -> Object:
    return {"protocolVersion": 1, "clientInfo": client, "clientCapabilities": CLIENT_CAPABILITIES}


def new_session(where: Workspace) -> Call:
    return "session/new", where.params(says_stdio=False)


def load_session(session_id: str, where: Workspace) -> Call:
    return "session/load", {"sessionId": session_id, **where.params(says_stdio=False)}


def resume_session(session_id: str, where: Workspace) -> Call:
    return "session/resume", {"sessionId": session_id, **where.params(says_stdio=False)}


def login(method_id: str) -> Call:
    return "authenticate", {"methodId": method_id}


def logout() -> Call:
    return "logout", {}


def set_config(session_id: str, option: ConfigOption, value: Json) -> Call:
    match option.origin:
        case "mode":
            return "session/set_mode", {"sessionId": session_id, "modeId": value}
        case "model":
            return "session/set_model", {"sessionId": session_id, "modelId": value}
        case "option":
            params: Object = {"sessionId": session_id, "configId": option.config_id, "value": value}
            if option.kind == "boolean":
                params["type"] = "boolean"
            return "session/set_config_option", params

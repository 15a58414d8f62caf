"""What `v1` and `v2` have in common: the functions that an agent is spoken to with."""

from __future__ import annotations

from typing import Literal, Protocol

from acp_editor.acp.encode import Call, Workspace
from acp_editor.acp.lenient import Faults, Object
from acp_editor.acp.updates import Decoded
from acp_editor.core.model import (
    AgentInfo,
    ConfigOption,
    Json,
    PermissionRequest,
    SessionStart,
)


class Dialect(Protocol):
    """One version of the protocol; the modules `v1` and `v2` are it."""

    @property
    def VERSION(self) -> Literal[1, 2]: ...

    def decode_update(self, params: Json) -> Decoded: ...

    def decode_info(self, raw: Json, faults: Faults) -> AgentInfo: ...

    def decode_session(self, raw: Json, session_id: str | None, faults: Faults) -> SessionStart: ...

    def decode_options(self, raw: Json, faults: Faults) -> tuple[ConfigOption, ...] | None: ...

    def decode_permission(self, raw: Json, faults: Faults) -> PermissionRequest: ...

    def initialize(self, client: Object) -> Object: ...

    def new_session(self, where: Workspace) -> Call: ...

    def load_session(self, session_id: str, where: Workspace) -> Call: ...

    def resume_session(self, session_id: str, where: Workspace) -> Call: ...

    def login(self, method_id: str) -> Call: ...

    def logout(self) -> Call: ...

    def set_config(self, session_id: str, option: ConfigOption, value: Json) -> Call: ...

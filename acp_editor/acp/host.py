"""What an agent's side asks of ours: the interface that the application implements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from acp_editor.core.model import (
    Elicitation,
    ElicitationAnswer,
    ExitStatus,
    Fault,
    PermissionRequest,
    Update,
)


class Host(Protocol):
    """Ids and paths are as the agent sent them. To refuse, a handler raises RpcError.

    The plain functions are called in the order of the wire and must not block; the coroutines run each
    in a task of its own and are cancelled when the agent withdraws its request or ends.
    """

    def session_update(self, session_id: str, update: Update) -> None:
        """One update, also for a session whose session/new is not answered yet."""
        ...

    def fault(self, fault: Fault) -> None: ...

    async def request_permission(self, request: PermissionRequest) -> str | None:
        """The id of the option chosen, None for cancelled."""
        ...

    async def read_text_file(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        """`line` counts from 1."""
        ...

    async def write_text_file(self, session_id: str, path: str, content: str) -> None: ...

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: tuple[str, ...],
        env: Mapping[str, str],
        cwd: str | None,
        output_byte_limit: int | None,
    ) -> str:
        """The new terminal's id."""
        ...

    async def terminal_output(self, session_id: str, terminal_id: str) -> tuple[str, bool, ExitStatus | None]:
        """The output so far, whether its beginning was cut, and how it ended if it has."""
        ...

    async def wait_for_terminal(self, session_id: str, terminal_id: str) -> ExitStatus: ...

    async def kill_terminal(self, session_id: str, terminal_id: str) -> None: ...

    async def release_terminal(self, session_id: str, terminal_id: str) -> None: ...

    async def elicit(self, elicitation: Elicitation) -> ElicitationAnswer: ...

    def elicitation_complete(self, elicitation_id: str) -> None: ...

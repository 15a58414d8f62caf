"""What comes from an agent, passed on to the host: updates in wire order, requests and their answers."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias, TypeVar

import anyio

from acp_editor.acp import encode, v1
from acp_editor.acp.dialect import Dialect
from acp_editor.acp.host import Host
from acp_editor.acp.lenient import Faults
from acp_editor.acp.rpc import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError, fault
from acp_editor.acp.turns import Turns
from acp_editor.acp.wire import (
    CreateTerminal,
    Elicit,
    ElicitationComplete,
    ReadTextFile,
    TerminalRequest,
    Unreadable,
    Wire,
    WriteTextFile,
    read,
)
from acp_editor.core.model import Elicitation, ExitStatus, Json, is_object

logger = logging.getLogger(__name__)

W = TypeVar("W", bound=Wire)

Handler: TypeAlias = Callable[[Json], Awaitable[Json]]


class Incoming:
    """The receiving half of an agent. It speaks version 1 until `speak` says otherwise."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._dialect: Dialect = v1
        self.turns: Turns = Turns(1, host.session_update)
        self._requests: Final[dict[str, Handler]] = {
            "session/request_permission": self._permission,
            "elicitation/create": self._elicit,
        }
        self._requests_of_v1: Final[dict[str, Handler]] = {
            "fs/read_text_file": self._read_text_file,
            "fs/write_text_file": self._write_text_file,
            "terminal/create": self._create_terminal,
            "terminal/output": self._terminal_output,
            "terminal/wait_for_exit": self._wait_for_terminal,
            "terminal/kill": self._kill_terminal,
            "terminal/release": self._release_terminal,
        }

    def speak(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.turns = Turns(dialect.VERSION, self._host.session_update)

    def report(self, faults: Faults) -> None:
        for found in faults:
            self._host.fault(found)

    # -- in wire order -------------------------------------------------------------------------

    def on_asked(self, method: str, params: Json) -> None:
        """A permission request changes its call, in order with the updates around it.

        Requests are handled in tasks of their own, by which time later updates may have been applied.
        """
        if method != "session/request_permission":
            return
        faults: Faults = []
        try:
            request = self._dialect.decode_permission(params, faults)
        except Unreadable:
            return  # the handler answers it with an error
        self.report(faults)
        self._host.session_update(request.session_id, request)

    def on_notification(self, method: str, params: Json) -> None:
        faults: Faults = []
        match method:
            case "session/update":
                session_id, updates, faults = self._dialect.decode_update(params)
                if session_id is not None:
                    for update in updates:
                        if self.turns.heard(session_id, update):
                            self._host.session_update(session_id, update)
            case "elicitation/complete":
                try:
                    done = read(ElicitationComplete, params, method, faults)
                    self._host.elicitation_complete(done.elicitation_id)
                except Unreadable as error:
                    faults.append(fault("missing_field", f"{error}.", params))
            case _ if method.startswith(("_", "$/")):
                logger.debug("ignored notification %s", method)
            case _:
                message = (
                    "A notification that no protocol version knows; extensions begin with an underscore."
                )
                faults.append(fault("unknown_notification", message, method))
        self.report(faults)

    # -- requests, each in a task of its own ---------------------------------------------------

    async def on_request(self, method: str, params: Json) -> Json:
        handler = self._requests.get(method)
        if handler is None and self._dialect.VERSION == 1:
            handler = self._requests_of_v1.get(method)
        if handler is None:
            if not method.startswith("_"):
                message = "No protocol version has this request; extensions begin with an underscore."
                self.report([fault("unknown_request", message, method)])
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method[:200]}")
        try:
            return await handler(params)
        except Unreadable as error:
            self.report([fault("invalid_params", f"{error}.", params)])
            raise RpcError(INVALID_PARAMS, f"Invalid params: {error}") from error

    def _read(self, model: type[W], params: Json, method: str) -> W:
        faults: Faults = []
        found = read(model, params, method, faults)
        self.report(faults)
        return found

    async def _permission(self, params: Json) -> Json:
        request = self._dialect.decode_permission(params, [])
        self.turns.asked(request.session_id)
        try:
            chosen = await self._host.request_permission(request)
        except anyio.get_cancelled_exc_class():
            if self._dialect.VERSION == 1:
                raise
            # Version 2 wants a withdrawn permission request answered by this outcome, not by an error.
            chosen = None
        finally:
            self.turns.settled(request.session_id)
        if chosen is not None and all(option.option_id != chosen for option in request.options):
            logger.error("%r is not an option of this request; answered as cancelled", chosen)
            chosen = None
        return encode.permission_answer(chosen)

    async def _elicit(self, params: Json) -> Json:
        asked = self._read(Elicit, params, "elicitation/create")
        if asked.mode == "url" and (asked.url is None or asked.elicitation_id is None):
            raise Unreadable("elicitation/create: mode url needs `url` and `elicitationId`")
        if asked.mode == "form" and not is_object(asked.requested_schema):
            raise Unreadable("elicitation/create: mode form needs `requestedSchema`")
        elicitation = Elicitation(
            asked.message,
            asked.mode,
            asked.requested_schema,
            asked.url,
            asked.elicitation_id,
            asked.session_id,
            asked.tool_call_id,
        )
        if asked.session_id is None:
            return encode.elicitation_answer(await self._host.elicit(elicitation))
        self.turns.asked(asked.session_id)
        try:
            return encode.elicitation_answer(await self._host.elicit(elicitation))
        finally:
            self.turns.settled(asked.session_id)

    async def _read_text_file(self, params: Json) -> Json:
        asked = self._read(ReadTextFile, params, "fs/read_text_file")
        text = await self._host.read_text_file(asked.session_id, asked.path, asked.line, asked.limit)
        return {"content": text}

    async def _write_text_file(self, params: Json) -> Json:
        asked = self._read(WriteTextFile, params, "fs/write_text_file")
        await self._host.write_text_file(asked.session_id, asked.path, asked.content)
        return {}

    async def _create_terminal(self, params: Json) -> Json:
        asked = self._read(CreateTerminal, params, "terminal/create")
        terminal_id = await self._host.create_terminal(
            asked.session_id,
            asked.command,
            tuple(asked.args or ()),
            {variable.name: variable.value for variable in asked.env or ()},
            asked.cwd,
            asked.output_byte_limit,
        )
        return {"terminalId": terminal_id}

    async def _terminal_output(self, params: Json) -> Json:
        asked = self._read(TerminalRequest, params, "terminal/output")
        output, truncated, status = await self._host.terminal_output(asked.session_id, asked.terminal_id)
        answer = {"output": output, "truncated": truncated}
        return answer if status is None else {**answer, "exitStatus": _exit_status(status)}

    async def _wait_for_terminal(self, params: Json) -> Json:
        asked = self._read(TerminalRequest, params, "terminal/wait_for_exit")
        return _exit_status(await self._host.wait_for_terminal(asked.session_id, asked.terminal_id))

    async def _kill_terminal(self, params: Json) -> Json:
        asked = self._read(TerminalRequest, params, "terminal/kill")
        await self._host.kill_terminal(asked.session_id, asked.terminal_id)
        return {}

    async def _release_terminal(self, params: Json) -> Json:
        asked = self._read(TerminalRequest, params, "terminal/release")
        await self._host.release_terminal(asked.session_id, asked.terminal_id)
        return {}


def _exit_status(status: ExitStatus) -> Json:
    return {"exitCode": status.exit_code, "signal": status.signal}

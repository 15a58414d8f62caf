"""pygls' protocol with the corrections that a process with work of its own needs.

Source of the behaviour corrected: pygls 2.1.1, `protocol/json_rpc.py` and `language_server.py`.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future
from typing import Any, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.json_rpc import JsonRPCResponseMessage
from pygls.protocol.language_server import lsp_method

from acp_editor.core.errors import named
from acp_editor.core.finite import dumps
from acp_editor.lsp.stdio import Writer

logger = logging.getLogger(__name__)

INVALID_PARAMS = -32602
COMMAND_FAILED = -32803
"""LSP's RequestFailed: the request was fine and could still not be done; the message says why."""


_FORGOTTEN = "forgotten-"
"""What the ids of requests begin with to which no answer is awaited."""


class CommandError(JsonRpcException):
    """A command that cannot do what it says; `message` is for a person to act on."""

    CODE = COMMAND_FAILED
    MESSAGE = "Request failed"


class Protocol(LanguageServerProtocol):
    """Ends without `sys.exit`, keeps no documents of its own, never blocks on a write, leaks nothing."""

    on_exit: Callable[[int], None]
    _forgotten = 0

    # -- documents: ours are in documents.py, so the built-in handlers only pass on -----------------

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(
        self, params: types.DidOpenTextDocumentParams
    ) -> Generator[Any, Any, None]:
        yield self._feature(types.TEXT_DOCUMENT_DID_OPEN), (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(
        self, params: types.DidChangeTextDocumentParams
    ) -> Generator[Any, Any, None]:
        yield self._feature(types.TEXT_DOCUMENT_DID_CHANGE), (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(
        self, params: types.DidCloseTextDocumentParams
    ) -> Generator[Any, Any, None]:
        yield self._feature(types.TEXT_DOCUMENT_DID_CLOSE), (params,), None

    def _feature(self, method: str) -> Any:
        return cast("Any", self.fm).features[method]

    experimental: dict[str, Any]
    """Goes into the answer to `initialize` as `capabilities.experimental`."""

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        result = yield from super().lsp_initialize(params)
        result.capabilities.experimental = self.experimental
        return result

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: Any) -> Generator[Any, Any, None]:
        """Tells the serving scope to end; `sys.exit` here would tear through a task group."""
        self.on_exit(0 if self._shutdown else 1)
        return
        yield

    # -- commands: one handler for all, with the argument as it came -------------------------------

    command_handler: Callable[[str, Any], Coroutine[Any, Any, Any]]

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(self, params: types.ExecuteCommandParams) -> Any:  # type: ignore[override]
        arguments = list(params.arguments or ())
        if len(arguments) > 1:
            raise CommandError(f"{params.command} takes at most one argument")
        return await self.command_handler(params.command, arguments[0] if arguments else None)

    # -- wire --------------------------------------------------------------------------------------

    def receive(self, body: bytes) -> None:
        """Takes one message; one that cannot be used is logged, and answered if it is a request."""
        try:
            message = json.loads(body, object_hook=self.structure_message)
        except Exception as error:
            why = named(error.__cause__ or error)  # pygls only says "Invalid Params"
            logger.error("a message of the editor's cannot be used: %s", why)
            self._refuse(body, why)
            return
        try:
            self.handle_message(message)
        except Exception:
            logger.exception("a message of the editor's could not be handled")

    def _refuse(self, body: bytes, why: str) -> None:
        try:
            message: Any = json.loads(body)
        except (ValueError, RecursionError):
            return
        if isinstance(message, dict) and "id" in message and "method" in message:
            ident: Any = message["id"]  # pyright: ignore[reportUnknownVariableType]
            answer = {"code": INVALID_PARAMS, "message": f"Invalid params: {why[:300]}"}
            self._send_data({"jsonrpc": "2.0", "id": ident, "error": answer})

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Our own messages stay plain dicts: cattrs would make named tuples of undeclared ones.

        pygls calls this for every JSON object, the innermost first; only an envelope has "jsonrpc".
        """
        if "jsonrpc" in data and "method" in data:
            if "params" not in data:
                data["params"] = None
            method: str = data["method"]
            if self.get_message_type(method) is None:
                return _Request(**_envelope(data)) if "id" in data else _Notification(**_envelope(data))
        elif "jsonrpc" in data and "result" in data and self._result_types.get(data.get("id", "")) is None:
            self._result_types.pop(data.get("id", ""), None)
            return _Response(data.get("id"), data["result"], data["jsonrpc"])
        return super().structure_message(data)

    def _execute_handler(
        self,
        msg_id: Any,
        handler: Any,
        callback: Any,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        super()._execute_handler(msg_id, handler, callback, args, kwargs)
        # A generator handler leaves its finished future behind, one for every didOpen and didChange.
        future = self._request_futures.get(msg_id)
        if isinstance(future, Future) and future.done():
            self._request_futures.pop(msg_id, None)

    def _send_handler_result(self, future: Any, *, msg_id: Any) -> None:
        """What is refused on purpose is answered like anything else, and is a line in the log."""
        error = None if future.cancelled() else future.exception()
        if not isinstance(error, CommandError):
            super()._send_handler_result(future, msg_id=msg_id)
            return
        self._request_futures.pop(msg_id, None)
        logger.info("request %s of the editor's was refused: %s", msg_id, error.message)
        self._send_response(msg_id, error=error.to_response_error())

    def _send_data(self, data: Any) -> None:
        """Queues one frame; ASCII JSON, so the length in characters is the length in bytes."""
        writer = self.writer
        if not data or not isinstance(writer, Writer):
            return
        body = dumps(data, self._serialize_message)
        writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body.encode("ascii")))

    def _serialize_message(self, data: Any) -> Any:
        """An answer of plain JSON goes out as it is: cattrs would walk all of it and copy it."""
        result: Any = data.result if isinstance(data, JsonRPCResponseMessage) else None
        if isinstance(result, dict | list):
            return {"jsonrpc": data.jsonrpc, "id": data.id, "result": result}  # pyright: ignore
        return super()._serialize_message(data)

    @property
    def _unheard(self) -> bool:
        """The editor has not read for long; what it was not told by now it learns when it asks."""
        return isinstance(self.writer, Writer) and self.writer.full

    def notify(self, method: str, params: Any | None = None) -> None:
        if self._unheard:
            return
        if self.get_message_type(method) is None:
            self._send_data({"jsonrpc": "2.0", "method": method, "params": params})
        else:
            super().notify(method, params)

    def report_progress(self, token: str, value: dict[str, Any]) -> None:
        self._send_data(
            {"jsonrpc": "2.0", "method": types.PROGRESS, "params": {"token": token, "value": value}}
        )

    def request_and_forget(self, method: str, params: Any | None = None) -> None:
        """A request whose answer does not matter, and need never come: nothing waits for it."""
        if self._unheard:
            return
        self._forgotten += 1
        ident = f"{_FORGOTTEN}{self._forgotten}"
        self._send_data({"jsonrpc": "2.0", "id": ident, "method": method, "params": params})

    def _handle_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        if not str(msg_id).startswith(_FORGOTTEN):
            super()._handle_response(msg_id, result, error)

    async def ask(self, method: str, params: Any) -> Any:
        """A request to the editor; when the caller is cancelled, the editor is told so."""
        if self._unheard:
            raise ConnectionError("the editor does not read what it is sent")
        future = self.send_request(method, params)
        message_id = next(key for key, value in self._request_futures.items() if value is future)
        try:
            return await asyncio.wrap_future(_forgiving(future))
        except asyncio.CancelledError:
            self._request_futures.pop(message_id, None)
            self._result_types.pop(message_id, None)
            self.notify(types.CANCEL_REQUEST, types.CancelParams(id=message_id))
            raise

    def fail_pending(self) -> None:
        """The editor is gone: whoever waits for an answer of it is told."""
        for future in list(cast("dict[Any, Any]", self._request_futures).values()):
            if isinstance(future, Future) and not future.done():
                future.set_exception(ConnectionError("the editor has closed the connection"))
            elif isinstance(future, asyncio.Future):  # what the editor asked and waits for no more
                future.cancel()
        self._request_futures.clear()


def _forgiving(future: Future[Any]) -> Future[Any]:
    """A copy that may be cancelled alone, so that a late answer finds its future still settable."""
    copy: Future[Any] = Future()

    def settle(done: Future[Any]) -> None:
        if copy.cancelled() or done.cancelled():
            return
        if (error := done.exception()) is not None:
            copy.set_exception(error)
        else:
            copy.set_result(done.result())

    future.add_done_callback(settle)
    return copy


class _Notification:
    def __init__(self, method: str, params: Any, jsonrpc: str) -> None:
        self.method = method
        self.params = params
        self.jsonrpc = jsonrpc


class _Request(_Notification):
    def __init__(self, id: Any, method: str, params: Any, jsonrpc: str) -> None:
        super().__init__(method, params, jsonrpc)
        self.id = id


class _Response:
    def __init__(self, id: Any, result: Any, jsonrpc: str) -> None:
        self.id = id
        self.result = result
        self.jsonrpc = jsonrpc


def _envelope(data: dict[str, Any]) -> dict[str, Any]:
    return {key: data[key] for key in ("id", "method", "params", "jsonrpc") if key in data}

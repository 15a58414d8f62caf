"""A scripted language model on this machine, in the four ways that agents ask for one.

POST /v1/chat/completions, /v1/responses, /v1/messages, /v1beta/models/NAME:streamGenerateContent. The last
"SCENARIO:name WS:folder" of the conversation says which script is played, and the number of tool calls
since then which step is next: the model itself remembers nothing.
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import wires

SEQUENCE = itertools.count(1)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: tests have enough to print."""

    def do_GET(self) -> None:
        model = {"id": "mock-model", "object": "model", "created": 1, "owned_by": "mock"}
        self.answer({"object": "list", "data": [model], "models": [], "has_more": False})

    def do_POST(self) -> None:
        body = self.body()
        path = self.path.split("?")[0]
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # a cancelled turn hangs up
            if path.endswith("/chat/completions"):
                self.play(wires.chat(body, next(SEQUENCE)), body.get("stream"))
            elif path.endswith("/responses"):
                self.play(wires.responses(body, next(SEQUENCE)), body.get("stream"))
            elif path.endswith("/messages/count_tokens"):
                self.answer({"input_tokens": 100})
            elif path.endswith("/messages"):
                self.play(wires.messages(body, next(SEQUENCE)), body.get("stream"))
            elif ":countTokens" in path:
                self.answer({"totalTokens": 100})
            elif ":generateContent" in path or ":streamGenerateContent" in path:
                self.play(wires.gemini(body, next(SEQUENCE)), "stream" in path)
            else:
                self.answer({"ok": True})

    def body(self) -> dict[str, Any]:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            raw = b"".join(self.chunks())
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        try:
            return json.loads(raw or b"{}")
        except ValueError:
            return {}

    def chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().strip() or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def answer(self, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def play(self, reply: wires.Reply, streamed: Any) -> None:
        if not streamed:
            self.answer(reply.whole())
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in reply.events():
            if isinstance(event, wires.Pause):
                time.sleep(event.seconds)
                continue
            name = f"event: {event.name}\n" if event.name else ""
            data = event.data if isinstance(event.data, str) else json.dumps(event.data)
            self.wfile.write(f"{name}data: {data}\n\n".encode())
            self.wfile.flush()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """An agent that is killed in mid answer is an everyday matter here."""


@contextlib.contextmanager
def serving(port: int = 0) -> Iterator[str]:
    """Its address, on a free port of this machine."""
    server = Server(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

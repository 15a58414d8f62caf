"""The conversation that a check has with an agent, step by step."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import anyio

from acp_editor.acp.agent import Agent
from acp_editor.acp.connection import RpcError
from acp_editor.check.host import CheckHost
from acp_editor.core.model import Fault
from acp_editor.core.session import Session

AUTH_REQUIRED: Final = -32000
CANCEL_SECONDS: Final = 10.0
"""How long an agent may take to end a cancelled turn."""

PROMPT: Final = (
    "Read README.md, replace the word 'tiny' in it by 'small', then say in one sentence what you did."
)
LONG_PROMPT: Final = "Read app.py and README.md, then explain them at length, line by line."

FILES: Final = {
    "README.md": "# Demo\n\nA tiny demo project.\n\nRun `python3 app.py`.\n",
    "app.py": 'def greet(name):\n    return "Hello, " + name\n\n\nprint(greet("world"))\n',
}
"""What is in the folder in which the agent works."""

Outcome: TypeAlias = Literal["works", "fails", "not offered", "not checked"]


@dataclass(frozen=True, slots=True)
class Step:
    """`detail` is a clause for a person."""

    name: str
    outcome: Outcome
    detail: str = ""


class Conversation:
    """Asks an agent that runs for everything that it says it can; `seconds` for an answer or a turn."""

    def __init__(self, agent: Agent, host: CheckHost, seconds: float, prompt: str = PROMPT) -> None:
        self._agent = agent
        self._host = host
        self._seconds = seconds
        self._prompt = prompt
        self.steps: list[Step] = []

    async def hold(self, login: str | None = None) -> None:
        """The whole of it; raises ConnectionClosed when the agent ends in the middle."""
        info = self._agent.info
        self._add("initialize", "works", f"version {info.protocol}")
        if login is not None and not await self._try("login", lambda: self._agent.authenticate(login)):
            return
        session = await self._new_session()
        if session is None:
            return
        await self._turn(session)
        await self._option(session)
        await self._cancel(session)
        await self._keeping(session)

    # -- steps ---------------------------------------------------------------------------------

    async def _new_session(self) -> Session | None:
        name = "session/new"
        try:
            with anyio.fail_after(self._seconds):
                start = await self._agent.new_session(self._host.folder)
        except RpcError as error:
            if error.code == AUTH_REQUIRED:
                ways = (
                    ", ".join(method.method_id for method in self._agent.info.auth_methods) or "none offered"
                )
                self._add(name, "not checked", f"the agent wants a login first; its methods: {ways}")
            else:
                self._add(name, "fails", str(error))
            return None
        except TimeoutError:
            self._add(name, "fails", f"no answer within {self._seconds:g} seconds")
            return None
        session = self._host.session(start.session_id)
        self._add(name, "works", f"{len(session.config)} options")
        return session

    async def _turn(self, session: Session) -> None:
        name, started = "session/prompt", time.monotonic()
        await self._send(session, self._prompt)
        if not await self._host.until(lambda: session.state == "idle", self._seconds):
            self._agent.cancel(session.session_id)
            await self._host.until(lambda: session.state == "idle", CANCEL_SECONDS)
            self._agent.abandon(session.session_id)
            self._add(name, "fails", f"the turn did not end within {self._seconds:g} seconds")
        elif session.error is not None:
            self._add(name, "fails", f"the turn ended with an error: {session.error}")
        else:
            calls, commands = len(session.tool_calls), len(session.commands)
            took = time.monotonic() - started
            told = f"{session.stop_reason} after {took:.1f} seconds, {calls} tool calls, {commands} commands"
            self._add(name, "works", told)

    async def _option(self, session: Session) -> None:
        name = "setting an option"
        option = next((option for option in session.config if option.value is not None), None)
        if option is None:
            self._add(name, "not offered")
            return
        ident = session.session_id
        await self._try(
            name,
            lambda: self._agent.set_config(ident, option, option.value),
            f"{option.config_id} to what it is",
        )

    async def _cancel(self, session: Session) -> None:
        """A permission that the turn asks for is left open, so that it cannot end before it is cancelled."""
        name = "session/cancel"
        self._host.hold = anyio.Event()
        begun = self._host.told.total()
        await self._send(session, LONG_PROMPT)
        await self._host.until(
            lambda: session.state == "idle" or self._host.waiting or self._said_since(begun), self._seconds
        )
        if session.state == "idle":
            self._host.hold.set()
            self._add(name, "not checked", "the turn was over before it could be cancelled")
            return
        self._agent.cancel(session.session_id)
        self._host.hold.set()
        if not await self._host.until(lambda: session.state == "idle", CANCEL_SECONDS):
            message = f"session/cancel did not end the turn within {CANCEL_SECONDS:g} seconds."
            self._wrong(name, Fault("cancel_unanswered", message, session.session_id))
            self._agent.abandon(session.session_id)
        elif session.stop_reason != "cancelled":
            message = "A turn that was cancelled ended with another stop reason than `cancelled`."
            self._wrong(name, Fault("cancel_not_reported", message, str(session.stop_reason)))
        else:
            self._add(name, "works")

    def _said_since(self, begun: int) -> bool:
        """Whether the agent is at work, beyond saying that it is."""
        return self._host.told.total() > begun + 1

    async def _keeping(self, session: Session) -> None:
        """Listing, taking up and giving up."""
        agent, can, ident = self._agent, self._agent.info.capabilities, session.session_id
        folder = self._host.folder
        await self._offered("session/list", can.list, lambda: agent.list_sessions(folder))
        await self._offered("session/load", can.load, lambda: agent.load_session(ident, folder))
        if can.load and self.steps[-1].outcome == "works" and not session.messages:
            message = "session/load told nothing of a session in which something had been said."
            self.steps.pop()
            self._wrong("session/load", Fault("load_without_history", message, ident))
        await self._offered("session/resume", can.resume, lambda: agent.resume_session(ident, folder))
        await self._offered("session/fork", can.fork, lambda: agent.fork_session(ident, folder))
        await self._offered("session/close", can.close, lambda: agent.close_session(ident))
        await self._offered("session/delete", can.delete, lambda: agent.delete_session(ident))

    # -- helpers -------------------------------------------------------------------------------

    async def _send(self, session: Session, text: str) -> None:
        await self._agent.prompt(session.session_id, [{"type": "text", "text": text}])

    async def _offered(self, name: str, offered: bool, ask: Callable[[], Awaitable[object]]) -> bool:
        if not offered:
            self._add(name, "not offered")
            return False
        return await self._try(name, ask)

    async def _try(self, name: str, ask: Callable[[], Awaitable[object]], detail: str = "") -> bool:
        try:
            with anyio.fail_after(self._seconds):
                await ask()
        except RpcError as error:
            message = f"The agent offers {name} and answers it with an error."
            self._wrong(name, Fault("offered_but_refused", message, str(error)))
        except TimeoutError:
            message = f"The agent offers {name} and does not answer it."
            self._wrong(name, Fault("offered_but_unanswered", message, f"{self._seconds:g} seconds"))
        else:
            self._add(name, "works", detail)
            return True
        return False

    def _wrong(self, name: str, fault: Fault) -> None:
        self._host.fault(fault)
        self._add(name, "fails", f"{fault.code}: {fault.detail}")

    def _add(self, name: str, outcome: Outcome, detail: str = "") -> None:
        self.steps.append(Step(name, outcome, detail))

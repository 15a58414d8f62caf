"""An agent of version 1 made with the official Python SDK."""

import asyncio
from typing import Any

from acp import (
    Agent,
    Client,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PromptResponse,
    RequestError,
    SetSessionConfigOptionResponse,
    run_agent,
    start_tool_call,
    text_block,
    update_agent_message,
    update_tool_call,
)
from acp.schema import (
    AgentCapabilities,
    ElicitationFormSessionMode,
    ElicitationSchema,
    Implementation,
    PermissionOption,
    SessionConfigOptionBoolean,
    ToolCallUpdate,
)

OPTIONS = [
    PermissionOption(option_id="y", name="Yes", kind="allow_once"),
    PermissionOption(option_id="n", name="No", kind="reject_once"),
]


class SdkAgent(Agent):
    client: Client

    def __init__(self) -> None:
        self.fast = False
        self.cancelled = asyncio.Event()

    def on_connect(self, conn: Client) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **kwargs: Any) -> InitializeResponse:
        return InitializeResponse(
            protocol_version=1,
            agent_capabilities=AgentCapabilities(load_session=True),
            agent_info=Implementation(name="sdk", version="1"),
        )

    def options(self) -> list[SessionConfigOptionBoolean]:
        return [SessionConfigOptionBoolean(id="fast", name="Fast", type="boolean", current_value=self.fast)]

    async def new_session(self, cwd: str, **kwargs: Any) -> NewSessionResponse:
        return NewSessionResponse(session_id="s1", config_options=self.options())

    async def load_session(self, cwd: str, session_id: str, **kwargs: Any) -> LoadSessionResponse:
        await self.client.session_update(session_id, update_agent_message(text_block("as before")))
        return LoadSessionResponse(config_options=self.options())

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **kwargs: Any
    ) -> SetSessionConfigOptionResponse:
        if config_id != "fast" or not isinstance(value, bool):
            raise RequestError.invalid_params({"configId": config_id})
        self.fast = value
        return SetSessionConfigOptionResponse(config_options=self.options())

    async def prompt(self, session_id: str, prompt: list[Any], **kwargs: Any) -> PromptResponse:
        self.cancelled.clear()
        match prompt[0].text:
            case "edit":
                return await self.edit(session_id)
            case "ask":
                form = ElicitationFormSessionMode(
                    session_id=session_id, requested_schema=ElicitationSchema(properties={})
                )
                answer = await self.client.create_elicitation("Who?", form)
                await self.say(session_id, str(answer.action))
            case _:
                await self.say(session_id, "waiting")
                await self.cancelled.wait()
                return PromptResponse(stop_reason="cancelled")
        return PromptResponse(stop_reason="end_turn")

    async def edit(self, session_id: str) -> PromptResponse:
        await self.client.session_update(
            session_id, start_tool_call("c", "Edit", kind="edit", status="pending")
        )
        asked = ToolCallUpdate(tool_call_id="c", title="Edit a.py")
        answer = await self.client.request_permission(session_id, asked, OPTIONS)
        if answer.outcome.outcome == "cancelled":
            return PromptResponse(stop_reason="cancelled")
        status = "completed" if answer.outcome.option_id == "y" else "failed"
        await self.client.session_update(session_id, update_tool_call("c", status=status))
        return PromptResponse(stop_reason="end_turn")

    async def say(self, session_id: str, words: str) -> None:
        await self.client.session_update(session_id, update_agent_message(text_block(words)))

    async def cancel(self, session_id: str, **kwargs: Any) -> None:
        self.cancelled.set()


asyncio.run(run_agent(SdkAgent(), use_unstable_protocol=True))

"""The official Python SDK's bare client: starts an agent, prompts it, and counts what comes.

Usage: receive.py PROMPT COMMAND ...; prints one JSON object.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from typing import Any

from acp import Client, spawn_agent_process, text_block


class Counting(Client):
    updates = 0

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        self.updates += 1


async def main() -> None:
    text, command, *arguments = sys.argv[1:]
    counting = Counting()
    async with spawn_agent_process(counting, command, *arguments) as (agent, _):
        await agent.initialize(protocol_version=1)
        session = await agent.new_session(cwd=os.getcwd(), mcp_servers=[])
        start, before = time.perf_counter(), time.process_time()
        await agent.prompt(session_id=session.session_id, prompt=[text_block(text)])
        seconds = time.perf_counter() - start
        print(
            json.dumps({"seconds": seconds, "cpu": time.process_time() - before, "updates": counting.updates})
        )


asyncio.run(main())

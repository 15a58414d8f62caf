"""Which version an agent speaks: asked by `initialize`, and told by the shape of the answer.

Some agents answer with whatever number they were offered and go on in version 1, so the number alone
says nothing.
"""

from __future__ import annotations

import logging
from typing import Final, Literal, TypeAlias

from acp_editor.acp import v1, v2
from acp_editor.acp.connection import Connection, RpcError
from acp_editor.acp.dialect import Dialect
from acp_editor.acp.lenient import Faults, Object
from acp_editor.acp.rpc import fault
from acp_editor.acp.wire import Unreadable
from acp_editor.core.model import AgentInfo, Json, is_object
from acp_editor.core.version import VERSION

logger = logging.getLogger(__name__)

Wanted: TypeAlias = Literal["auto", 1, 2]


CLIENT: Final[Object] = {"name": "acp-editor", "title": "ACP Editor", "version": VERSION}


class WrongVersion(Exception):
    """The agent does not speak the version that the settings ask for."""


def offer(wanted: Wanted, client: Object) -> Object:
    """The params of initialize; "auto" has the fields of both versions, and each ignores the other's."""
    match wanted:
        case "auto":
            return {**v1.initialize(client), **v2.initialize(client)}
        case 1:
            return v1.initialize(client)
        case 2:
            return v2.initialize(client)


def spoken(answer: Json) -> Dialect:
    """Version 2 by its number and its own fields; everything else is version 1."""
    if (
        is_object(answer)
        and answer.get("protocolVersion") == 2
        and is_object(answer.get("info"))
        and "agentInfo" not in answer
        and "agentCapabilities" not in answer
    ):
        return v2
    return v1


async def negotiate(
    connection: Connection, wanted: Wanted, client: Object, faults: Faults
) -> tuple[Dialect, AgentInfo]:
    """Raises WrongVersion, RpcError where the agent refuses, Unreadable where it answers nonsense."""
    try:
        answer = await connection.request("initialize", offer(wanted, client))
    except RpcError as error:
        if wanted != "auto":
            raise
        logger.debug("the offer of version 2 was refused (%s), offering 1", error)
        answer = await connection.request("initialize", offer(1, client))
    dialect = spoken(answer)
    if wanted not in ("auto", dialect.VERSION):
        raise WrongVersion(
            f"the settings ask for protocol version {wanted}, but the agent speaks version {dialect.VERSION}"
        )
    if not is_object(answer):
        raise Unreadable("The answer to initialize must be an object")
    number = answer.get("protocolVersion")
    if number != dialect.VERSION:
        message = f"The answer to initialize has protocolVersion {number!r} and the fields of version 1."
        faults.append(fault("wrong_protocol_version", message, answer))
    return dialect, dialect.decode_info(answer, faults)

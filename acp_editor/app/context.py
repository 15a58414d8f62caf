"""What goes with a prompt: links to files, or their contents where the agent takes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from acp_editor.app import media
from acp_editor.core import text as lines
from acp_editor.core.model import Capabilities, Json


@dataclass(frozen=True, slots=True)
class Item:
    """A file, or a part of it: `start` and `end` are (line, character) from 0."""

    path: str
    start: tuple[int, int] | None = None
    end: tuple[int, int] | None = None


def takes(abilities: Capabilities, found: media.Media) -> bool:
    return abilities.image if found.kind == "image" else abilities.audio


def blocks(
    text: str,
    items: Sequence[Item],
    abilities: Capabilities,
    read: Callable[[str], str | None],
    uri: Callable[[str], str],
    encoding: lines.Encoding = "utf-16",
) -> list[Json]:
    """The prompt as ACP content blocks; a part of a file embeds just that part, from the buffer."""
    made: list[Json] = [{"type": "text", "text": text}]
    for item in items:
        address = uri(item.path)
        if found := media.read(item.path) if item.start is None else None:
            if takes(abilities, found):
                made.append(found.block(address))
            else:
                link = {"uri": address, "name": os.path.basename(item.path), "mimeType": found.mime_type}
                made.append({"type": "resource_link", **link})
            continue
        content = read(item.path)
        if item.start is not None and item.end is not None:
            # Lines count from 1 in such fragments, as people and the web's code hosts write them.
            last = item.end[0] + (0 if item.end[1] == 0 and item.end[0] > item.start[0] else 1)
            address += f"#L{item.start[0] + 1}:{last}"
        # No text is also what a file has that is too large to be embedded.
        if not content or not abilities.embedded_context:
            made.append({"type": "resource_link", "uri": address, "name": os.path.basename(item.path)})
            continue
        if item.start is not None and item.end is not None:
            index = lines.Lines(content, encoding)
            content = content[
                index.offset(lines.Position(*item.start)) : index.offset(lines.Position(*item.end))
            ]
        made.append({"type": "resource", "resource": {"uri": address, "text": content}})
    return made

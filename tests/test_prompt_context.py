"""What goes with a prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_editor.app import media
from acp_editor.app.context import Item, blocks
from acp_editor.core.model import Capabilities, Json
from acp_editor.core.text import Encoding

TEXTS = {"/ws/a.py": "eins\nzw😀ei\ndrei\n", "/ws/empty.py": ""}
EMBEDS = Capabilities(embedded_context=True)


def made(*items: Item, can: Capabilities = EMBEDS, encoding: Encoding = "utf-16") -> list[Json]:
    return blocks("go", items, can, TEXTS.get, lambda path: f"file://{path}", encoding)


def test_the_text_comes_first() -> None:
    assert made() == [{"type": "text", "text": "go"}]


def test_a_whole_file_and_a_part_of_one() -> None:
    _, whole, part = made(Item("/ws/a.py"), Item("/ws/a.py", (1, 0), (2, 0)))
    assert whole == {"type": "resource", "resource": {"uri": "file:///ws/a.py", "text": TEXTS["/ws/a.py"]}}
    assert part["resource"] == {"uri": "file:///ws/a.py#L2:2", "text": "zw😀ei\n"}


@pytest.mark.parametrize(("encoding", "end"), [("utf-8", 6), ("utf-16", 4), ("utf-32", 3)])
def test_a_range_counts_in_the_negotiated_encoding(encoding: Encoding, end: int) -> None:
    _, part = made(Item("/ws/a.py", (1, 0), (1, end)), encoding=encoding)
    assert part["resource"] == {"uri": "file:///ws/a.py#L2:2", "text": "zw😀"}


@pytest.mark.parametrize("path", ["/ws/none.py", "/ws/empty.py"])
def test_what_has_no_text_is_a_link(path: str) -> None:
    assert made(Item(path))[1] == {"type": "resource_link", "uri": f"file://{path}", "name": path[4:]}


def test_an_agent_that_takes_no_texts_gets_links() -> None:
    _, link = made(Item("/ws/a.py", (0, 0), (1, 3)), can=Capabilities())
    assert link == {"type": "resource_link", "uri": "file:///ws/a.py#L1:2", "name": "a.py"}


@pytest.mark.parametrize(
    ("head", "mime_type"),
    [
        (b"\x89PNG\r\n\x1a\n....", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
        (b"ID3\4", "audio/mpeg"),
        (b"RIFF\0\0\0\0AVI ", None),
        (b"<svg>", None),
        (b"", None),
    ],
)
def test_pictures_and_sounds_are_told_by_their_first_bytes(head: bytes, mime_type: str | None) -> None:
    assert media.mime_type_of(head[:12]) == mime_type


def test_sounds_go_to_an_agent_that_takes_them_and_large_files_as_links(tmp_path: Path) -> None:
    sound, large = tmp_path / "a.wav", tmp_path / "b.png"
    sound.write_bytes(b"RIFF\0\0\0\0WAVE")
    with large.open("wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        file.truncate(media.MAX_SIZE + 1)
    can = Capabilities(audio=True, image=True)
    _, block, link = made(Item(str(sound)), Item(str(large)), can=can)
    assert block == {"type": "audio", "mimeType": "audio/wav", "data": "UklGRgAAAABXQVZF"}
    assert link == {"type": "resource_link", "uri": f"file://{large}", "name": "b.png"}
    assert made(Item(str(sound)), can=EMBEDS)[1]["type"] == "resource_link"

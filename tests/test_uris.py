"""URIs and paths, back and forth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_editor.lsp import uris


@given(st.lists(st.text(min_size=1).map(lambda s: s.replace("/", "_").replace("\0", "_")), min_size=1))
def test_every_path_comes_back(parts: list[str]) -> None:
    try:
        path = "/" + "/".join(parts)
        path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return
    assert uris.to_path(uris.from_path(path)) == path


def test_bytes_that_are_not_utf_8_are_kept() -> None:
    path = b"/ws/\xff\xe9.txt".decode("utf-8", "surrogateescape")
    assert uris.from_path(path) == "file:///ws/%FF%E9.txt"
    assert uris.to_path("file:///ws/%FF%E9.txt") == path


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///ws/a%20b%23c%3Fd%25e.py", "/ws/a b#c?d%e.py"),
        ("file:///ws/na%C3%AFve.py", "/ws/naïve.py"),
        ("file:///ws/a+b.py", "/ws/a+b.py"),
        ("file://localhost/ws/a.py", "/ws/a.py"),
        ("FILE:///ws/a.py", "/ws/a.py"),
        ("file://another-host/ws/a.py", None),
        ("untitled:Untitled-1", None),
        ("acp-original:///ws/a.py", None),
        ("git:/ws/a.py?{}", None),
        ("file://[/not-a-host", None),
        ("file:///ws/a%00b", None),
        ("", None),
    ],
)
def test_what_editors_send(uri: str, path: str | None) -> None:
    assert uris.to_path(uri) == path


def test_another_scheme_with_a_query() -> None:
    assert uris.from_path("/ws/a b.py", "acp-original", "p1") == "acp-original:///ws/a%20b.py?p1"

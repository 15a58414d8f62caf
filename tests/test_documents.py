"""The editor's documents: what their text is, and whose each change was."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from acp_editor.core.text import Encoding
from acp_editor.lsp.documents import Author, Document, Documents

WHOLE = types.TextDocumentContentChangeWholeDocument


def opened(path: Path, text: str, encoding: Encoding = "utf-16") -> tuple[Documents, Document]:
    documents = Documents(encoding)
    document = documents.opened(types.TextDocumentItem(path.as_uri(), "text", 1, text))
    assert document is not None
    return documents, document


def part(start: tuple[int, int], end: tuple[int, int], text: str) -> types.TextDocumentContentChangePartial:
    span = types.Range(types.Position(*start), types.Position(*end))
    return types.TextDocumentContentChangePartial(text=text, range=span)


def change(
    documents: Documents,
    document: Document,
    *changes: types.TextDocumentContentChangePartial | types.TextDocumentContentChangeWholeDocument,
) -> Author:
    identifier = types.VersionedTextDocumentIdentifier(uri=document.uri, version=document.version + 1)
    found = documents.changed(types.DidChangeTextDocumentParams(identifier, list(changes)))
    assert found is not None
    return found[2]


def test_a_key_is_the_persons_and_makes_the_document_dirty(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("text\n")
    documents, document = opened(path, "text\n")
    assert not document.dirty
    assert change(documents, document, part((0, 4), (0, 4), "!")) == "person"
    assert (document.text, document.dirty, document.version) == ("text!\n", True, 2)
    path.write_text(document.text)
    documents.saved(document.uri, None)
    assert not document.dirty


@pytest.mark.parametrize(
    ("on_disk", "in_buffer"),
    [
        ("new\n", "new\n"),
        ("\ufeffnew\n", "new\n"),
        ("one\r\ntwo\n", "one\r\ntwo\r\n"),
        ("one\r\ntwo\n", "one\ntwo\n"),
    ],
)
def test_a_reload_is_the_disks(tmp_path: Path, on_disk: str, in_buffer: str) -> None:
    path = tmp_path / "a"
    path.write_text("old\n")
    documents, document = opened(path, "old\n")
    path.write_bytes(on_disk.encode())
    assert change(documents, document, WHOLE(text=in_buffer)) == "disk"
    assert not document.dirty
    assert change(documents, document, WHOLE(text=in_buffer + "x")) == "person"


@pytest.mark.parametrize(
    ("on_disk", "in_buffer", "dirty"),
    [
        ("\ufefftext\n", "text\n", False),
        ("one\r\ntwo\n", "one\r\ntwo\r\n", False),
        ("text\n", "text, never saved\n", True),
        (None, "a new file", False),
    ],
)
def test_dirty_at_the_start(tmp_path: Path, on_disk: str | None, in_buffer: str, dirty: bool) -> None:
    path = tmp_path / "a"
    if on_disk is not None:
        path.write_bytes(on_disk.encode())
    assert opened(path, in_buffer)[1].dirty is dirty


def test_our_own_edit_is_ours_once_and_however_the_editor_ends_its_lines(tmp_path: Path) -> None:
    documents, document = opened(tmp_path / "a", "one\r\n")
    document.expected += ["skipped", "two\nlines\r\n"]
    assert change(documents, document, WHOLE(text="two\r\nlines\r\n")) == "us"
    assert document.expected == []
    assert change(documents, document, WHOLE(text="one\r\n")) == "person"
    assert change(documents, document, WHOLE(text="two\r\nlines\r\n")) == "person"


@pytest.mark.parametrize(("encoding", "after"), [("utf-8", 5), ("utf-16", 3), ("utf-32", 2)])
def test_positions_count_in_the_negotiated_encoding(tmp_path: Path, encoding: Encoding, after: int) -> None:
    documents, document = opened(tmp_path / "a", "x\ne😀f\n", encoding)
    change(documents, document, part((1, after), (1, after + 1), "!"))
    assert document.text == "x\ne😀!\n"


def test_lines_end_where_the_protocol_says(tmp_path: Path) -> None:
    documents, document = opened(tmp_path / "a", "a\f\x0b\x1c\x85\u2028b\rc\r\nd\n")
    change(documents, document, part((1, 0), (1, 1), "C"), part((2, 0), (2, 1), "D"))
    assert document.text == "a\f\x0b\x1c\x85\u2028b\rC\r\nD\n"


def test_several_changes_each_see_what_the_one_before_left(tmp_path: Path) -> None:
    documents, document = opened(tmp_path / "a", "abc")
    change(
        documents, document, part((0, 0), (0, 1), ""), part((0, 0), (0, 1), "B"), part((9, 9), (9, 9), "!")
    )
    assert document.text == "Bc!"


def test_documents_that_are_no_files_are_not_ours() -> None:
    documents = Documents()
    assert documents.opened(types.TextDocumentItem("untitled:Untitled-1", "text", 1, "")) is None
    identifier = types.VersionedTextDocumentIdentifier(uri="untitled:Untitled-1", version=2)
    assert documents.changed(types.DidChangeTextDocumentParams(identifier, [WHOLE(text="x")])) is None
    assert documents.saved("untitled:Untitled-1", None) is None
    assert documents.closed("untitled:Untitled-1") is None


def test_a_document_is_found_by_the_real_path_of_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    documents, document = opened(tmp_path / "link", "x")
    assert documents.find(str((tmp_path / "real").resolve())) is document
    documents.closed(document.uri)
    assert documents.find(str((tmp_path / "real").resolve())) is None

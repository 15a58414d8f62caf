"""Reading and writing for an agent, in a real workspace with real links."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_editor.host import paths
from acp_editor.host.files import (
    FileError,
    MissingFile,
    OutsideWorkspace,
    decode,
    keep_style,
    read_bytes,
    read_text,
    slice_lines,
    write_bytes,
    write_text,
)
from acp_editor.host.paths import confine

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX links and modes")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("secret")
    return folder


@pytest.mark.parametrize(
    ("line", "limit", "expected"),
    [
        (None, None, "1\r\n2\n3\x0c\u2028\r4"),
        (1, None, "1\r\n2\n3\x0c\u2028\r4"),
        (0, 1, "1\r\n"),
        (2, 1, "2\n"),
        (3, None, "3\x0c\u2028\r4"),
        (None, 2, "1\r\n2\n"),
        (4, 9, "4"),
        (5, None, ""),
        (99, 1, ""),
        (1, 0, ""),
        (-3, -1, ""),
    ],
)
def test_lines_are_whole_and_counted_from_1(line: int | None, limit: int | None, expected: str):
    assert slice_lines("1\r\n2\n3\x0c\u2028\r4", line, limit) == expected


@pytest.mark.parametrize(
    ("old", "new", "written"),
    [
        (b"a\n", "b\n", b"b\n"),
        (b"", "b\r\n", b"b\r\n"),
        (b"a\r\nb\r\n", "a\nc\n", b"a\r\nc\r\n"),
        (b"a\r\nb\r\n", "a\r\nc\nd", b"a\r\nc\r\nd"),
        (b"a\r\nb\nc\r\n", "a\nc\n", b"a\r\nc\r\n"),
        (b"a\r\nb\nc\r\n", "a\r\nc\n", b"a\r\nc\n"),
        (b"a\nb\nc\r\n", "a\nd\n", b"a\nd\n"),
        (b"a\nb\n", "a\r\nb\n", b"a\nb\n"),
        (b"a\nb\n", "a\r\nb\r\n", b"a\r\nb\r\n"),
        (b"a\rb\r", "a\nc\n", b"a\rc\r"),
        (b"\xef\xbb\xbfa", "b", b"\xef\xbb\xbfb"),
        (b"\xef\xbb\xbfa", "\ufeffb", b"\xef\xbb\xbfb"),
        (b"a", "\ufeffb", b"\xef\xbb\xbfb"),
        (b"\xff\xfea\0\r\0\n\0", "b\n", b"\xff\xfeb\0\r\0\n\0"),
        (b"\xfe\xff\0a", "b", b"\xfe\xff\0b"),
        (b"caf\xe9", "caf\xe9s", b"caf\xe9s"),
        (b"caf\xe9", "\u20ac caf\xe9", "\u20ac caf\xe9".encode()),
        (b"a", "\ud800", b"?"),
    ],
)
def test_the_style_of_a_file_is_kept(old: bytes, new: str, written: bytes):
    assert keep_style(old, new) == written


@given(st.binary(max_size=60) | st.text(st.sampled_from("a\r\né\ufeff"), max_size=20).map(str.encode))
def test_writing_back_what_was_read_changes_nothing(data: bytes):
    kept = keep_style(data, decode(data))
    if not data.startswith((b"\xff\xfe", b"\xfe\xff")) and not decode(data).startswith("\ufeff"):
        assert kept == data


def test_reading(workspace: Path):
    (workspace / "n.txt").write_bytes(b"\xef\xbb\xbf1\r\n2\r\n")
    assert read_text(str(workspace / "n.txt"), roots=[str(workspace)]) == "1\r\n2\r\n"
    assert read_text("n.txt", 2, 1, roots=[str(workspace)]) == "2\r\n"
    (workspace / "sub").mkdir()
    assert read_text("../n.txt", 1, 1, roots=[str(workspace)], cwd=str(workspace / "sub")) == "1\r\n"


def test_what_is_typed_goes_before_what_is_saved(workspace: Path):
    (workspace / "n.txt").write_text("saved\n")
    buffers = {str(workspace / "n.txt"): "typed\nmore\n"}
    assert read_text("n.txt", 1, 1, roots=[str(workspace)], buffer=buffers.get) == "typed\n"
    (workspace / "n.txt").unlink()
    assert read_text("./n.txt", roots=[str(workspace)], buffer=buffers.get) == "typed\nmore\n"


@posix
def test_a_buffer_is_found_by_the_name_of_a_link_and_by_that_of_its_file(workspace: Path):
    (workspace / "real.txt").write_text("saved")
    (workspace / "link.txt").symlink_to("real.txt")
    for name in ("real.txt", "link.txt"):
        buffers = {str(workspace / name): "typed"}
        assert read_text("link.txt", roots=[str(workspace)], buffer=buffers.get) == "typed"


def test_a_buffer_outside_is_not_read(workspace: Path, outside: Path):
    path = str(outside / "secret.txt")
    with pytest.raises(OutsideWorkspace):
        read_text(path, roots=[str(workspace)], buffer={path: "typed"}.get)


def test_what_cannot_be_read_says_why(workspace: Path, monkeypatch: pytest.MonkeyPatch):
    roots = [str(workspace)]
    (workspace / "folder").mkdir()
    (workspace / "binary").write_bytes(b"\x7fELF\0\0")
    (workspace / "big").write_bytes(b"x" * 101)
    monkeypatch.setattr("acp_editor.host.files.MAX_SIZE", 100)
    for path, error, message in [
        ("missing", MissingFile, "missing does not exist"),
        ("missing/too", MissingFile, "missing/too does not exist"),
        ("folder", FileError, "folder is a folder"),
        (".", FileError, "it is a folder"),
        ("binary", FileError, "binary is a binary file"),
        ("binary/x", FileError, "a part of the path is a file"),
        ("big", FileError, "has 101 bytes"),
        ("a\0b", OutsideWorkspace, "is not a path"),
        ("", OutsideWorkspace, "is not a path"),
        ("x" * 300, FileError, "File name too long"),
    ]:
        with pytest.raises(error, match=message):
            read_text(path, roots=roots)


@posix
def test_pipes_and_devices_are_not_read(workspace: Path):
    os.mkfifo(workspace / "fifo")
    with pytest.raises(FileError, match="not a regular file"):
        read_text("fifo", roots=[str(workspace)])
    with pytest.raises(FileError, match="not a regular file"):
        write_text("fifo", "x", roots=[str(workspace)])
    with pytest.raises(FileError, match="not a regular file"):
        read_text("/dev/zero", roots=["/dev"])


def test_writing_makes_folders_and_leaves_nothing_else(workspace: Path):
    path = write_text("new/dir/a.txt", "hé\n", roots=[str(workspace)])
    assert path == str(workspace / "new/dir/a.txt")
    assert Path(path).read_bytes() == "hé\n".encode()
    assert write_text(path, "again", roots=[str(workspace)]) == path
    assert os.listdir(workspace / "new/dir") == ["a.txt"]
    write_bytes(path, b"\0\r\n", roots=[str(workspace)])
    assert read_bytes(path, roots=[str(workspace)]) == b"\0\r\n"


@posix
def test_mode_and_style_are_kept(workspace: Path):
    script = workspace / "run.sh"
    script.write_bytes(b"#!/bin/sh\r\nexit 0\r\n")
    script.chmod(0o751)
    write_text("run.sh", "#!/bin/sh\nexit 1\n", roots=[str(workspace)])
    assert script.read_bytes() == b"#!/bin/sh\r\nexit 1\r\n"
    assert script.stat().st_mode & 0o7777 == 0o751


@posix
def test_a_new_file_has_the_mode_that_the_umask_leaves(workspace: Path):
    before = os.umask(0o027)
    try:
        write_text("a/b", "x", roots=[str(workspace)])
    finally:
        os.umask(before)
    assert (workspace / "a/b").stat().st_mode & 0o777 == 0o640


@posix
def test_a_link_within_the_workspace_is_written_through(workspace: Path):
    (workspace / "real").mkdir()
    (workspace / "real/a.txt").write_text("old")
    (workspace / "folder").symlink_to("real")
    (workspace / "file").symlink_to("real/a.txt")
    (workspace / "dangling").symlink_to("real/new/b.txt")
    assert write_text("folder/a.txt", "1", roots=[str(workspace)]) == str(workspace / "real/a.txt")
    write_text("file", "2", roots=[str(workspace)])
    write_text("dangling", "3", roots=[str(workspace)])
    assert (workspace / "real/a.txt").read_text() == "2"
    assert (workspace / "real/new/b.txt").read_text() == "3"
    assert (workspace / "file").is_symlink()
    assert (workspace / "dangling").is_symlink()


@posix
def test_a_workspace_that_is_itself_a_link(workspace: Path, tmp_path: Path):
    (tmp_path / "alias").symlink_to(workspace)
    write_text(str(tmp_path / "alias/a.txt"), "x", roots=[str(tmp_path / "alias")])
    assert read_text(str(workspace / "a.txt"), roots=[str(tmp_path / "alias")]) == "x"


@posix
@pytest.mark.parametrize(
    "path",
    [
        "../outside/new.txt",
        "../outside/secret.txt",
        "{outside}/secret.txt",
        "sub/../../outside/secret.txt",
        "../ws-more/a.txt",
        "link/secret.txt",
        "link/new.txt",
        "link/../secret.txt",
        "file",
        "dangling",
        "chain",
        "/etc/hostname",
        "/proc/self/cwd/../../etc/hostname",
        "/",
        "..",
    ],
)
def test_nothing_outside_is_touched(workspace: Path, outside: Path, path: str):
    (workspace / "sub").mkdir()
    (workspace / "link").symlink_to(outside)
    (workspace / "file").symlink_to(outside / "secret.txt")
    (workspace / "dangling").symlink_to("../outside/new.txt")
    (workspace / "chain").symlink_to("dangling")
    path = path.replace("{outside}", str(outside))
    roots = [str(workspace)]
    with pytest.raises(OutsideWorkspace, match="outside the workspace"):
        confine(path, roots)
    with pytest.raises(OutsideWorkspace):
        read_text(path, roots=roots)
    with pytest.raises(OutsideWorkspace):
        write_text(path, "x", roots=roots)
    assert os.listdir(outside) == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == "secret"


def test_every_root_counts(workspace: Path, outside: Path):
    roots = [str(workspace), str(outside)]
    assert read_text(str(outside / "secret.txt"), roots=roots) == "secret"
    assert confine("../outside/new", roots) == str(outside / "new")
    with pytest.raises(OutsideWorkspace):
        confine("a", [])


@posix
def test_links_in_a_circle_are_an_error(workspace: Path):
    (workspace / "a").symlink_to("b")
    (workspace / "b").symlink_to("a")
    for path in ("a", "a/x"):
        with pytest.raises((FileError, OutsideWorkspace)):
            read_text(path, roots=[str(workspace)])
        with pytest.raises((FileError, OutsideWorkspace)):
            write_text(path, "x", roots=[str(workspace)])


@pytest.fixture
def swapping(workspace: Path, outside: Path) -> Iterator[Path]:
    """Somebody who swaps a folder and a file for links to the outside, as fast as they can."""
    (workspace / "folder").mkdir()
    for folder in (workspace, workspace / "folder"):
        (folder / "secret.txt").write_text("mine")
    os.symlink(outside, workspace / "evil")
    os.symlink(outside / "secret.txt", workspace / "evil.txt")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for good, evil in (("folder", "evil"), ("secret.txt", "evil.txt")):
                for source, target in ((good, "aside"), (evil, good), (good, evil), ("aside", good)):
                    try:
                        os.rename(workspace / source, workspace / target)
                    except OSError:
                        pass

    thread = threading.Thread(target=swap)
    thread.start()
    yield workspace
    stop.set()
    thread.join()


@posix
def test_links_that_are_swapped_in_while_a_file_is_opened_lead_nowhere(swapping: Path, outside: Path):
    for number in range(150):
        for path in ("folder/secret.txt", "secret.txt", f"folder/new/{number}"):
            try:
                assert read_text(path, roots=[str(swapping)]) != "secret"
            except (FileError, OutsideWorkspace):
                pass
            try:
                write_text(path, "mine", roots=[str(swapping)])
            except (FileError, OutsideWorkspace):
                pass
    assert os.listdir(outside) == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == "secret"


@posix
@pytest.mark.parametrize("victim", ["folder", "folder/secret.txt"])
def test_a_link_that_comes_right_after_the_path_was_resolved_leads_nowhere(
    workspace: Path, outside: Path, victim: str, monkeypatch: pytest.MonkeyPatch
):
    (workspace / "folder").mkdir()
    (workspace / "folder/secret.txt").write_text("mine")
    resolve = paths._locate

    def resolve_and_swap(path: str, roots: Sequence[str], cwd: str | None) -> tuple[str, str]:
        found = resolve(path, roots, cwd)
        if not (workspace / victim).is_symlink():
            (workspace / victim).rename(workspace / "aside")
            (workspace / victim).symlink_to(outside if victim == "folder" else outside / "secret.txt")
        return found

    monkeypatch.setattr(paths, "_locate", resolve_and_swap)
    with pytest.raises((FileError, OutsideWorkspace)):
        read_text("folder/secret.txt", roots=[str(workspace)])
    (workspace / victim).unlink()
    (workspace / "aside").rename(workspace / victim)
    with pytest.raises((FileError, OutsideWorkspace)):
        write_text("folder/secret.txt", "x", roots=[str(workspace)])
    assert (outside / "secret.txt").read_text() == "secret"
    assert os.listdir(outside) == ["secret.txt"]


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write everywhere")
def test_what_may_not_be_written_says_why(workspace: Path):
    (workspace / "locked").mkdir()
    (workspace / "locked/a.txt").write_text("a")
    (workspace / "locked").chmod(0o555)
    (workspace / "b.txt").write_text("b")
    (workspace / "b.txt").chmod(0o444)
    try:
        for path, message in [
            ("locked/a.txt", "locked/a.txt cannot be written: permission denied"),
            ("locked/new/c.txt", "permission denied"),
            ("b.txt", "the file is read-only"),
        ]:
            with pytest.raises(FileError, match=message):
                write_text(path, "x", roots=[str(workspace)])
    finally:
        (workspace / "locked").chmod(0o755)
    assert os.listdir(workspace / "locked") == ["a.txt"]


@posix
def test_a_write_that_fails_leaves_the_old_file(workspace: Path, monkeypatch: pytest.MonkeyPatch):
    (workspace / "a.txt").write_text("old")

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fchmod", full)
    with pytest.raises(FileError, match=r"a\.txt cannot be written: No space left on device"):
        write_text("a.txt", "new", roots=[str(workspace)])
    assert os.listdir(workspace) == ["a.txt"]
    assert (workspace / "a.txt").read_text() == "old"

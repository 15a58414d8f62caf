"""The checkpoint: any tree, any change, and everything comes back."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_editor.review import answers, workspace
from acp_editor.review.checkpoint import Checkpoint, Limits
from acp_editor.review.engine import Engine
from acp_editor.review.files import ABSENT, Version, put, read


def git(root: Path, *args: str) -> None:
    config = ["-c", "user.email=p@example.org", "-c", "user.name=P", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *config, *args], check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    return root


def checkpoint(root: Path, **limits: int) -> Checkpoint:
    made = Checkpoint(str(root), root.parent / "store", Limits(**limits))
    made.refresh({})
    return made


def test_what_git_ignores_is_left_alone(root: Path):
    (root / ".gitignore").write_text("*.log\n/build/\n!keep.log\n")
    (root / "build").mkdir()
    for name in ("a.py", "a.log", "keep.log", "build/x", ".git-like"):
        (root / name).write_text("x\n")
    made = checkpoint(root)
    assert {name for name in ("a.py", "a.log", "keep.log", "build/x", ".git-like") if made.has(name)} == {
        "a.py",
        "keep.log",
        ".git-like",
    }
    assert made.ignored("new.log")
    assert not made.ignored("new.py")
    assert made.ignored(".git/config")


def test_ignored_files_that_git_tracks_are_reviewed(root: Path):
    git(root, "init", "-q")
    (root / "forced.log").write_text("x\n")
    git(root, "add", ".")
    (root / ".gitignore").write_text("*.log\n")
    (root / "other.log").write_text("x\n")
    for number in range(300):
        (root / f"f{number}").write_text("x\n")
    made = checkpoint(root)
    assert made.has("forced.log")
    assert not made.has("other.log")
    assert made.has("f299")


def test_rules_from_above_the_folder_hold_in_it(root: Path):
    git(root, "init", "-q")
    (root / "pkg" / "out").mkdir(parents=True)
    (root / ".gitignore").write_text("*.log\n/pkg/out/\n/elsewhere/a.py\n# pkg\n")
    (root / ".git" / "info" / "exclude").write_text("secret*\n")
    for name in ("a.py", "x.log", "out/y", "secret.txt"):
        (root / "pkg" / name).write_text("x\n")
    made = Checkpoint(str(root / "pkg"), root.parent / "store", Limits())
    made.refresh({})
    assert [name for name in ("a.py", "x.log", "out/y", "secret.txt") if made.has(name)] == ["a.py"]


@pytest.mark.parametrize("attributes", ["", "* text=auto\n", "* text eol=crlf\n"])
@pytest.mark.parametrize("many", [False, True])
def test_line_ends_are_kept_to_the_byte(root: Path, attributes: str, many: bool):
    git(root, "init", "-q")
    git(root, "config", "core.autocrlf", "true")
    (root / ".gitattributes").write_text(attributes)
    (root / "w.txt").write_bytes(b"a\r\nb\r\nc\n$Id$\n")
    for number in range(250 if many else 1):
        (root / f"f{number}").write_bytes(b"x\r\n")
    made = checkpoint(root)
    assert made.base("w.txt") == Version(b"a\r\nb\r\nc\n$Id$\n")
    assert made.base("f0") == Version(b"x\r\n")
    assert made.compare().changed == []


def test_odd_names(root: Path):
    names = [
        b"two words",
        b'quo"te',
        b"new\nline",
        b"\xff\xfe",
        "ä".encode(),
        b"[a]*?",
        b"-dash",
        b"#hash",
        b"!bang",
    ]
    for name in names:
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_text("x\n")
    made = checkpoint(root)
    assert all(made.base(os.fsdecode(name)) == Version(b"x\n") for name in names)
    for name in names:
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_text("changed\n")
    assert sorted(made.compare().changed) == sorted(map(os.fsdecode, names))
    made.take([os.fsdecode(name) for name in names])
    assert made.compare().changed == []


def test_special_files_do_not_disturb(root: Path):
    os.mkfifo(root / "pipe")
    (root / "dangling").symlink_to("nowhere")
    (root / "loop").symlink_to("loop")
    (root / "a.py").write_text("x\n")
    made = checkpoint(root)
    assert made.base("dangling") == Version(b"nowhere", 0o120000)
    assert not made.has("pipe")
    assert made.compare().changed == []


def test_the_users_folder_and_git_are_not_written_to(root: Path):
    git(root, "init", "-q")
    (root / "a.py").write_text("x\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    git(root, "worktree", "add", "-q", str(root.parent / "linked"))

    def all_of(folder: Path) -> dict[str, tuple[int, bytes]]:
        return {
            str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
            for path in folder.rglob("*")
        }

    for folder in (root, root.parent / "linked"):
        before = all_of(root)
        made = Checkpoint(str(folder), root.parent / f"store of {folder.name}", Limits())
        made.refresh({})
        made.compare()
        assert made.has("a.py")
        assert all_of(root) == before


def test_too_large_and_too_many_files_are_left_out_and_named(root: Path):
    (root / "many").mkdir()
    for number in range(300):
        (root / "many" / str(number)).write_text("x\n")
    for number in range(260):
        (root / f"f{number}").write_text("x\n")
    (root / "big").write_bytes(b"x" * 5000)
    made = checkpoint(root, file_size=4000, file_count=400)
    assert set(made.left_out) == {"big", "many/"}
    assert made.has("f0")
    assert not made.has("many/0")
    assert made.compare().changed == []


def test_too_many_new_files_are_left_out_later_too(root: Path):
    for number in range(50):
        (root / f"f{number}").write_text("x\n")
    made = checkpoint(root, file_count=100)
    (root / "unpacked" / "deep").mkdir(parents=True)
    for number in range(80):
        (root / "unpacked" / "deep" / str(number)).write_text("x\n")
    (root / "f0").write_text("changed\n")
    (root / "new").write_text("new\n")
    assert sorted(made.compare().changed) == ["f0", "new"]
    assert set(made.left_out) == {"unpacked/"}


def test_bases_outlive_the_process(root: Path):
    (root / "a.py").write_text("x\n")
    (root / "secret").write_text("s\n")
    (root / "secret").chmod(0o600)
    made = checkpoint(root)
    made.set_base("a.py", Version(b"other\n"))
    made.flush()
    again = Checkpoint(str(root), made.store, Limits())
    assert again.base("a.py") == Version(b"other\n")
    assert again.permissions("secret") == 0o600
    assert again.compare().changed == ["a.py"]


def test_a_change_within_one_tick_of_the_clock_is_seen(root: Path):
    for number in range(20):
        (root / "a.py").write_text(f"{number:02}\n")
        made = checkpoint(root)
        (root / "a.py").write_text(f"{number:02}!"[:3])
        assert made.compare().changed == ["a.py"]
        shutil.rmtree(made.store)


def test_old_stores_go_and_a_workspace_can_be_forgotten(root: Path, tmp_path: Path):
    one, two = tmp_path / "one", tmp_path / "two"
    cache = tmp_path / "cache"
    for folder in (one, two):
        folder.mkdir()
        (folder / "a").write_text("a\n")
        workspace.Workspace([str(folder)], cache, Limits()).refresh({})
    assert len(workspace.stores(cache)) == 2
    workspace.forget(cache, [str(one)])
    assert [workspace.root_of(store) for store in workspace.stores(cache)] == [str(two)]
    workspace.clean(cache, time.time() + workspace.STORE_AGE + 10)
    assert workspace.stores(cache) == []


def test_the_store_of_a_window_that_is_open_for_long_stays(tmp_path: Path):
    folder, cache = tmp_path / "one", tmp_path / "cache"
    folder.mkdir()
    made = workspace.Workspace([str(folder)], cache, Limits())
    later = time.time() + 2 * workspace.STORE_AGE
    made.used(later)
    workspace.clean(cache, later + 10)
    assert len(workspace.stores(cache)) == 1
    made.used(later + 20)  # a day has not passed
    workspace.clean(cache, later + workspace.STORE_AGE + 10)
    assert workspace.stores(cache) == []


NAMES = st.sampled_from(["a", "b.txt", "dir/c", "dir/d e", "dir/sub/f", "other/g", 'q"\n', "\udcff"])
DATA = st.one_of(
    st.binary(max_size=40),
    st.lists(st.sampled_from([b"one\n", b"two\r\n", b"three\n", b"\n", b"end"]), max_size=8).map(b"".join),
)
FILES = st.dictionaries(
    NAMES,
    st.one_of(
        st.tuples(DATA, st.sampled_from([0o644, 0o755, 0o600, 0o444, 0o750])),
        st.sampled_from(["a", "nowhere", "dir"]),
    ),
    max_size=8,
)


def make(root: Path, tree: dict[str, object]) -> None:
    """Turns the folder into this tree, changing as little as it can."""
    for name in list_files(root):
        if name not in tree:
            os.unlink(root / name)
    for name, content in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or path.exists():
            os.unlink(path)
        if isinstance(content, tuple):
            path.write_bytes(content[0])
            path.chmod(content[1])
        else:
            path.symlink_to(str(content))


def list_files(root: Path) -> list[str]:
    return [
        os.path.relpath(os.path.join(folder, name), root)
        for folder, folders, names in os.walk(root)
        for name in [*names, *(one for one in folders if os.path.islink(os.path.join(folder, one)))]
    ]


def snapshot(root: Path) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in list_files(root):
        path = root / name
        if path.is_symlink():
            found[name] = os.readlink(path)
        else:
            found[name] = (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
    return found


@given(FILES, st.lists(FILES, min_size=1, max_size=3))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_undoing_all_gives_every_byte_and_mode_back(
    before: dict[str, object], after: list[dict[str, object]]
):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        root.mkdir()
        make(root, before)
        engine = Engine([str(root)], Path(folder) / "cache", Limits())
        engine.patience = 0.0
        engine.begin()
        engine.turns.start(time.time())
        for tree in after:
            make(root, tree)
            engine.look(modes=True)
        pending = sorted(engine.tracked.values(), key=lambda tracked: tracked.base.absent)
        for tracked in pending:
            if tracked.old_path:
                answers.put(engine, tracked.old_path, tracked.base, ABSENT)
                answers.put(engine, tracked.path, ABSENT, tracked.disk)
                answers.moved_back(engine, tracked)
            else:
                answers.put(engine, tracked.path, tracked.undone(None), tracked.disk)
                answers.undo(engine, tracked, None)
        engine.look()
        assert snapshot(root) == before
        assert not engine.tracked
        engine.close()


def test_a_version_is_put_and_read_back(root: Path):
    for version in (
        Version(b"x"),
        Version(b"x", 0o100750),
        Version(b"x", 0o100400),
        Version(b"target", 0o120000),
        ABSENT,
    ):
        put(str(root / "f"), version)
        assert read(str(root / "f")) == version
    assert os.listdir(root) == []

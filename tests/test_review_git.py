"""What the person does with git is the person's, and a commit keeps: by real git, in its kinds of folders."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from review_editor import Desk

pytestmark = pytest.mark.anyio

LINES = "".join(f"line {number}\n" for number in range(40))
TEN = LINES.replace("line 10\n", "ten\n")
MANY = [f"pkg/m{number}.py" for number in range(60)]


def git(root: Path, *args: str) -> str:
    config = ["-c", "user.email=p@example.org", "-c", "user.name=P", "-c", "commit.gpgsign=false"]
    config += ["-c", "protocol.file.allow=always"]
    done = subprocess.run(
        ["git", "-C", str(root), *config, *args], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(root: Path, files: dict[str, str], message: str) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-qm", message)


def repository(root: Path) -> Path:
    """Two branches that differ in 60 files, and what can be pulled."""
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    commit(root, {"a.py": LINES, "b.py": LINES, **dict.fromkeys(MANY, "one\n")}, "first")
    git(root, "checkout", "-qb", "other")
    commit(root, dict.fromkeys(MANY, "other\n") | {"only.py": "only\n"}, "second")
    git(root, "checkout", "-q", "main")
    git(root, "clone", "-q", str(root), str(root.parent / "upstream"))
    commit(root.parent / "upstream", {MANY[0]: "pulled\n", "pulled.py": "pulled\n"}, "third")
    git(root, "remote", "add", "origin", str(root.parent / "upstream"))
    return root


def plain(folder: Path) -> Path:
    return repository(folder / "repo")


def linked_worktree(folder: Path) -> Path:
    main = repository(folder / "repo")
    git(main, "checkout", "-q", "--detach")
    git(main, "worktree", "add", "-q", str(folder / "linked"), "main")
    return folder / "linked"


KINDS = [plain, linked_worktree]

COMMANDS: dict[str, list[list[str]]] = {
    "checkout": [["checkout", "-q", "other"]],
    "checkout and back": [["checkout", "-q", "other"], ["checkout", "-q", "main"]],
    "merge": [["merge", "-q", "other"]],
    "rebase": [["rebase", "-q", "other"]],
    "pull": [["pull", "-q", "--no-rebase", "origin", "main"]],
    "reset": [["reset", "-q", "--hard", "other"]],
    "cherry-pick": [["cherry-pick", "other"]],
    "stash and pop": [["stash", "-q", "--include-untracked", "--", *MANY], ["stash", "pop", "-q"]],
}


@pytest.mark.parametrize(
    ("kind", "command"),
    [(plain, command) for command in COMMANDS] + [(linked_worktree, "checkout"), (linked_worktree, "pull")],
)
@pytest.mark.parametrize("in_the_turn", [True, False], ids=["in the turn", "after the turn"])
async def test_what_the_persons_git_does_does_not_flood_the_list(
    tmp_path: Path, kind: Callable[[Path], Path], command: str, in_the_turn: bool
) -> None:
    root = kind(tmp_path)
    commit(root, {"mine.py": "mine\n"}, "ours")
    desk = Desk(root, tmp_path)
    async with anyio.create_task_group() as group:
        await desk.review.start(group)
        for name in MANY[50:]:
            desk.write(name, "mine\n")
        if "stash" not in command:
            git(root, "checkout", "-q", "--", ".")
        before = git(root, "status", "--porcelain")
        await desk.begin()
        desk.write("new.py", "agent\n")
        assert len(await desk.changes()) == 1
        if not in_the_turn:
            await desk.end()
        for args in COMMANDS[command]:
            git(root, *args)
        changes = await (desk.end() if in_the_turn else desk.changes())
        assert [change.path for change in changes] == [desk.path("new.py")]
        await desk.review.undo()
        assert git(root, "status", "--porcelain") == before
        await desk.review.aclose()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
async def test_a_stash_and_its_return(tmp_path: Path, kind: Callable[[Path], Path]) -> None:
    root = kind(tmp_path)
    (root / "b.py").write_text(LINES.replace("line 30\n", "mine\n"))
    desk = Desk(root, tmp_path)
    async with anyio.create_task_group() as group:
        await desk.review.start(group)
        await desk.begin()
        desk.write("a.py", TEN)
        assert len(await desk.end()) == 1
        git(root, "stash", "-q")
        assert await desk.changes() == ()
        git(root, "stash", "pop", "-q")
        assert await desk.changes() == ()  # what comes back was taken away by the person, and is the person's
        await desk.begin()
        assert await desk.end() == ()
        assert desk.bytes("b.py").decode() == LINES.replace("line 30\n", "mine\n")
        await desk.review.aclose()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
async def test_a_commit_keeps_what_it_contains(tmp_path: Path, kind: Callable[[Path], Path]) -> None:
    root = kind(tmp_path)
    desk = Desk(root, tmp_path)
    async with anyio.create_task_group() as group:
        await desk.review.start(group)
        await desk.begin()
        desk.write("a.py", TEN.replace("line 30\n", "thirty\n"))
        desk.write("b.py", TEN)
        desk.write("new.py", "new\n")
        os.unlink(root / MANY[0])
        assert len(await desk.end()) == 4
        # The first hunk of a.py alone, as `git add -p` does it.
        patch = git(root, "diff", "-U0", "a.py").split("\n@@")
        (tmp_path / "patch").write_text("\n@@".join(patch[:2]) + "\n")
        git(root, "apply", "--cached", "--unidiff-zero", str(tmp_path / "patch"))
        git(root, "add", "new.py", MANY[0])
        git(root, "commit", "-qm", "some of it")
        await desk.until(lambda: len(desk.review.changes()) == 2)
        first, second = desk.review.changes()
        assert (first.path, [hunk.original for hunk in first.hunks]) == (desk.path("a.py"), [(30, 31)])
        assert (second.path, len(second.hunks)) == (desk.path("b.py"), 1)
        await desk.review.undo()
        assert git(root, "status", "--porcelain") == ""
        await desk.review.aclose()


async def test_a_submodule_is_reviewed_and_stays_intact(tmp_path: Path) -> None:
    root, library = tmp_path / "repo", tmp_path / "library"
    library.mkdir()
    git(library, "init", "-q", "-b", "main")
    commit(library, {"x.py": LINES}, "library")
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "submodule", "--quiet", "add", str(library), "lib")
    commit(root, {"a.py": LINES, ".gitignore": "*.log\nbuild/\n"}, "first")
    before = everything(root / ".git")
    desk = Desk(root, tmp_path)
    async with anyio.create_task_group() as group:
        await desk.review.start(group)
        await desk.begin()
        desk.write("lib/x.py", TEN)
        desk.write("lib/y.py", "new\n")
        desk.write("a.py", TEN)
        desk.write("build/out", "ignored\n")
        desk.write("lib/z.log", "not ignored there\n")
        changes = await desk.end()
        listed = {os.path.relpath(change.path, root) for change in changes}
        assert listed == {"lib/x.py", "lib/y.py", "a.py", "lib/z.log"}
        assert everything(root / ".git") == before
        git(root / "lib", "add", "x.py")
        git(root / "lib", "commit", "-qm", "in the submodule")
        await desk.until(lambda: desk.path("lib/x.py") not in {one.path for one in desk.review.changes()})
        await desk.review.undo()
        assert git(root / "lib", "status", "--porcelain") == ""
        assert git(root, "status", "--porcelain", "--ignore-submodules") == ""
        await desk.review.aclose()


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("autocrlf", ["true", "false", "input"])
async def test_line_ends_under_autocrlf(tmp_path: Path, autocrlf: str) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "core.autocrlf", autocrlf)
    files = {
        "crlf.txt": b"one\r\ntwo\r\nthree\r\n",
        "lf.txt": b"one\ntwo\nthree\n",
        "mixed.txt": b"one\r\ntwo\nthree\r\n",
    }
    for name, data in files.items():
        (root / name).write_bytes(data)
    git(root, "-c", "core.safecrlf=false", "add", "-A")
    git(root, "commit", "-qm", "first")
    desk = Desk(root, tmp_path)
    async with anyio.create_task_group() as group:
        await desk.review.start(group)
        await desk.begin()
        for name, data in files.items():
            desk.write(name, data.replace(b"two", b"TWO"))
        changes = await desk.end()
        assert [[hunk.original for hunk in change.hunks] for change in changes] == [[(1, 2)]] * 3
        git(root, "-c", "core.safecrlf=false", "commit", "-qm", "crlf alone", "--", "crlf.txt")
        await desk.until(lambda: len(desk.review.changes()) == 2)
        await desk.review.undo()
        assert (root / "lf.txt").read_bytes() == files["lf.txt"]
        assert (root / "mixed.txt").read_bytes() == files["mixed.txt"]
        await desk.review.aclose()

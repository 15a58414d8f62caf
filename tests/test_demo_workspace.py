"""What the built-in agent finds in a workspace, and the edits that it proposes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_editor.agents import rewrites, tour, workspace
from acp_editor.agents.improve import Improvement, improvement
from acp_editor.agents.workspace import File


def propose(name: str, text: str) -> Improvement:
    return improvement([File(f"/w/{name}", name, text)], "/w", "noted")


# -- walking -----------------------------------------------------------------------------------


def test_the_walk_leaves_out_what_git_ignores(tmp_path: Path) -> None:
    rules = {
        ".gitignore": "*.log\n/build/\nsecret.*\n!keep.log\n",
        "lib/.gitignore": "*.txt\n!b.txt\n!secret.py\n/only/\n",
        "docs/.gitignore": "*\n!*.md\n",
    }
    names = ["a.log", "keep.log", "build/a.py", "lib/build/a.py", "lib/a.txt", "lib/b.txt", "lib/secret.py"]
    names += [
        "lib/only/a.py",
        "lib/deep/only/a.py",
        "lib/deep/a.txt",
        "docs/a.md",
        "docs/a.py",
        "secret.md",
        "ü.py",
    ]
    for name, text in [*rules.items(), *((name, "x\n") for name in names)]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    visible = {name for name in listed if name and not Path(name).name.startswith(".")}
    assert {file.name for file in workspace.walk(str(tmp_path)).files} == visible


def test_a_line_that_git_ignores_nothing_by_spoils_no_other(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("[z-a]\n*.log\n")
    for name in ("a.log", "a.py"):
        (tmp_path / name).write_text("x\n")
    assert [file.name for file in workspace.walk(str(tmp_path)).files] == ["a.py"]


def test_the_walk_leaves_out_what_is_no_text_or_too_large(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("é\r\n".encode())
    (tmp_path / "b.bin").write_bytes(b"a\0b")
    (tmp_path / "c.txt").write_bytes("é".encode("latin-1"))
    (tmp_path / "d.txt").write_bytes(b"x" * (workspace.MAX_BYTES + 1))
    (tmp_path / "loop").symlink_to(tmp_path)
    assert workspace.walk(str(tmp_path)).files == (File(str(tmp_path / "a.txt"), "a.txt", "é\r\n"),)


def test_writing_keeps_the_mode_and_makes_folders(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("old")
    script.chmod(0o751)
    workspace.write(str(script), "new\r\n")
    workspace.write(str(tmp_path / "deep/new.txt"), "new")
    assert script.read_bytes() == b"new\r\n"
    assert script.stat().st_mode & 0o777 == 0o751
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["deep", "new.txt", "run.sh"]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("", "a", 1),
        ("a\nb", "a\nc", 2),
        ("a\n", "a\nb\n", 2),
        ("a\nb\n", "a\n", 1),
        ("a", "", 1),
        ("a", "a\n", 1),
    ],
)
def test_the_first_change(old: str, new: str, line: int) -> None:
    assert workspace.first_change(old, new) == line


# -- rewriting ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "text", "after"),
    [
        ("a", "a ab a_ a.a é-a", "X ab a_ X.X é-X"),
        ("a.b", "a.b axb a.bc", "X axb a.bc"),
        ("$x", "$x y$x $xy", "X y$x $xy"),
        ("été", "été étés", "X étés"),
    ],
)
def test_whole_words(old: str, text: str, after: str) -> None:
    assert rewrites.rewrite(text, rewrites.whole_word(old), "X") == after


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("x = 1  # TODO: later", "TODO f:1 later"),
        ("// FIXME(ann) this", "FIXME f:1 ann) this"),
        ("/* HACK it works */", "HACK f:1 it works"),
        ("<!-- TODO -->", "TODO f:1 (nothing said)"),
        (" * TODO in a block", "TODO f:1 in a block"),
        ("# see the TODO list", "TODO f:1 list"),
        ("todo = TODO", None),
        ("# METHODOLOGY", None),
    ],
)
def test_tasks(line: str, told: str | None) -> None:
    found = rewrites.tasks([File("/w/f", "f", line + "\n")])
    assert [rewrites.task_entry(each).content for each in found] == ([told] if told else [])


# -- improvements ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('x = "a " + b', 'x = f"a {b}"'),
        ("x = 'a ' + b.c + '!'", 'x = f"a {b.c}!"'),
        ('x = a + " " + str(b)', 'x = f"{a} {b}"'),
        ('x = "é " + f(b, c)  # é', 'x = f"é {f(b, c)}"  # é'),
        ('x = str(a) + "/" + b', 'x = f"{a}/{b}"'),
        ('x = "a" + str(*b)', 'x = f"a{str(*b)}"'),
    ],
)
def test_sums_become_f_strings(before: str, after: str) -> None:
    made = propose("a.py", f"# é\n{before}\n")
    assert (made.old, made.new) == (f"# é\n{before}\n", f"# é\n{after}\n")


@pytest.mark.parametrize(
    "text",
    [
        "x = a + b",
        "x = 1 + 2",
        'x = "a" + "b"',
        'x = a + b + "c"',
        'x = "{" + a',
        'x = "\\n" + a',
        'x = r"a" + b',
        'x = b"a" + c',
        'x = "a" + b["c"]',
        'x = "a" + (b or c)',
        'x = "a" + str(b, "utf-8")',
        'x = "a" * b',
        "x = f\"{'a' + b}\"",
        'x = (\n    "a"\n    + b\n)',
        "not python (",
    ],
)
def test_what_may_not_be_an_f_string_is_left_alone(text: str) -> None:
    assert propose("a.py", text + "\n").path == "/w/NOTES.md"


@given(
    pieces=st.lists(
        st.sampled_from(["a", "b.c", "str(n)", "d(1)", '"x y"', "'it'", '"é"']), min_size=1, max_size=5
    )
)
def test_an_f_string_means_what_the_sum_meant(pieces: list[str]) -> None:
    class Held:
        c = "held"

    names = {"a": "A", "b": Held, "n": 7, "d": lambda number: f"d{number}"}
    before = " + ".join(pieces)
    made = propose("a.py", f"x = {before}\n")
    if made.path == "/w/a.py":
        assert made.new.startswith('x = f"')
        assert eval(made.new[4:], dict(names)) == eval(before, dict(names))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('const x = "a " + b;', "const x = `a ${b}`;"),
        ("f('a', \"b\" + c.d)", "f('a', \"b\" + c.d)"),
        ('log("a " + b * 2);', None),
        ('// say "a " + b', None),
        ('x = 1 + "a" + b;', None),
    ],
)
def test_sums_become_templates(before: str, after: str | None) -> None:
    made = propose("a.js", before + "\n")
    if after is None or after == before:
        assert made.path == "/w/NOTES.md"
    else:
        assert made.new == after + "\n"


def test_lesser_things() -> None:
    assert propose("a.txt", "a  \r\nb\t\r\n").new == "a\r\nb\r\n"
    assert propose("a.md", "a  \nb\n").path == "/w/NOTES.md"
    assert propose("a.md", "a\r\nb").new == "a\r\nb\r\n"
    assert propose("NOTES.md", "# Mine\n").new == "# Mine\n- noted\n"


# -- the tour ----------------------------------------------------------------------------------


def test_the_stops_of_a_tour() -> None:
    texts = {
        "README.md": "# It\n\nIt does a thing that is worth a line.\n",
        "a.py": "def a():\n    pass\n",
        "app.py": '"""Starts it."""\n',
        "lib/long.py": "class A:\n    def b(self): ...\n    def c(self): ...\n",
    }
    files = [File(f"/w/{name}", name, text) for name, text in texts.items()]
    assert [stop.name for stop in tour.stops(files, [], "")] == ["README.md", "app.py", "lib/long.py"]
    assert [stop.name for stop in tour.stops(files, ["/w/a.py"], "")][:2] == ["a.py", "README.md"]
    assert tour.stops(files, [], "how long is it?")[0].name == "lib/long.py"
    assert tour.summary(files[0]).startswith("It does a thing that is worth a line (")
    assert tour.summary(files[2]) == "Starts it (1 line)"
    assert tour.waypoints(files[3]) == [1, 2, 3]
    assert tour.waypoints(files[3], 2, 99) == [2, 3]
    assert tour.waypoints(File("/w/e", "e", ""), 7, 9) == [1]

"""Whatever the rules allow, a real shell runs nothing but allowed commands.

Command lines are made from a grammar and then damaged; each one that is allowed is run by bash and by sh in a
folder of its own, with a PATH of stand-ins that write down their words and do nothing else. What they print
is hostile too, for whatever evaluates output a second time.
"""

# ruff: noqa: E501 (a grammar reads best in few lines)
from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from acp_editor.policy.calls import input_from
from acp_editor.policy.check import check
from acp_editor.policy.rules import rules_from

from acp_editor.core.model import ToolCall  # isort: skip

RULES = {
    "allow": [
        "execute(good:*)",
        "execute(git status:*)",
        "execute(exactly this)",
        "execute(break)",
        "execute(cd:*)",
        "execute(read:*)",
        "execute(printf:*)",
        "execute(find:*)",
        "edit(out/**)",
    ]
}
STAND_INS = ("good", "git", "exactly", "evil", "bad", "goodx", "status", "this", "[[", "function", "coproc")
REAL = ("sh", "bash", "env", "xargs", "timeout", "nice", "nohup", "find", "time", "sudo")


@dataclass(frozen=True)
class Sandbox:
    folder: Path
    bin: Path
    log: Path

    def run(self, shell: str, line: str) -> list[list[str]]:
        """The words of every stand-in that ran."""
        self.log.write_bytes(b"")
        process = subprocess.Popen(
            [shell, "-c", line],
            cwd=self.folder,
            env={"PATH": str(self.bin), "HOME": str(self.folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            pass
        finally:
            # What is left in the background is over with its line.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
            process.communicate()
        runs = self.log.read_bytes().decode("utf-8", "replace").split("\1\n")
        return [run.split("\0")[:-1] for run in runs if run]

    def files(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}

    def clean(self) -> None:
        for child in self.folder.iterdir():
            shutil.rmtree(child) if child.is_dir() and not child.is_symlink() else child.unlink()
        (self.folder / "out").mkdir()
        (self.folder / "in").write_text("evil\n")


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    top = tmp_path_factory.mktemp("shells")
    found = Sandbox(top / "work", top / "bin", top / "log")
    found.folder.mkdir()
    found.bin.mkdir()
    script = (
        f"#!/bin/sh\nprintf '%s\\0' \"${{0##*/}}\" \"$@\" >> {found.log}\nprintf '\\1\\n' >> {found.log}\n"
        "printf '%s\\n' 'evil; a[$(evil)] `evil`'\n"
    )
    for name in STAND_INS:
        path = found.bin / name
        path.write_text(script)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    for name in REAL:
        if real := shutil.which(name):
            (found.bin / name).symlink_to(real)
    return found


def is_allowed(words: list[str]) -> bool:
    return words[:1] == ["good"] or words[:2] == ["git", "status"] or words == ["exactly", "this"]


# -- a grammar of command lines ----------------------------------------------------------------

names = st.sampled_from(
    ["good", "good", "git status", "git status", "exactly this", "evil", "git evil", "'good'", "go\\od"]
)
arguments = st.sampled_from(
    [
        "a", "-n", "--x=1", "'b c'", '"d e"', "$f", '"$f"', "*", "~", "{a,b}", "#", "a#b", "\\;", "'$(evil)'",
        '"\\$(evil)"', "\\", "''", "-exec", "evil", "2", "a=b", "=", "$'a'", "$((1+2))", "$((f))", "${f:-x}",
        "${#f}", "${!f}", "${f@P}", "${f:1}", "$#", "$?", "`", "'", '"', "!", "^", "%1", "{}", "[ab]", "x[$(evil)]",
    ]
)  # fmt: skip
assignments = st.sampled_from(
    ["CI=1", "f=1", "PATH=/x", "LANG=C", "f='a[$(evil)]'", "f=$(evil)", "IFS=x", "f=evil"]
)


def _joined(*parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(*parts).map(" ".join)


simple = st.builds(
    lambda before, name, after: " ".join([*before, name, *after]),
    st.lists(assignments, max_size=1),
    names,
    st.lists(arguments, max_size=3),
)
plain = st.builds(lambda name, after: f"{name} {after}", names, st.sampled_from(["a", "b -x", "--short", ""]))


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    between = st.sampled_from(["&&", "||", ";", "|", "&", "\n", "|&", ";;", "\\\n", "# "])
    wrappers = st.sampled_from(
        [
            "env ", "env CI=1 ", "env -i ", "env A=1 ", "nice ", "nice -n 5 ", "timeout 5 ", "nohup ", "time ", "! ",
            "command ", "exec ", "xargs ", "xargs -I{} ", "xargs -n1 sh -c ", "builtin ", "coproc ", "eval ",
            "find . -maxdepth 0 -exec ", "sudo ", "command -p ", "exec -a x ", "printf -v f ",
            "timeout $f ", "nice -n $f ", "env $f ", "xargs -n $f ", 'sh -c "$f" ', "env -u $f ", "exec -a $f ",
        ]
    )  # fmt: skip
    frames = st.sampled_from(
        [
            "({})", "{{ {}; }}", "if {}; then good; fi", "while {}; do break; done", "for f in a b; do {}; done",
            "case a in a) {};; esac", "good $({})", 'good "$({})"', "good `{}`", "good <({})", "good >({})",
            "sh -c '{}'", 'bash -c "{}"', "eval '{}'", 'eval "{}"', "f() {{ {}; }}; f", "good \"${{f:-$({})}}\"",
            "good $(( $({}) ))", "good <<< \"$({})\"", "[ -f in ] && {}", "[[ -f in || {} ]]", "trap '{}' EXIT",
            "find . -maxdepth 0 -exec {} \\;", "find . -maxdepth 0 -exec {} {{}} +", "good <<E\n{}\nE\n",
            "good <<E\n$({})\nE\n", "good <<'E'\n$({})\nE\n", "sh <<E\n{}\nE\n", 'good "$(good <<\'E\'\n{}\nE\n)"',
            "{} # evil", "# {}", "alias good=evil; {}", "good() {{ evil; }}; {}", "(({}))", "{{ {}", "read f; {}",
            "cd out && {}", "export CI=1; {}", "f='{}'; $f", "f='5 evil'; {}", "f=-x; {}", "for PATH in /x; do {}; done", "{} 2>&1", "if {}; then",
        ]
    )  # fmt: skip
    redirects = st.sampled_from(
        ["> x", ">> out/a", "2>/dev/null", "&> x", "< in", ">& x", "> $f", "2>&1", "> 'out/b'"]
    )
    return st.one_of(
        st.builds(lambda a, sep, b: f"{a} {sep} {b}", inner, between, inner),
        st.builds(lambda wrapper, line: wrapper + line, wrappers, inner),
        st.builds(lambda frame, line: frame.format(line), frames, inner),
        st.builds(lambda line, redirect: f"{line} {redirect}", inner, redirects),
    )


def _damaged(line: str, damage: list[tuple[int, str]]) -> str:
    for at, piece in damage:
        at %= len(line) + 1
        line = line[:at] + piece + line[at:]
    return line


pieces = st.sampled_from(
    [*";&|<>(){}$`'\"\\\n\t #!*?[]=~^%-+,:@", "\r", "\0", "\x0b", "\u00a0", "\u2028", "é", "$(", "${", "<<", "))", "\\\n", "$'"]
)  # fmt: skip
lines = st.builds(
    _damaged,
    st.recursive(st.one_of(plain, simple), _grown, max_leaves=4),
    st.lists(st.tuples(st.integers(0, 200), pieces), max_size=2),
)


def judged(line: str, folder: Path) -> str:
    call = ToolCall("c", kind="execute", raw_input={"command": line})
    return check(input_from(call, None, str(folder), [str(folder)]), rules_from(RULES, "user")).decision


def wrong(sandbox: Sandbox, line: str) -> str | None:
    """What bash or sh did with a line beyond what the rules allow."""
    for shell in ("bash", "sh"):
        sandbox.clean()
        before = sandbox.files()
        for words in sandbox.run(shell, line):
            if not is_allowed(words):
                return f"{shell} ran {words}"
        made = {name for name in sandbox.files() - before if not name.startswith("out/")}
        if made:
            return f"{shell} wrote {made}"
    return None


@settings(
    max_examples=int(os.environ.get("ACP_EDITOR_FUZZ", "250")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(line=lines)
def test_what_is_allowed_runs_nothing_else(sandbox: Sandbox, line: str) -> None:
    sandbox.clean()
    if "\0" in line or judged(line, sandbox.folder) != "allow":
        return
    assert (problem := wrong(sandbox, line)) is None, problem


def careless(line: str) -> bool:
    """As one would write it in an afternoon: split at the operators, compare how each part begins."""
    parts = re.split(r"&&|\|\||;|\|", line)
    return all(re.match(r"\s*(good|git status|exactly this)\b", part) for part in parts)


def test_the_fuzzer_finds_what_a_careless_judge_lets_through(sandbox: Sandbox) -> None:
    """It could fail: a judge of this kind does not survive it."""
    found = find(
        lines,
        lambda line: "\0" not in line and careless(line) and wrong(sandbox, line) is not None,
        settings=settings(max_examples=2000, deadline=None, database=None),
        random=Random(1),
    )
    assert judged(found, sandbox.folder) != "allow"

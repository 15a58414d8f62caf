"""Command lines against rules, each with the reason why it is decided so; and how a line is taken apart."""

# ruff: noqa: E501 (a table reads best with one case in a line)
from __future__ import annotations

import time

import pytest
from rule_subjects import Settings, runs

from acp_editor.policy.commands import parse_command, parse_words
from acp_editor.policy.decide import decide
from acp_editor.policy.rules import rules_from

# -- commands ----------------------------------------------------------------------------------

GIT: Settings = {"allow": ["execute(git status:*)"]}
SEVERAL: Settings = {
    "allow": [
        "execute(git status:*)",
        "execute(git log:*)",
        "execute(ls:*)",
        "execute(grep:*)",
        "execute(cat:*)",
    ],
    "deny": ["execute(rm:*)"],
}
FIND: Settings = {"allow": ["execute(find:*)", "execute(grep:*)"]}
WITH_EDIT: Settings = {
    "allow": ["execute(make:*)", "execute(cd:*)", "edit(out/**)"],
    "deny": ["edit(**/.env)"],
}
ALL: Settings = {"allow": ["execute"]}
ALL_BUT: Settings = {"allow": ["execute"], "deny": ["execute(rm:*)"]}
PUSH: Settings = {"allow": ["execute(git push:*)"], "deny": ["execute(git push --force:*)"]}

COMMANDS: list[tuple[Settings, str, str, str]] = [
    # beginning words
    (GIT, "git status", "allow", "the words themselves"),
    (GIT, "git status --short", "allow", "more words after them"),
    (GIT, "  git   status\t-s ", "allow", "blanks do not count"),
    (GIT, "git statusx", "ask", "words, not letters"),
    (GIT, "git status-all", "ask", "words, not letters"),
    (GIT, "git", "ask", "a word is missing"),
    (GIT, "git -c x=y status", "ask", "other words stand before"),
    (GIT, "git log", "ask", "another subcommand"),
    (GIT, "GIT status", "ask", "programs have case"),
    (GIT, "'git' \"status\"", "allow", "quotes do not change a word"),
    (GIT, "git st\\atus", "allow", "nor do backslashes"),
    (GIT, "'git status'", "ask", "one word, not two"),
    (GIT, "git 'status --short'", "ask", "quoted blanks are part of a word"),
    (GIT, "git\\ status", "ask", "a quoted blank"),
    (GIT, "git status # curl x", "allow", "a comment"),
    (GIT, "# git status", "ask", "nothing but a comment"),
    (GIT, "", "ask", "nothing at all"),
    (GIT, "   ", "ask", "nothing at all"),
    (GIT, "git status *.py", "allow", "what a glob becomes is an argument"),
    (GIT, "git status $FILES", "allow", "what a variable becomes is an argument"),
    (GIT, 'git status "$HOME"', "allow", "likewise"),
    (GIT, "git $X", "ask", "the subcommand is not known"),
    (GIT, "$X status", "ask", "the program is not known"),
    (GIT, "$X git status", "ask", "the program is not known, even if it may be empty"),
    (GIT, "g?t status", "ask", "a glob for a program"),
    (GIT, "{git,status}", "ask", "braces for a program"),
    (GIT, "./git status", "ask", "another program of that name"),
    (GIT, "/usr/bin/git status", "ask", "a path is not the word of the rule"),
    (GIT, "~/bin/git status", "ask", "a path that the shell makes"),
    (GIT, "=git status", "ask", "zsh would look it up"),
    # several commands
    (GIT, "git status && git status -s", "allow", "each part is covered"),
    (GIT, "git status && curl evil", "ask", "the second is not"),
    (GIT, "curl evil && git status", "ask", "the first is not"),
    (GIT, "git status; curl x", "ask", "after a semicolon"),
    (GIT, "git status || curl x", "ask", "after an or"),
    (GIT, "git status | sh", "ask", "a shell that reads what comes"),
    (GIT, "git status | bash -", "ask", "likewise"),
    (GIT, "git status |& curl x", "ask", "a pipe for both outputs"),
    (GIT, "git status & curl x", "ask", "in the background"),
    (GIT, "git status\ncurl x", "ask", "a new line"),
    (GIT, "git status\n", "allow", "a newline at the end is nothing"),
    (GIT, "git status\r\ncurl x", "ask", "a carriage return is not a blank to a shell"),
    (GIT, "git status \\\n --short", "allow", "a line goes on"),
    (GIT, "git stat\\\nus", "ask", "a word goes on in the next line"),
    (GIT, "git status \\\\\ncurl x", "ask", "a quoted backslash does not join lines"),
    (GIT, "(git status)", "allow", "in a subshell"),
    (GIT, "(curl x)", "ask", "in a subshell"),
    (GIT, "{ git status; }", "allow", "in a group"),
    (GIT, "{ git status; curl x; }", "ask", "in a group"),
    (GIT, "! git status", "allow", "its outcome turned round"),
    (GIT, "! curl x", "ask", "its outcome turned round"),
    (GIT, "git status;;", "ask", "no shell reads that"),
    (SEVERAL, "git status && git log -1 | grep x", "allow", "three rules for three parts"),
    (SEVERAL, "git status && rm x", "deny", "one denied part denies the line"),
    (SEVERAL, "ls | rm x", "deny", "also in a pipe"),
    (SEVERAL, "ls $(rm x)", "deny", "also in a substitution"),
    (SEVERAL, "ls `rm x`", "deny", "also in backquotes"),
    (SEVERAL, "ls <(rm x)", "deny", "also in a process substitution"),
    (SEVERAL, 'ls "a $(rm x) b"', "deny", "also within a string"),
    (SEVERAL, "ls ${x:-$(rm y)}", "deny", "also in a default value"),
    (SEVERAL, "x=$(rm y)", "deny", "also in an assignment"),
    (SEVERAL, "ls <<< $(rm x)", "deny", "also in a here-string"),
    (SEVERAL, "ls > $(rm x)", "deny", "also in the name of a file"),
    (SEVERAL, "cat <<E\n$(rm x)\nE", "deny", "also in a here-document"),
    (SEVERAL, "cat <<'E'\n$(rm x)\nE", "allow", "a quoted here-document is plain text"),
    (SEVERAL, "sh <<E\nrm x\nE", "deny", "a here-document for a shell"),
    (SEVERAL, "rm", "deny", "without arguments"),
    (SEVERAL, "/bin/rm x", "deny", "by its path"),
    (SEVERAL, "./bin/rm x", "deny", "whatever is called rm"),
    (SEVERAL, "\\rm x", "deny", "past an alias"),
    (SEVERAL, "'r'm x", "deny", "quoted in parts"),
    (SEVERAL, "rmdir x", "ask", "another word"),
    (SEVERAL, "ls rm", "allow", "an argument is no command"),
    (SEVERAL, "grep 'rm -rf' x", "allow", "a quoted argument is no command"),
    (SEVERAL, "ls; f() { rm x; }; f", "deny", "in a function"),
    (SEVERAL, "if ls; then rm x; fi", "deny", "in a branch"),
    (SEVERAL, "for f in *; do rm $f; done", "deny", "in a loop"),
    (SEVERAL, "case x in a) rm x;; esac", "deny", "in a choice"),
    (SEVERAL, "while ls; do rm x; done", "deny", "in a loop"),
    (SEVERAL, "if ls; then cat x; else grep y z; fi", "allow", "every branch is covered"),
    (SEVERAL, "for f in a b; do cat $f; done", "allow", "the loop's body is covered"),
    (SEVERAL, "case $x in a|b) ls;; *) cat y;; esac", "allow", "every choice is covered"),
    (SEVERAL, "if [ -f x ]; then cat x; fi", "allow", "a test runs nothing"),
    (SEVERAL, "[[ -f x || rm y ]]", "deny", "a POSIX shell would run the second half"),
    (SEVERAL, "ls (", "ask", "not a command line"),
    (SEVERAL, "ls ( rm x", "deny", "not a command line, but what there is is denied"),
    (SEVERAL, "ls 'open", "ask", "an open quote"),
    (SEVERAL, "$X", "ask", "it cannot be told whether that is denied"),
    # what runs other commands
    (SEVERAL, "sudo rm x", "deny", "behind sudo"),
    (SEVERAL, "sudo -u root rm x", "deny", "behind sudo and its options"),
    (SEVERAL, "sudo ls", "ask", "sudo has a power of its own"),
    (SEVERAL, "env rm x", "deny", "behind env"),
    (SEVERAL, "env FOO=1 rm x", "deny", "behind env and a variable"),
    (SEVERAL, "env ls", "allow", "env adds nothing"),
    (SEVERAL, "env -i LANG=C ls", "allow", "nor does a language"),
    (SEVERAL, "env PATH=. ls", "ask", "another ls"),
    (SEVERAL, "env -S 'rm x'", "ask", "an option that is not taken apart"),
    (SEVERAL, "xargs rm", "deny", "behind xargs"),
    (SEVERAL, "ls | xargs -n 1 rm -f", "deny", "behind xargs and its options"),
    (SEVERAL, "ls | xargs cat", "allow", "xargs adds words to a covered command"),
    (SEVERAL, "ls | xargs -I{} cat {}", "allow", "likewise"),
    (SEVERAL, "ls | xargs -I{} {} x", "ask", "what is read is the program"),
    (SEVERAL, "ls | xargs sh -c", "ask", "what is read is the script"),
    (SEVERAL, "ls | xargs", "ask", "it runs echo, which no rule covers"),
    (SEVERAL, "nice -n 5 ls", "allow", "nice adds nothing"),
    (SEVERAL, "nice -5 rm x", "deny", "behind nice"),
    (SEVERAL, "timeout 5 ls", "allow", "timeout adds nothing"),
    (SEVERAL, "timeout -k 1 5s rm x", "deny", "behind timeout"),
    (SEVERAL, "timeout $X ls", "ask", "the variable may hold a command too"),
    (SEVERAL, "nice -n $X ls", "ask", "likewise"),
    (SEVERAL, "xargs -n $X cat", "ask", "likewise"),
    (SEVERAL, "bash -o $X -c ls", "ask", "likewise"),
    (SEVERAL, "env $X ls", "ask", "likewise"),
    (SEVERAL, "jobs -x rm x", "ask", "a builtin that runs its arguments"),
    (SEVERAL, "git log --output=x", "ask", "an option that writes"),
    (SEVERAL, "git log --ext-diff", "ask", "an option that runs what the settings say"),
    (SEVERAL, "git log --ext", "ask", "likewise, cut short"),
    (SEVERAL, "git log --oneline -5", "allow", "other options"),
    ({"allow": ["execute(git:*)"]}, "git -c core.pager=x log", "ask", "an option that sets what git runs"),
    ({"allow": ["execute(git switch:*)"]}, "git switch -c x", "allow", "an option of the subcommand"),
    ({"allow": ["execute(rg:*)"]}, "rg --pre x y", "ask", "an option that runs a program"),
    ({"allow": ["execute(rg --pre x:*)"]}, "rg --pre x y", "allow", "the rule names it"),
    ({"allow": ["execute(sort:*)"]}, "sort -ox y", "ask", "an option that writes"),
    (SEVERAL, "nohup ls", "allow", "nohup adds nothing"),
    (SEVERAL, "time ls", "allow", "time adds nothing"),
    (SEVERAL, "time -o x ls", "ask", "an option that writes"),
    (SEVERAL, "command ls", "allow", "past functions"),
    (SEVERAL, "command rm x", "deny", "past functions"),
    (SEVERAL, "exec rm x", "deny", "in the shell's place"),
    (SEVERAL, "builtin eval 'rm x'", "deny", "through two of them"),
    (SEVERAL, "eval 'rm x'", "deny", "text that is run"),
    (SEVERAL, "eval ls", "allow", "text that is run and covered"),
    (SEVERAL, "eval $X", "ask", "text that is not known"),
    (SEVERAL, "sh -c 'rm x'", "deny", "a shell's text"),
    (SEVERAL, "bash -lc 'ls && cat x'", "allow", "a shell's text, each part covered"),
    (SEVERAL, "/bin/sh -c ls", "allow", "the system's shell"),
    (SEVERAL, "./sh -c ls", "ask", "another shell"),
    (SEVERAL, 'sh -c "ls $X"', "ask", "text that is not known"),
    (SEVERAL, "sh -c 'sh -c \"rm x\"'", "deny", "text within text"),
    (SEVERAL, "sh -c", "ask", "no text"),
    (SEVERAL, "sh", "ask", "it reads its commands from elsewhere"),
    (SEVERAL, "sh x.sh", "ask", "no rule covers the file"),
    (SEVERAL, "bash --rcfile x -c ls", "ask", "an option that runs a file"),
    (SEVERAL, "watch rm x", "deny", "a program that runs its arguments"),
    (SEVERAL, "watch ls", "ask", "likewise, and no rule covers it"),
    (SEVERAL, "ssh host rm x", "deny", "also on another machine"),
    (SEVERAL, "trap 'rm x' EXIT", "deny", "at the end"),
    (SEVERAL, "coproc rm x", "ask", "not taken apart"),
    (SEVERAL, "alias ls='rm'; ls", "ask", "words change their meaning"),
    (SEVERAL, "ls() { cat x; }; ls", "ask", "words change their meaning"),
    (SEVERAL, "hash -p /tmp/x ls; ls", "ask", "words change their meaning"),
    (SEVERAL, "enable -f x ls", "ask", "words change their meaning"),
    (SEVERAL, ". ./x; ls", "ask", "a file that no rule covers"),
    (FIND, "find . -name '*.py'", "allow", "it only looks"),
    (FIND, "find . -name '*.py' -exec grep x {} +", "allow", "both are covered"),
    (FIND, "find . -exec rm {} \\;", "ask", "what it runs is not covered"),
    (FIND, "find . -delete", "ask", "`find:*` does not say that it deletes"),
    (FIND, "find . -fprint x", "ask", "it writes a file"),
    (FIND, "find $X", "ask", "an option may come out of the variable"),
    ({"allow": ["execute(find . -delete)"]}, "find . -delete", "allow", "the rule says so"),
    ({"allow": ["execute(sudo apt install:*)"]}, "sudo apt install x", "allow", "the rule names what sudo runs"),
    ({"allow": ["execute(sudo:*)"]}, "sudo rm x", "ask", "a rule for sudo alone does not say what it runs"),
    ({"allow": ["execute(sudo:*)", "execute(ls:*)"]}, "sudo ls", "allow", "both are covered"),
    ({"allow": ["execute(env:*)"]}, "env rm x", "ask", "a rule for env alone does not say what it runs"),
    ({"allow": ["execute(sh -c:*)"]}, "sh -c 'rm x'", "ask", "nor does one for sh -c"),
    ({"allow": ["execute(sh -c 'rm x')"]}, "sh -c 'rm x'", "allow", "exactly this"),
    ({"allow": ["execute(watch:*)"]}, "watch rm x", "ask", "a rule for watch alone does not say what it runs"),
    ({"allow": ["execute(watch ls)"]}, "watch ls", "allow", "exactly this"),
    ({"allow": ["execute(bash:*)"]}, "bash", "ask", "it reads its commands from elsewhere"),
    ({"allow": ["execute(bash build.sh:*)"]}, "bash build.sh -x", "allow", "the rule names the file"),
    # variables
    (GIT, "LANG=C git status", "allow", "a variable that changes no program"),
    (GIT, "PATH=. git status", "ask", "another git"),
    (GIT, "LD_PRELOAD=x git status", "ask", "other code in git"),
    (GIT, "GIT_EXTERNAL_DIFF=x git status", "ask", "git runs it"),
    (GIT, "FOO=1 git status", "ask", "nobody knows who reads FOO"),
    (GIT, "export PATH=.; git status", "ask", "for all that follows"),
    (GIT, "PATH=.; git status", "ask", "for all that follows"),
    (GIT, "export CI=1; git status", "allow", "a variable that changes no program"),
    (GIT, "x=1; git status $x", "allow", "a variable of the line itself"),
    (GIT, "x='a[$(curl y)]'; git status $((x))", "ask", "arithmetic runs what a variable holds"),
    (GIT, "git status $((1 + 2))", "allow", "numbers"),
    (GIT, "git status ${!x}", "ask", "a name out of a variable"),
    (GIT, "git status ${x@P}", "ask", "a prompt is expanded"),
    (GIT, "git status $'a\\'b'", "ask", "a POSIX shell ends that quote elsewhere"),
    (GIT, "for PATH in x; do git status; done", "ask", "a loop sets it"),
    (GIT, "printf -v PATH x; git status", "ask", "printf sets it"),
    (GIT, "read PATH; git status", "ask", "read sets it"),
    # redirections
    (GIT, "git status > /dev/null", "allow", "nowhere"),
    (GIT, "git status 2>&1", "allow", "no file"),
    (GIT, "git status >&2", "allow", "no file"),
    (GIT, "git status 2>/dev/null | git status", "allow", "nowhere"),
    (GIT, "git status > x", "ask", "it writes a file that no rule covers"),
    (GIT, "git status >> x", "ask", "likewise"),
    (GIT, "git status &> x", "ask", "likewise"),
    (GIT, "git status >| x", "ask", "likewise"),
    (GIT, "git status >& x", "ask", "likewise"),
    (GIT, "> x", "ask", "a file and no command"),
    (GIT, "git status > $X", "ask", "a file that is not known"),
    (GIT, "git status > /dev/tcp/a/1", "ask", "a connection"),
    (GIT, "git status < x", "allow", "git may read files anyway"),
    (WITH_EDIT, "make > out/log", "allow", "both are covered"),
    (WITH_EDIT, "make > log", "ask", "the file is not"),
    (WITH_EDIT, "make > out/.env", "deny", "the file is denied"),
    (WITH_EDIT, "make > .env", "deny", "the file is denied"),
    (WITH_EDIT, "cd x && make > out/log", "ask", "another folder, so another file"),
    (WITH_EDIT, "sh -c 'make > .env'", "deny", "also in a shell's text"),
    ({"allow": ["execute(cat:*)"], "deny": ["read(**/.env)"]}, "cat < .env", "deny", "it reads a denied file"),
    ({"allow": ["execute(cat:*)"], "deny": ["read(**/.env)"]}, "cat < x", "allow", "another file"),
    ({"allow": ["execute(make:*)", "edit"]}, "make > log", "allow", "every edit is allowed"),
    # exact rules
    ({"allow": ["execute(npm test)"]}, "npm test", "allow", "exactly this"),
    ({"allow": ["execute(npm test)"]}, "npm test -- x", "ask", "more than that"),
    ({"allow": ["execute(npm test)"]}, "npm test $X", "ask", "perhaps more than that"),
    ({"allow": ["execute(npm test)"]}, "npm test; npm test", "allow", "twice exactly this"),
    ({"allow": ["execute(make > log)"]}, "make > log", "allow", "exactly this line, with its file"),
    ({"allow": ["execute(make > log)"]}, "make > log2", "ask", "another file"),
    ({"allow": ["execute(a && b)"]}, "a && b", "allow", "exactly this line"),
    ({"allow": ["execute(a && b)"]}, "a", "ask", "not this line"),
    ({"allow": ["execute($X y)"]}, "$X y", "ask", "it is the same text, but nobody knows what it runs"),
    ({"deny": ["execute(rm -rf /)"], "allow": ["execute"]}, "rm -rf /", "deny", "exactly this"),
    ({"deny": ["execute(rm -rf /)"], "allow": ["execute"]}, "rm -rf $X", "ask", "it may be this"),
    ({"deny": ["execute(rm -rf /)"], "allow": ["execute"]}, "rm -rf /tmp/x", "allow", "it is not this"),
    # rules without a pattern
    (ALL, "anything --at all", "allow", "every command"),
    (ALL, "$X", "allow", "every command, understood or not"),
    (ALL, "make > log", "allow", "every command, with what it writes"),
    (ALL_BUT, "ls", "allow", "every command but rm"),
    (ALL_BUT, "rm x", "deny", "but rm"),
    (ALL_BUT, "$X", "ask", "it may be rm"),
    (ALL_BUT, "ls (", "ask", "it may be rm"),
    ({"deny": ["execute"]}, "ls", "deny", "no command"),
    ({"allow": ["execute"], "ask": ["execute(git push:*)"]}, "ls; git push", "ask", "one part is to be asked"),
    ({"allow": ["*"], "deny": ["execute"]}, "ls", "deny", "no command"),
    ({"allow": ["*(git status:*)"]}, "git status", "allow", "any tool, these commands"),
    ({"deny": ["*(rm:*)"], "allow": ["*"]}, "rm x", "deny", "any tool, these commands"),
    (PUSH, "git push", "allow", "not forced"),
    (PUSH, "git push --force", "deny", "forced"),
    (PUSH, "git push $X", "ask", "perhaps forced"),
    (PUSH, "git push origin $X", "allow", "the rule is about the word after push"),
    # what a shell and a grammar may see differently
    (GIT, "git status\u00a0; curl x", "ask", "a blank that is none to a shell"),
    (GIT, "git status\u2028curl x", "ask", "a line end that is none to a shell"),
    (GIT, "git status\x0bcurl", "ask", "a control character"),
    (GIT, "git status a#b", "allow", "no comment within a word"),
    (GIT, "git status a#b; curl x", "ask", "no comment within a word"),
    (GIT, "git status `echo \\`curl x\\``", "ask", "backquotes in backquotes"),
    (GIT, "git status é", "allow", "letters of any script"),
    (GIT, "git status <<A <<B\nA\nB", "ask", "two here-documents in a line"),
    (GIT, "git status <<A\nx\nA\ncurl x", "ask", "after a here-document"),
    (GIT, "git status <<A\nx", "ask", "a here-document without an end"),
    (GIT, "git status <<-A\n\tx\n\tA", "allow", "a here-document that is set in"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "line", "expected", "why"), COMMANDS, ids=lambda value: str(value)[:40])
def test_commands(settings: Settings, line: str, expected: str, why: str) -> None:
    decision = decide(rules_from(settings, "user"), runs(line))

    assert decision.effect == expected, f"{why}; but: {decision.reason}"
    assert decision.reason


# -- taking a line apart -----------------------------------------------------------------------


def words(line: str) -> list[tuple[str | None, ...]]:
    return [command.words for command in parse_command(line).commands]


def test_quotes_are_resolved() -> None:
    assert words("""a 'b c' "d e" f\\ g h'i'"j" '' {} HEAD~1 '$x' "\\$y" """) == [
        ("a", "b c", "d e", "f g", "hij", "", "{}", "HEAD~1", "$x", "$y")
    ]


def test_what_only_the_shell_knows_is_no_word() -> None:
    assert words('a $b *.py ~/c d{e,f} "g$h" i[jk] ?') == [("a", *[None] * 7)]


def test_files_that_are_written_and_read() -> None:
    parsed = parse_command("a < in > 'o ut' 2>> err && b &> both; find . -fprint found")

    assert parsed.reads == ("in",)
    assert parsed.writes == ("o ut", "err", "both", "found")


def test_a_commit_message_in_a_here_document() -> None:
    parsed = parse_command("git commit -m \"$(cat <<'EOF'\nit's $(done) `now`\n\nrm -rf\nEOF\n)\"")

    assert parsed.understood
    assert [command.words[:2] for command in parsed.commands] == [("cat",), ("git", "commit")]


@pytest.mark.parametrize(
    "line",
    [
        "(" * 3000,
        "$(" * 3000,
        "sh -c " * 2000,
        "a && " * 10_000 + "a",
        "'" * 9999,
        "cat <<E\n" + "$x " * 20_000 + "\nE\n",
        "a;" * 30_000,
        "a\n" * 30_000,
        "a" * 70_000,
        "\ud800",
        "a\0b",
    ],
    ids=len,
)
def test_hostile_lines_end_soon(line: str) -> None:
    started = time.process_time()

    parse_command(line)

    assert time.process_time() - started < 5


def test_text_within_text_has_an_end() -> None:
    line = "rm x"
    for _ in range(10):
        line = f"eval {line}"

    assert not parse_command(line).understood


def test_words_without_a_shell_are_not_shell_text() -> None:
    parsed = parse_words(("git", "status", "; rm x", "$(rm)"))

    assert parsed.understood
    assert [command.words for command in parsed.commands] == [("git", "status", "; rm x", "$(rm)")]

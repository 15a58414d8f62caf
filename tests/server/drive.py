"""Plays cases against an acp-editor server, as an editor would. Standard library only.

Usage, in tests/: python -m server.drive [--server "COMMAND ..."] [-v] CASE.json ...      (a folder: every case in it)

A case is one JSON object:
  "title", "about"   what it shows and why it matters
  "files"            {PATH: TEXT} the workspace (PATH: {"hex": H} for bytes); "git": true commits it to a fresh repository
  "settings"         the acpEditor section; the scripted agent is added to it as "scripted" and made the default
  "cannot_ask"       the editor answers a window/showMessageRequest with an error
  "editor_draws"     what the editor declares under experimental.acpEditor (default: everything; [] is a plain LSP editor)
  "agent"            what the scripted agent does: see agent.py
  "again"            what it does when it is started again (default: the same)
  "others"           {NAME: {"agent": [...], "defaults": {...}}} more scripted agents; "of": NAME in a step about what an agent got
  "folders"          more folders of the workspace, beside it
  "captures"         the folder of recorded sessions, relative to the case
  "editor"           what the editor does and sees, step by step:

  {"command": ID, "args": {...}, "result": PATH-INTO-RESULT, OP: VALUE}     and what it answered
  {"command": ID, "args": {...}, "as": NAME}     must succeed ("eventually": true: within 20 s); {"command": ..., "error": TEXT, "data": SUBSET} must fail with TEXT in its message
  {"open": PATH} {"close": PATH} {"save": PATH} {"type": PATH, "at": [line, char, line, char], "text": T}
  {"state": PATH-INTO-STATE, OP: VALUE, "timeout": S}       acpEditor.state is asked until this holds (20 s)
  {"still": PATH-INTO-STATE, OP: VALUE, "for": MS}          holds now and all the time for so long
  {"shown": PATH, "line": N}        the editor was asked to show it (any line if left out); {"not_shown": PATH}; {"shown_last": PATH, "line": N}
  {"notified": METHOD, "where": SUBSET}                     a notification whose params contain SUBSET; {"not_notified": ...}
  {"last": METHOD, "key": SUBSET, "at": PATH-INTO-PARAMS, OP: VALUE}   the last such notification
  {"count": METHOD, "at_most": N, "at_least": N, "where": SUBSET}
  {"agent_got": SUBSET} {"agent_not_got": SUBSET}           what reached the agent
  {"agent_got_count": SUBSET, "is": N} {"agent_got_in_order": [SUBSET, ...]}
  {"rate": METHOD, "keys": [PATH ...], "at_most": N}        sends in any one second for one key
  {"disk": PATH, "is": TEXT | "hex": H} {"buffer": PATH, "is": TEXT} {"no_file": PATH}
  {"answer": TITLE}                 what the next window/showMessageRequest is answered with (null: dismissed)
  {"asked": TEXT}                   a window/showMessageRequest that contains TEXT came
  {"settings": {...}}               the settings change
  {"withdrawn": METHOD}             the server took a request of that method back
  {"elicit": RESULT}                what the next acpEditor/elicit is answered with; {"refuse_edits": true | false}
  {"unanswered": ID, "args": {...}} a command whose answer is not waited for; {"drop_agent": NAME} from the settings
  {"together": [STEP, ...]}         commands that are sent at once, in this order
  {"hang_up": true, "within": S}    the editor closes its pipes without a word: server and agents have to be gone by then
  {"restart": true}                 the server is shut down and started again on the same workspace
  {"settle": "approve" | "reject"}  every request is answered so until the turn has ended
  {"sleep": MS} {"alive": true} {"tell": METHOD, "params": {...}} {"edit_disk": PATH, "text": T} {"shell": COMMAND}
  {"lenses": PATH, OP: VALUE} {"hints": PATH, OP: VALUE}    what textDocument/codeLens and inlayHint answer
  {"text": URI, "has": T}           workspace/textDocumentContent of that URI; "$NAME.key" takes it from a command's result

  OP: "is" equal · "has" contains this subset (in a SUBSET the string "~x" means "contains x") · "lacks" · "absent" true · "size" n · "any_of" [...]
  PATH-INTO-STATE: sessions[0].toolCalls[toolCallId=c1].locations[-1].range.start.line
  {cwd}, {uri:PATH} and {sid} are replaced in every string.

The editor keeps open documents, applies edits with versions, and reloads a clean document when its file changes on disk.
"""

import argparse
import asyncio
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

from .checks import MISSING, Failed, contains, dig, holds
from .wire import ALL, ANSWER, PATIENCE, Wire

__all__ = ["ALL", "PATIENCE", "Editor", "Failed", "alive", "run"]


class Editor(Wire):
    """Plays the steps of a case."""

    def fill(self, value):
        if isinstance(value, str):
            value = value.replace("{cwd}", str(self.cwd)).replace("{sid}", self.sid)
            value = re.sub(r"\{uri:([^}]*)\}", lambda m: self.uri(m[1]), value)
            if match := re.fullmatch(r"\$(\w+)(?:\.(.+))?", value):
                return dig(self.results[match[1]], match[2]) if match[2] else self.results[match[1]]
            return value
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        if isinstance(value, dict):
            return {key: self.fill(item) for key, item in value.items()}
        return value

    def agent_log(self, name=None):
        log = self.root / f"{name}.ndjson" if name else self.log
        if not log.exists():
            return []
        lines = log.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n") and line.strip()]

    def pids(self):
        names = [None, *self.case.get("others", {})]
        return [m["pid"] for n in names for m in self.agent_log(n) if m.get("scripted") == "started"]

    async def hang_up(self, seconds):
        """What an editor that crashes leaves behind: closed pipes."""
        self.hung_up = True
        self.reloader.cancel()
        self.reader.cancel()
        self.process.stdin.close()
        self.process._transport.get_pipe_transport(1).close()
        end = time.monotonic() + seconds
        while left := [pid for pid in [self.process.pid, *self.pids()] if alive(pid)]:
            if time.monotonic() > end:
                raise Failed(f"left running {seconds} s after the editor was gone: {left}")
            await asyncio.sleep(0.03)

    async def until(self, check, what, step):
        end, last = time.monotonic() + step.get("timeout", PATIENCE), None
        while True:
            last = await check() if asyncio.iscoroutinefunction(check) else check()
            if last is True:
                return
            if time.monotonic() > end:
                raise Failed(f"{what}: {last if last is not False else 'never'}")
            await asyncio.sleep(0.03)

    async def play(self, raw):
        step = self.fill(raw)
        if "command" in step:
            if "error" in step:
                error = await self.command(step["command"], step.get("args"), error=True)
                if not error or step["error"].lower() not in error["message"].lower():
                    raise Failed(f"wanted an error with {step['error']!r}, got {error}")
                if "data" in step and not contains(error.get("data"), step["data"]):
                    raise Failed(f"wanted an error with the data {step['data']}, got {error}")
            else:
                end = time.monotonic() + PATIENCE
                while True:
                    try:
                        result = await self.command(
                            step["command"], step.get("args"), timeout=step.get("timeout", ANSWER)
                        )
                        break
                    except Failed:
                        if not step.get("eventually") or time.monotonic() > end:
                            raise
                    await asyncio.sleep(0.05)
                self.results[step.get("as", "last")] = result
                if "result" in step:
                    value = dig(result, step["result"])
                    if not holds(value, step):
                        shown = "missing" if value is MISSING else json.dumps(value)[:600]
                        raise Failed(f"{step['command']} answered at {step['result']!r}: {shown}")
                if isinstance(result, dict) and "sessionId" in result:
                    self.sid = result["sessionId"]
        elif "open" in step:
            self.open(self.uri(step["open"]))
        elif "close" in step:
            self.docs.pop(self.uri(step["close"]))
            self.tell("textDocument/didClose", {"textDocument": {"uri": self.uri(step["close"])}})
        elif "save" in step:
            self.save(self.uri(step["save"]))
        elif "type" in step:
            uri, (l1, c1, l2, c2) = self.uri(step["type"]), step["at"]
            change = {
                "range": {"start": {"line": l1, "character": c1}, "end": {"line": l2, "character": c2}},
                "newText": step["text"],
            }
            self.replace(uri, self.edited(self.docs[uri]["text"], [change]), dirty=True)
        elif "state" in step:

            async def check():
                value = dig(await self.command("acpEditor.state"), step["state"])
                return (
                    holds(value, step)
                    or f"{step['state']} was {'missing' if value is MISSING else json.dumps(value)[:600]}"
                )

            await self.until(check, json.dumps(raw), step)
        elif "still" in step:
            end = time.monotonic() + step.get("for", 500) / 1000
            while True:
                value = dig(await self.command("acpEditor.state"), step["still"])
                if not holds(value, step):
                    raise Failed(
                        f"{json.dumps(raw)}: became {'missing' if value is MISSING else json.dumps(value)[:600]}"
                    )
                if time.monotonic() > end:
                    break
                await asyncio.sleep(0.05)
        elif "shown" in step:
            uri = self.uri(step["shown"])
            await self.until(
                lambda: (
                    any(u == uri and ("line" not in step or l == step["line"]) for u, l, _ in self.shown)
                    or str(self.shown[-5:])
                ),
                json.dumps(raw),
                step,
            )
            if any(focus for u, _, focus in self.shown if u == uri):
                raise Failed(f"{step['shown']} was shown with focus taken")
        elif "shown_last" in step:
            uri = self.uri(step["shown_last"])
            await self.until(
                lambda: (
                    (
                        bool(self.shown)
                        and self.shown[-1][0] == uri
                        and ("line" not in step or self.shown[-1][1] == step["line"])
                    )
                    or str(self.shown[-3:])
                ),
                json.dumps(raw),
                step,
            )
        elif "not_shown" in step:
            uri = self.uri(step["not_shown"])
            if any(u == uri and ("line" not in step or l == step["line"]) for u, l, _ in self.shown):
                raise Failed(f"{step['not_shown']} was shown")
        elif "notified" in step:
            await self.until(
                lambda: (
                    any(
                        m == step["notified"] and contains(p, step.get("where", {})) for _, m, p in self.notes
                    )
                    or str([p for _, m, p in self.notes if m == step["notified"]][-2:])[:800]
                ),
                json.dumps(raw),
                step,
            )
        elif "last" in step:

            def check():
                found = [
                    p for _, m, p in self.notes if m == step["last"] and contains(p, step.get("key", {}))
                ]
                value = dig(found[-1], step["at"]) if found else MISSING
                return holds(value, step) or str(found[-1:])[:600]

            await self.until(check, json.dumps(raw), step)
        elif "not_notified" in step:
            if any(
                m == step["not_notified"] and contains(p, step.get("where", {})) for _, m, p in self.notes
            ):
                raise Failed(json.dumps(raw))
        elif "count" in step:
            count = sum(m == step["count"] and contains(p, step.get("where", {})) for _, m, p in self.notes)
            if not step.get("at_least", 0) <= count <= step.get("at_most", count):
                raise Failed(f"{json.dumps(raw)}: {count}")
        elif "agent_got" in step:
            await self.until(
                lambda: (
                    any(contains(m, step["agent_got"]) for m in self.agent_log(step.get("of")))
                    or str(self.agent_log(step.get("of"))[-3:])[:800]
                ),
                json.dumps(raw),
                step,
            )
        elif "agent_not_got" in step:
            if any(contains(m, step["agent_not_got"]) for m in self.agent_log(step.get("of"))):
                raise Failed(json.dumps(raw))
        elif "disk" in step:
            wanted = bytes.fromhex(step["hex"]) if "hex" in step else step["is"].encode()
            path = self.cwd / step["disk"]
            await self.until(
                lambda: (
                    (path.exists() and path.read_bytes() == wanted)
                    or (repr(path.read_bytes()[:600]) if path.exists() else "no file")
                ),
                json.dumps(raw),
                step,
            )
        elif "buffer" in step:
            uri = self.uri(step["buffer"])
            await self.until(
                lambda: (
                    self.docs.get(uri, {}).get("text") == step["is"]
                    or repr(self.docs.get(uri, {}).get("text"))[:600]
                ),
                json.dumps(raw),
                step,
            )
        elif "no_file" in step:
            await self.until(lambda: not (self.cwd / step["no_file"]).exists(), json.dumps(raw), step)
        elif "answer" in step:
            self.answers.append(step["answer"])
        elif "elicit" in step:
            self.elicits.append(step["elicit"])
        elif "withdrawn" in step:
            await self.until(
                lambda: step["withdrawn"] in self.withdrawn or str(self.withdrawn), json.dumps(raw), step
            )
        elif "refuse_edits" in step:
            self.refuse_edits = step["refuse_edits"]
        elif "together" in step:
            asked = [asyncio.create_task(self.play(one)) for one in step["together"]]
            await asyncio.gather(*asked)
        elif "unanswered" in step:
            self.waiting = asyncio.create_task(self.command(step["unanswered"], step.get("args")))
            self.waiting.add_done_callback(lambda task: task.cancelled() or task.exception())
        elif "drop_agent" in step:
            del self.case["others"][step["drop_agent"]]
            self.tell("workspace/didChangeConfiguration", {"settings": {"acpEditor": self.settings()}})
        elif "hang_up" in step:
            await self.hang_up(step.get("within", 5))
        elif "asked" in step:
            await self.until(
                lambda: (
                    any(step["asked"] in json.dumps(q, ensure_ascii=False) for q in self.questions)
                    or str(self.questions)[:600]
                ),
                json.dumps(raw),
                step,
            )
        elif "settings" in step:
            self.case["settings"] = {**self.case.get("settings", {}), **step["settings"]}
            self.tell("workspace/didChangeConfiguration", {"settings": {"acpEditor": self.settings()}})
        elif "restart" in step:
            await self.stop()
            self.docs.clear()
            await self.start()
        elif "edit_disk" in step:
            (self.cwd / step["edit_disk"]).write_bytes(step["text"].encode())
        elif "agent_got_count" in step:
            count = sum(contains(m, step["agent_got_count"]) for m in self.agent_log())
            if count != step["is"]:
                raise Failed(f"{json.dumps(raw)}: {count}")
        elif "agent_got_in_order" in step:
            places = [
                next((i for i, m in enumerate(self.agent_log()) if contains(m, wanted)), None)
                for wanted in step["agent_got_in_order"]
            ]
            if None in places or places != sorted(places):
                raise Failed(f"{json.dumps(raw)}: {places}")
        elif "rate" in step:
            times = {}
            for when, method, params in self.notes:
                if method == step["rate"]:
                    times.setdefault(json.dumps([dig(params, key) for key in step["keys"]]), []).append(when)
            worst = max(
                (sum(start <= t < start + 1 for t in ts) for ts in times.values() for start in ts[::10]),
                default=0,
            )
            if worst > step["at_most"]:
                raise Failed(f"{json.dumps(raw)}: {worst} in one second")
        elif "text" in step:
            result = await self.ask("workspace/textDocumentContent", {"uri": step["text"]})
            if not holds(dig(result, "text"), step):
                raise Failed(f"{json.dumps(raw)}: {json.dumps(result)[:600]}")
        elif "settle" in step:
            end = time.monotonic() + step.get("timeout", 40)
            while True:
                state = await self.command("acpEditor.state")
                if state["permissions"]:
                    await self.command("acpEditor.permission." + step["settle"])
                elif state["sessions"] and state["sessions"][0]["state"] == "idle":
                    break
                elif time.monotonic() > end:
                    raise Failed(f"the turn did not end: {json.dumps(state)[:600]}")
                await asyncio.sleep(0.05)
        elif "alive" in step:
            await self.command("acpEditor.state", timeout=PATIENCE)
        elif "tell" in step:
            self.tell(step["tell"], step.get("params", {}))
        elif "lenses" in step:

            async def check():
                found = await self.ask(
                    "textDocument/codeLens", {"textDocument": {"uri": self.uri(step["lenses"])}}
                )
                return holds(found, step) or json.dumps(found)[:600]

            await self.until(check, json.dumps(raw), step)
        elif "hints" in step:

            async def check():
                end = {"line": 100000, "character": 0}
                found = await self.ask(
                    "textDocument/inlayHint",
                    {
                        "textDocument": {"uri": self.uri(step["hints"])},
                        "range": {"start": {"line": 0, "character": 0}, "end": end},
                    },
                )
                return holds(found or [], step) or json.dumps(found)[:600]

            await self.until(check, json.dumps(raw), step)
        elif "shell" in step:
            subprocess.run(step["shell"], shell=True, cwd=self.cwd, check=True, stdout=subprocess.DEVNULL)
        elif "sleep" in step:
            await asyncio.sleep(step["sleep"] / 1000)
        else:
            raise Failed(f"unknown step {raw}")


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


async def run(path, server, verbose, keep):
    case = json.loads(path.read_text(encoding="utf-8")) if isinstance(path, pathlib.Path) else path
    if "captures" in case:
        case["captures"] = str((path.parent / case["captures"]).resolve())
    root = pathlib.Path(tempfile.mkdtemp(prefix="case-")).resolve()
    editor = Editor(case, server, root, verbose)
    for folder in editor.roots:
        folder.mkdir()
    for name, text in case.get("files", {}).items():
        target = editor.cwd / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(bytes.fromhex(text["hex"]) if isinstance(text, dict) else text.encode())
    for link, target in case.get("links", {}).items():
        (editor.cwd / link).symlink_to(target)
    if case.get("git"):
        git = ["git", "-C", str(editor.cwd), "-c", "user.name=case", "-c", "user.email=case@localhost"]
        for args in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
            subprocess.run([*git, *args], check=True)
    (root / "case.json").write_text(json.dumps(case), encoding="utf-8")
    for name, other in case.get("others", {}).items():
        (root / f"{name}.json").write_text(json.dumps(other), encoding="utf-8")
    failed = None
    try:
        await editor.start()
        for index, step in enumerate(case["editor"]):
            try:
                await asyncio.wait_for(editor.play(step), 90)
            except Exception as error:
                raise Failed(
                    f"step {index}: {error!r}" if not isinstance(error, Failed) else f"step {index}: {error}"
                ) from None
    except Failed as error:
        failed = str(error)
    finally:
        code = await editor.stop()
        if failed is None and code != 0 and not case.get("any_exit"):
            failed = f"the server left with {code} after shutdown and exit"
        left = editor.pids()
        for _ in range(60):
            left = [pid for pid in left if alive(pid)]
            if not left:
                break
            await asyncio.sleep(0.05)
        if failed is None and left:
            failed = f"the agent was left running: {left}"
        if failed is None and editor.wrong:
            failed = editor.wrong[0]
    if failed is None or not keep:
        shutil.rmtree(root, ignore_errors=True)
    else:
        failed += f"  (kept in {root})"
    return case.get("title", getattr(path, "stem", "a case")), failed


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", default="acp-editor")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--keep", action="store_true", help="keep the folder of a case that fails")
    parser.add_argument("cases", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    paths = [
        p for given in options.cases for p in (sorted(given.rglob("*.json")) if given.is_dir() else [given])
    ]
    bad = 0
    for path in paths:
        title, failed = asyncio.run(run(path, shlex.split(options.server), options.v, options.keep))
        print(
            f"{'FAIL' if failed else 'ok  '} {path.stem}: {title}" + (f"\n       {failed}" if failed else ""),
            flush=True,
        )
        bad += bool(failed)
    print(f"{len(paths) - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

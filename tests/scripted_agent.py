"""An agent that plays a script: `python scripted_agent.py SCRIPT.json`, a list of steps.

{"take": METHOD, "result": R | "error": E}   waits for that message and answers it, later if neither is given
{"answer": METHOD, "result": R | "error": E}   answers one that was taken
{"say": [MESSAGE, ...]}   writes messages, all at once
{"print": TEXT}   writes a line that is no message
{"take_answer": ID}   waits for the answer to a request of its own
{"stderr": TEXT}, {"exit": CODE}
{"record": FILE}   from now on, what comes is written there, one message a line

With `--login FILE` after the script it is a program to log in with: it asks for a code, keeps it and ends.

After the last step it reads on until its input is closed.
"""

import json
import sys
from collections import defaultdict


class Script:
    def __init__(self) -> None:
        self.early = []
        self.kept = defaultdict(list)
        self.record = None

    def write(self, *messages: dict) -> None:
        lines = (json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
        sys.stdout.write("".join(lines))
        sys.stdout.flush()

    def take(self, wanted) -> dict:
        for index, message in enumerate(self.early):
            if wanted(message):
                return self.early.pop(index)
        for line in sys.stdin:
            message = json.loads(line)
            if self.record:
                with open(self.record, "a", encoding="utf-8") as record:
                    record.write(line)
            if wanted(message):
                return message
            self.early.append(message)
        sys.exit(0)

    def play(self, step: dict) -> None:
        answer = {key: step[key] for key in ("result", "error") if key in step}
        match step:
            case {"take": method}:
                message = self.take(lambda message: message.get("method") == method)
                if answer:
                    self.write({"id": message["id"], **answer})
                else:
                    self.kept[method].append(message.get("id"))
            case {"answer": method}:
                self.write({"id": self.kept[method].pop(0), **answer})
            case {"say": messages}:
                self.write(*messages)
            case {"print": text}:
                sys.stdout.write(text + "\n")
                sys.stdout.flush()
            case {"take_answer": ident}:
                self.take(lambda message: "method" not in message and message["id"] == ident)
            case {"stderr": text}:
                sys.stderr.write(text)
                sys.stderr.flush()
            case {"exit": code}:
                sys.exit(code)
            case {"record": path}:
                self.record = path


if sys.argv[2:3] == ["--login"]:
    code = input("\x1b[1mCode:\x1b[0m ")
    with open(sys.argv[3], "w", encoding="utf-8") as kept:
        kept.write(code)
    sys.exit(0)

with open(sys.argv[1], encoding="utf-8") as file:
    script = Script()
    for step in json.load(file):
        script.play(step)
    script.take(lambda message: False)

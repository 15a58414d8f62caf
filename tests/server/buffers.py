"""The documents of a scripted editor: edits with versions, and reloads of what is clean."""

import asyncio
import os
import pathlib
import re


class Buffers:
    """The open documents, in `docs`."""

    def uri(self, path):
        return (self.cwd / path).as_uri()

    def path(self, uri):
        from urllib.parse import unquote, urlsplit

        return pathlib.Path(unquote(urlsplit(uri).path))

    def offset(self, text, position):
        lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
        start = sum(map(len, lines[: position["line"]]))
        rest, units = (lines[position["line"]] if position["line"] < len(lines) else ""), 0
        for index, char in enumerate(rest):
            if units >= position["character"] or char in "\r\n":
                return start + index
            units += 2 if ord(char) > 0xFFFF else 1
        return start + len(rest.rstrip("\r\n")) if rest.endswith(("\r", "\n")) else start + len(rest)

    def edited(self, text, edits):
        spans = sorted(
            (
                (
                    self.offset(text, e["range"]["start"]),
                    self.offset(text, e["range"]["end"]),
                    i,
                    e["newText"],
                )
                for i, e in enumerate(edits)
            ),
            reverse=True,
        )
        for start, end, _, new in spans:
            text = text[:start] + new + text[end:]
        return text

    def apply(self, edit):
        changes = edit.get("documentChanges") or [
            {"textDocument": {"uri": u, "version": None}, "edits": e}
            for u, e in (edit.get("changes") or {}).items()
        ]
        for change in changes:
            if "edits" in change:
                doc, version = (
                    self.docs.get(change["textDocument"]["uri"]),
                    change["textDocument"].get("version"),
                )
                if doc and version is None:
                    self.wrong.append("an open document was edited without its version")
                if doc and version is not None and version != doc["version"]:
                    return {"applied": False, "failureReason": "the document has changed"}
        for change in changes:
            kind = change.get("kind")
            if kind == "create":
                self.path(change["uri"]).parent.mkdir(parents=True, exist_ok=True)
                self.path(change["uri"]).touch()
            elif kind == "rename":
                self.path(change["oldUri"]).rename(self.path(change["newUri"]))
            elif kind == "delete":
                self.path(change["uri"]).unlink(missing_ok=True)
                if doc := self.docs.pop(change["uri"], None):
                    self.tell("textDocument/didClose", {"textDocument": {"uri": change["uri"]}})
            else:
                uri = change["textDocument"]["uri"]
                if uri not in self.docs:  # an editor opens what it edits
                    self.open(uri)
                self.replace(uri, self.edited(self.docs[uri]["text"], change["edits"]), dirty=True)
        return {"applied": True}

    def open(self, uri):
        path = self.path(uri)
        text = path.read_bytes().decode("utf-8", "replace") if path.exists() else ""
        self.docs[uri] = {"text": text, "version": 1, "dirty": False, "disk": text}
        self.tell(
            "textDocument/didOpen",
            {"textDocument": {"uri": uri, "languageId": "plaintext", "version": 1, "text": text}},
        )

    def replace(self, uri, text, dirty):
        doc = self.docs[uri]
        doc.update(text=text, version=doc["version"] + 1, dirty=dirty)
        self.tell(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": doc["version"]}, "contentChanges": [{"text": text}]},
        )

    def save(self, uri):
        doc = self.docs[uri]
        self.path(uri).write_bytes(doc["text"].encode())
        doc.update(dirty=False, disk=doc["text"])
        self.tell("textDocument/didSave", {"textDocument": {"uri": uri}})

    async def reload(self):
        """What an editor does when a file changes under it, and the file events that it sends."""
        seen = {}
        while True:
            await asyncio.sleep(0.05)
            now = {}
            for folder, dirs, files in os.walk(self.cwd):
                dirs[:] = [d for d in dirs if d != ".git"]
                for name in files:
                    path = pathlib.Path(folder, name)
                    try:
                        now[path.as_uri()] = (path.stat().st_mtime_ns, path.stat().st_size)
                    except OSError:
                        pass
            if seen and self.watch:
                events = (
                    [{"uri": u, "type": 1} for u in now.keys() - seen.keys()]
                    + [{"uri": u, "type": 2} for u in now.keys() & seen.keys() if now[u] != seen[u]]
                    + [{"uri": u, "type": 3} for u in seen.keys() - now.keys()]
                )
                if events:
                    self.tell("workspace/didChangeWatchedFiles", {"changes": events})
            seen = now or {"": 0}
            for uri, doc in list(self.docs.items()):
                try:
                    text = self.path(uri).read_bytes().decode("utf-8", "replace")
                except OSError:
                    continue
                if text != doc["disk"]:
                    doc["disk"] = text
                    if not doc["dirty"] and text != doc["text"]:
                        self.replace(uri, text, dirty=False)

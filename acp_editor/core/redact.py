"""Messages without the secrets in them: by their key, by their look, and by having been seen as one.

A secret that is told in pieces (one character a chunk) cannot be seen; what is shared is worth a look.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from itertools import takewhile
from typing import Final

from acp_editor.core.model import Json, is_array, is_object
from acp_editor.core.safe import cut

REDACTED: Final = "[redacted]"

_SHORTEST: Final = 8
"""Characters; anything shorter is found in innocent texts too."""

_SECRET_NAME: Final = re.compile(
    r"authorization|passw(?:or)?d|passphrase|secret|cookie|credential|bearer"
    r"|(?:api|access|private|signing|auth|subscription)[-_]?key|[-_](?:key|pat)$|(?:^|[-_])token$|[a-z]Token$",
    re.IGNORECASE,
)
_RANDOM: Final = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w+=]{20,}")
_NAME_OF_SECRET: Final = r"[\w.-]*(?:api[-_]?key|token|secret|passw(?:or)?d|access[-_]?key|signature)"
_LOOKS: Final = re.compile(
    "|".join(
        (
            r"\b(?:sk|pk|rk)-[\w-]{16,}",
            r"\b(?:gh[pousr]_|github_pat_|glpat-|hf_|npm_|pypi-|xox[abeprs]-)[\w-]{10,}",
            r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
            r"\bAIza[\w-]{30,}",
            r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
            r"(?<=\bBearer )[\w.~+/=-]{8,}",
            r"(?<=\bBasic )[A-Za-z0-9+/=]{8,}",
            r"(?<=://)[^\s/@:]+:[^\s/@]+(?=@)",
        )
    )
)
# Only what has a digit and no call in it: source code assigns to such names all the time.
_ASSIGNED: Final = re.compile(
    rf"(?P<name>\b{_NAME_OF_SECRET}|[?&](?:key|sig))(?P<sign>[\"']?\s*[=:]\s*[\"']?)"
    r"(?=[^\s&\"'\\,;]*\d)[^\s&\"'\\,;()]{8,}",
    re.IGNORECASE,
)
_OPTION: Final = re.compile(rf"--?{_NAME_OF_SECRET}|--?key|--?header|-H", re.IGNORECASE)


_MOST: Final = 1000
"""Secrets that are remembered; the settings' and the environment's come first."""

_LONGEST: Final = 3000
"""Characters of a secret that is known for one also where a text is cut."""


class Redactor:
    """Takes secrets out of messages, and remembers those that it met for the messages that follow."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._known: dict[str, None] = {}
        self._pattern: re.Pattern[str] | None = None
        self.learn_environment(environment or {})

    def learn_environment(self, environment: Mapping[str, str]) -> None:
        """Remembers the secrets of variables or headers by their names."""
        for name, value in environment.items():
            self._learn_all(name, value)

    def learn(self, message: Json) -> None:
        """Remembers the secrets of a message that is not to be redacted yet."""
        self.redact(message)

    def redact(self, value: Json) -> Json:
        """The value with REDACTED for every secret; its shape stays, and so does what is no text."""
        if is_object(value):
            return {key: self._field(key, item, value) for key, item in value.items()}
        if is_array(value):
            return self._items(value)
        return self.text(value) if isinstance(value, str) else value

    def _field(self, key: str, item: Json, whole: Mapping[str, Json]) -> Json:
        match key, item:
            case (("env" | "environment" | "headers"), (dict() | list())):
                return self._named(item)
            case "content", dict() if whole.get("action") == "accept":
                return _blank(item)  # what the person typed into a form
            case "data", str():
                return self._base64(item)
            case _, (str() | dict() | list()) if _SECRET_NAME.search(key):
                self._learn_all(key, item)
                return _blank(item)
            case _:
                return self.redact(item)

    def _named(self, item: Json) -> Json:
        """Variables or headers, as an object or as a list of objects with `name` and `value`."""
        if is_object(item):
            for name, value in item.items():
                self._learn_all(name, value)
            return _blank(item)
        redacted: list[Json] = []
        for row in item:
            if is_object(row) and "value" in row:
                self._learn_all(str(row.get("name", "")), row["value"])
                redacted.append({**row, "value": _blank(row["value"])})
            else:
                redacted.append(_blank(row))
        return redacted

    def _items(self, items: list[Json]) -> list[Json]:
        """What follows an option like `--api-key` in a list of arguments is a secret."""
        redacted: list[Json] = []
        before: Json = None
        for item in items:
            if isinstance(item, str) and isinstance(before, str) and _OPTION.fullmatch(before):
                self._learn_all(before, item)
                redacted.append(REDACTED)
            else:
                redacted.append(self.redact(item))
            before = item
        return redacted

    def text(self, text: str) -> str:
        """The text with REDACTED for every secret in it."""
        if self._pattern is not None:
            text = self._pattern.sub(REDACTED, text)
        if len(text) < _SHORTEST:
            return text
        return _ASSIGNED.sub(rf"\g<name>\g<sign>{REDACTED}", _LOOKS.sub(REDACTED, text))

    def beginning(self, text: str, most: int, cut_at: int) -> str:
        """The first `most` characters without secrets, of a text that was cut at `cut_at` if it is that long.

        Half a secret at an end looks like none: so what is before `_LONGEST` characters of that end counts,
        as far as it reads the same with these as without.
        """
        whole = self.text(text[:cut_at])
        if len(text) < cut_at:
            return cut(whole, most)
        before = self.text(text[: cut_at - _LONGEST])
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(whole, before, strict=False)))
        return cut(whole[:same], most)

    def _base64(self, data: str) -> str:
        """A terminal's bytes; those of an image stay as they are."""
        try:
            text = base64.b64decode(data, validate=True).decode("utf-8")
        except (binascii.Error, ValueError):
            return self.text(data)
        redacted = self.text(text)
        return data if redacted == text else base64.b64encode(redacted.encode()).decode("ascii")

    def _learn_all(self, name: str, value: Json) -> None:
        if isinstance(value, str):
            self._learn(name, value)
            for word in value.split():  # "Bearer …"
                self._learn(name, word)
        elif is_object(value):
            for inner in value.values():
                self._learn_all(name, inner)
        elif is_array(value):
            for inner in value:
                self._learn_all(name, inner)

    def _learn(self, name: str, value: str) -> None:
        if len(value) < _SHORTEST or value in self._known or not _is_secret(name, value):
            return
        if len(self._known) >= _MOST:
            return
        self._known[value] = None
        longest_first = sorted(self._known, key=len, reverse=True)
        self._pattern = re.compile("|".join(re.escape(known) for known in longest_first))


def secrets_of(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of an environment whose names say that they are secrets."""
    return {name: value for name, value in environment.items() if _SECRET_NAME.search(name)}


def _is_secret(name: str, value: str) -> bool:
    """By its name, else by being long and random: folders, addresses and models are none."""
    return bool(_SECRET_NAME.search(name) or _RANDOM.fullmatch(value))


def _blank(value: Json) -> Json:
    if is_object(value):
        return {key: _blank(item) for key, item in value.items()}
    if is_array(value):
        return [_blank(item) for item in value]
    return REDACTED if isinstance(value, str) and value else value

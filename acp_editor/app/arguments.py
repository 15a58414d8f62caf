"""The one argument of a command, read field by field."""

from __future__ import annotations

from typing import Any

from acp_editor.lsp.protocol import CommandError


class Arguments:
    """Raises `CommandError` naming the field where a value is missing or of the wrong kind."""

    def __init__(self, command: str, value: Any) -> None:
        if value is not None and not isinstance(value, dict):
            raise CommandError(f"{command} takes an object as its argument")
        self._command = command
        self._values: dict[str, Any] = value or {}  # pyright: ignore[reportUnknownMemberType]

    def all(self) -> dict[str, Any]:
        return dict(self._values)

    def raw(self, name: str) -> Any:
        return self._values.get(name)

    def text(self, name: str) -> str:
        if (value := self.maybe_text(name)) is None:
            raise CommandError(f"{self._command} needs {name!r}, a text")
        return value

    def maybe_text(self, name: str) -> str | None:
        value = self._values.get(name)
        if value is not None and not isinstance(value, str):
            raise CommandError(f"{self._command}: {name!r} has to be a text")
        return value

    def maybe_flag(self, name: str) -> bool | None:
        value = self._values.get(name)
        if value is not None and not isinstance(value, bool):
            raise CommandError(f"{self._command}: {name!r} has to be true or false")
        return value

    def objects(self, name: str) -> list[dict[str, Any]]:
        value = self._values.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):  # pyright: ignore
            raise CommandError(f"{self._command}: {name!r} has to be a list of objects")
        return value  # pyright: ignore[reportUnknownVariableType]

"""Our own settings that concern a session, as options of it: what they are now, and how they change.

A value that is set here holds until its setting changes; the settings themselves are the editor's to write.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from acp_editor.app.sessions import Entry
from acp_editor.core.model import ConfigOption, Json
from acp_editor.policy.matching import File, Subject
from acp_editor.policy.options import OWN, Row
from acp_editor.settings import Settings

if TYPE_CHECKING:
    from acp_editor.app.app import App

FOLLOW: Final = "acpEditor.follow.enabled"
RESUME: Final = "acpEditor.follow.resumeAfter"
TELL: Final = "acpEditor.review.tellAgent"
READ: Final = "acpEditor.permissions.readInside"

_MOST_SECONDS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class _Own:
    """One of our settings. `setting` reads it; `shared`: it is the window's, not only the session's."""

    option: ConfigOption
    setting: Callable[[Settings], Json]
    shared: bool = False
    least: float | None = None
    most: float | None = None


_ALL: Final = (
    _Own(
        ConfigOption(FOLLOW, "Follow the agent", "boolean", None, "Show where the agent works, as it works"),
        lambda settings: settings.follow.enabled,
        shared=True,
    ),
    _Own(
        ConfigOption(
            RESUME,
            "Follow again after (seconds)",
            "number",
            None,
            "How long your hand has to rest until following goes on",
        ),
        lambda settings: settings.follow.resume_after,
        shared=True,
        least=0,
        most=_MOST_SECONDS,
    ),
    _Own(
        ConfigOption(
            TELL,
            "Tell the agent what I undo",
            "boolean",
            None,
            "With the next prompt, so that it does not redo it",
        ),
        lambda settings: settings.review.tell_agent,
    ),
    _Own(
        ConfigOption(
            READ,
            "Allow reading in the workspace",
            "boolean",
            None,
            "Reads and searches inside are not asked for",
        ),
        lambda settings: settings.permissions.read_inside,
    ),
)


class OwnOptions:
    """The values of our own options; `session` is the public name of a session, None for none."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._set: dict[tuple[str, str | None], Json] = {}
        self._known: dict[str, Json] = {}

    def configure(self, settings: Settings) -> None:
        """Takes new settings over; one that has changed is the person's newest word."""
        for own in _ALL:
            key, value = own.option.config_id, own.setting(settings)
            if key in self._known and self._known[key] != value:
                self._set = {name: kept for name, kept in self._set.items() if name[0] != key}
            self._known[key] = value
        self._resume()

    def forget(self, session: str) -> None:
        self._set = {name: kept for name, kept in self._set.items() if name[1] != session}

    def value(self, key: str, session: str | None) -> Json:
        """What holds in a session."""
        if key == FOLLOW:
            return self._app.following.policy.enabled
        own = next(own for own in _ALL if own.option.config_id == key)
        name = (key, None if own.shared else session)
        return self._set.get(name, own.setting(self._app.settings))

    def rows(self, entry: Entry) -> tuple[Row, ...]:
        return tuple(
            Row(
                replace(own.option, value=self.value(own.option.config_id, entry.key)),
                OWN,
                least=own.least,
                most=own.most,
                locked=self._locked(own.option.config_id),
            )
            for own in _ALL
        )

    def set(self, key: str, value: Json, entry: Entry) -> bool:
        """Sets a value that was checked before; true where it is the same for all sessions."""
        if key == FOLLOW:
            self._app.following.policy.toggle(value is True)
            self._app.following.nudge()
            self._app.surfaces.status_changed()
            return True
        own = next(own for own in _ALL if own.option.config_id == key)
        self._set[key, None if own.shared else entry.key] = value
        self._resume()
        return own.shared

    def _resume(self) -> None:
        policy, seconds = self._app.following.policy, self.value(RESUME, None)
        if isinstance(seconds, (int, float)):
            policy.settings = replace(policy.settings, resume_after=float(seconds))
            self._app.following.nudge()

    def _locked(self, key: str) -> str | None:
        """Reading cannot be allowed where an administrator wants to have it asked."""
        if key != READ:
            return None
        root = self._app.roots[0]
        inside = File(os.path.join(root, "a"), "a", "a")
        most = self._app.judge.ceiling.of(Subject("read", files=(inside,)))
        return None if most.effect == "allow" else "a managed setting of this machine"

"""What an editor says of itself in `initialize`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from lsprotocol import types

from acp_editor.lsp import uris

Surface: TypeAlias = Literal[
    "decorations",
    "permissions",
    "toolCalls",
    "changes",
    "status",
    "session",
    "save",
    "elicitation",
    "terminal",
]


@dataclass(frozen=True, slots=True)
class Client:
    """What the editor said of itself in `initialize`."""

    name: str
    process_id: int | None
    roots: tuple[str, ...]
    surfaces: frozenset[str]
    configuration: bool
    dynamic_configuration: bool
    dynamic_watching: bool
    content: bool
    hint_refresh: bool
    lens_refresh: bool
    show_document: bool
    progress: bool
    headless: bool
    """No person is there: what would be asked is denied."""
    options: Mapping[str, Any]

    def draws(self, surface: Surface) -> bool:
        return surface in self.surfaces


def client_of(params: types.InitializeParams) -> Client:
    capabilities = params.capabilities
    window, workspace = capabilities.window, capabilities.workspace
    declared = _object(_object(capabilities.experimental).get("acpEditor"))
    folders = [p for f in params.workspace_folders or () if (p := uris.to_path(f.uri))]
    if not folders and params.root_uri and (root := uris.to_path(params.root_uri)):
        folders = [root]
    return Client(
        name=params.client_info.name if params.client_info else "an editor",
        process_id=params.process_id,
        roots=tuple(folders),
        surfaces=frozenset(name for name, value in declared.items() if value is True),
        configuration=bool(workspace and workspace.configuration),
        dynamic_configuration=bool(
            workspace
            and workspace.did_change_configuration
            and workspace.did_change_configuration.dynamic_registration
        ),
        dynamic_watching=bool(
            workspace
            and workspace.did_change_watched_files
            and workspace.did_change_watched_files.dynamic_registration
        ),
        content=bool(workspace and workspace.text_document_content),
        hint_refresh=bool(workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support),
        lens_refresh=bool(workspace and workspace.code_lens and workspace.code_lens.refresh_support),
        show_document=bool(window and window.show_document and window.show_document.support),
        progress=bool(window and window.work_done_progress),
        headless=declared.get("headless") is True,
        options=_object(_object(params.initialization_options).get("acpEditor")),
    )


def _object(value: Any) -> dict[str, Any]:
    """A JSON object, an empty one where it is something else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}

"""Which hooks are installed: the entry points of the group `acp_editor`, but for what lies in a workspace."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import logging
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from acp_editor.policy.hook_records import Package
from acp_editor.policy.hooks import GROUP, TIME_LIMIT, HookProblem, Hooks

_log = logging.getLogger(__name__)


def load_hooks(workspaces: Iterable[str] = (), limit: float = TIME_LIMIT) -> Hooks:
    """Loads what is installed, but nothing that lies in one of the workspaces."""
    roots = [Path(root).resolve() for root in workspaces]
    plugins: dict[str, object] = {}
    problems: list[HookProblem] = []
    packages: dict[str, Package] = {}
    for distribution in importlib.metadata.distributions():
        try:
            points = distribution.entry_points.select(group=GROUP)
        except Exception:  # a stranger's package with broken papers
            _log.warning("the entry points of %s cannot be read", distribution, exc_info=True)
            continue
        for point in points:
            if point.name in plugins:
                problems.append(HookProblem(point.name, "is there twice; the first one counts"))
            elif _within(Path(str(distribution.locate_file(""))), roots) or _module_within(
                point.module, roots
            ):
                problems.append(HookProblem(point.name, "lies in a workspace, so it is not loaded"))
            else:
                try:
                    plugins[point.name] = point.load()
                    packages[point.name] = Package(distribution.name, distribution.version)
                except Exception as error:  # a stranger's module
                    _log.warning("hook %s could not be loaded", point.name, exc_info=True)
                    problems.append(HookProblem(point.name, f"could not be loaded: {error!r:.300}"))
    return Hooks(plugins, problems, limit, packages)


def _within(path: Path, roots: Sequence[Path]) -> bool:
    return any(path.resolve().is_relative_to(root) for root in roots)


def _module_within(module: str, roots: Sequence[Path]) -> bool:
    """Whether importing a module would run code of a workspace; looks it up without running it."""
    top = module.partition(".")[0]
    loaded = sys.modules.get(top)
    spec = loaded.__spec__ if loaded is not None else importlib.util.find_spec(top)
    if spec is None:
        return False
    places = [spec.origin, *(spec.submodule_search_locations or ())]
    return any(
        _within(Path(place), roots) for place in places if place and place not in ("built-in", "frozen")
    )

"""A session's options by where they come from: lists of their own, and version 1's modes and models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from .model import ConfigOption, ModeUpdate

Options: TypeAlias = tuple[ConfigOption, ...]


def options_of(config: Mapping[str, Options]) -> Options:
    """All options; modes and models of their own where no option stands for them already."""
    options = list(config.get("option", ()))
    for origin in ("mode", "model"):
        if not any(origin in (option.config_id, option.category) for option in options):
            options += config.get(origin, ())
    return tuple(options)


def set_mode(config: dict[str, Options], update: ModeUpdate) -> None:
    """A mode or model has changed, and with it the option that stands for it."""
    origin = update.origin
    config[origin] = _with_value(config.get(origin, ()), lambda _: True, update.value)
    config["option"] = _with_value(
        config.get("option", ()),
        lambda option: (
            origin in (option.config_id, option.category)
            and any(choice.value == update.value for choice in option.choices)
        ),
        update.value,
    )


def _with_value(options: Options, wanted: Callable[[ConfigOption], bool], value: str) -> Options:
    return tuple(replace(option, value=value) if wanted(option) else option for option in options)

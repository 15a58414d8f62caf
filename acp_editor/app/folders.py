"""Where our own files are: state, cache and configuration, each folder for the user alone.

They hold contents of the user's files, so the folders are closed to others whatever the umask says;
what is inside needs no further care.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

import platformdirs

logger = logging.getLogger(__name__)

APP: Final = "acp-editor"


def state() -> Path:
    """Logs, consents and pending reviews."""
    return _private(Path(platformdirs.user_state_dir(APP)))


def cache() -> Path:
    """Checkpoints."""
    return _private(Path(platformdirs.user_cache_dir(APP)))


def config() -> Path:
    """Saved rules."""
    return _private(Path(platformdirs.user_config_dir(APP)))


def _private(folder: Path) -> Path:
    """The folder, made where it is not there; what cannot be made is told by whoever needs it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        logger.warning("%s cannot be made private: %s", folder, error)
    return folder

"""Fault tests run real processes; nothing of them may be left, whatever a test did."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import descendants
import pytest


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path: Path) -> Iterator[None]:
    """Whoever still runs with this test's folder in its command line is named, and ended."""
    yield
    left = descendants.naming(str(tmp_path))
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, f"left running: {left}"

"""Parsers of what strangers write: seeds, inputs that once failed, and a bounded search for more."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import corpus
import pytest
from targets import TARGETS

HERE = Path(__file__).resolve().parent
SECONDS = int(os.environ.get("ACP_EDITOR_FUZZ_SECONDS", "5"))
NAMES = sorted(TARGETS)


@pytest.mark.parametrize("name", NAMES)
def test_the_recorded_inputs(name: str) -> None:
    seeds = corpus.seeds(name)
    assert len(seeds) >= 3
    for seed in seeds:
        TARGETS[name](seed)


@pytest.mark.parametrize("name", NAMES)
def test_what_once_failed(name: str) -> None:
    for path in sorted((HERE / "found" / name).glob("*")):
        TARGETS[name](path.read_bytes())


@pytest.mark.skipif(not importlib.util.find_spec("atheris"), reason="atheris has no wheel for this platform")
@pytest.mark.parametrize("name", NAMES)
def test_a_bounded_search(name: str) -> None:
    command = [sys.executable, str(HERE / "run.py"), name, str(SECONDS)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS + 100)
    end = done.stdout.decode("utf-8", "replace")[-3000:]
    assert done.returncode == 0, end
    assert "stat::number_of_executed_units" in end

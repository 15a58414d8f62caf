"""Which release this is."""

from typing import Final

VERSION: Final = "0.1.0"
"""As in `pyproject.toml`: asking the installed package's metadata would take longer than loading us."""

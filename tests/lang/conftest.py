from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.exploration.conformance import SUITE, entries


@pytest.fixture(scope="session")
def conformance() -> Path:
    """The folder of the conformance suite."""
    return SUITE


@pytest.fixture(scope="session")
def manifest() -> list[dict[str, Any]]:
    """The entries of the conformance suite."""
    return entries()

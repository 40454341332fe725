from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

CONFORMANCE = Path(__file__).resolve().parents[2].parent / "shared" / "conformance"


@pytest.fixture(scope="session")
def conformance() -> Path:
    """The folder of the conformance suite; the test is skipped where there is none."""
    if not (CONFORMANCE / "manifest.json").is_file():
        pytest.skip("the conformance suite (../shared/conformance) is not here")
    return CONFORMANCE


@pytest.fixture(scope="session")
def manifest(conformance: Path) -> list[dict[str, Any]]:
    """The entries of the conformance suite."""
    models: list[dict[str, Any]] = json.loads((conformance / "manifest.json").read_text("utf-8"))[
        "models"
    ]
    return models

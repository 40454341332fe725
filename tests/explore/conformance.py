"""The shared conformance suite as the tests of this package use it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rebecsim.actors import Model
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, check_file

SUITE = Path(__file__).resolve().parents[2].parent / "shared" / "conformance"
MANIFEST = SUITE / "manifest.json"


def entries() -> list[dict[str, Any]]:
    """Give the models of the manifest; none where the suite is not there."""
    return json.loads(MANIFEST.read_text())["models"] if MANIFEST.is_file() else []


@cache
def load(file: str, language: str = "timed") -> tuple[CheckedModel, Model]:
    """Read a model of the suite."""
    if not MANIFEST.is_file():
        pytest.skip(f"the conformance suite is not at {SUITE}")
    checked = check_file(SUITE / file, "core" if language == "core" else "timed")
    return checked, build_model(checked, file)


def model(file: str, language: str = "timed") -> Model:
    """Read a model of the suite as Rebec classes."""
    return load(file, language)[1]

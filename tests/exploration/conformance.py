"""The conformance suite as tests use it; its README says how an entry is added."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from rebecsim.actors import Model
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, check_file

SUITE = Path(__file__).resolve().parents[1] / "data" / "conformance"
MANIFEST = SUITE / "manifest.json"


def entries() -> list[dict[str, Any]]:
    """Give the models of the manifest."""
    models: list[dict[str, Any]] = json.loads(MANIFEST.read_text("utf-8"))["models"]
    return models


@cache
def load(file: str, language: str = "timed") -> tuple[CheckedModel, Model]:
    """Read a model of the suite."""
    checked = check_file(SUITE / file, "core" if language == "core" else "timed")
    return checked, build_model(checked, file)


def model(file: str, language: str = "timed") -> Model:
    """Read a model of the suite as Rebec classes."""
    return load(file, language)[1]

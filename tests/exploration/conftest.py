from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rebecsim.actors import Model
from rebecsim.generate.module import load_model


@pytest.fixture
def shipped() -> Callable[[str], Model]:
    """Load a model that ships with the package."""
    folder = Path(__file__).resolve().parents[2] / "models"
    return lambda file: load_model(folder / file)

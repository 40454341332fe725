"""What the original's models give beside published figures: see `measured.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from reproductions.dispatch.comparison import PUBLISHED_RUNS

MEASURED: dict[str, dict[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("measured.toml").read_text("utf-8")
)
"""Scenario -> policy -> `misses_error`, and means by cluster size where they are known."""


def by_size(scenario: str, policy: str) -> dict[str, list[float]]:
    """Means per run for 1, 2, ..., 6 AppMasters; empty where they are not known."""
    return {name: n for name, n in MEASURED[scenario][policy].items() if name != "misses_error"}


def misses_error_of(scenario: str, policy: str, runs: int) -> float:
    """Standard error of the pooled mean misses of `runs` runs for each cluster size."""
    return MEASURED[scenario][policy]["misses_error"] * (PUBLISHED_RUNS / runs) ** 0.5

"""Schedules that another simulator made; data/README.md says where they are from."""

from __future__ import annotations

import csv
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "data" / "oracles"


@cache
def schedule_rows(name: str) -> list[dict[str, str]]:
    """Give the jobs of a schedule, in the order of the queue; times in seconds."""
    with gzip.open(FOLDER / f"{name}.csv.gz", "rt") as file:
        return list(csv.DictReader(file))


def expected_end_times_of(name: str) -> dict[str, Any]:
    """Give the figures of the users of a schedule."""
    figures: dict[str, Any] = json.loads((FOLDER / "eet_golden.json").read_text("utf-8"))[name]
    return figures

"""How many files of the package a reader meets who follows a command from its start to its end."""

from __future__ import annotations

from pathlib import Path

from tests.walks import COMPARE, EXPLORE, files_of

MOST_EXPLORE, MOST_COMPARE = 58, 85


def test_exploring_a_small_model_passes_through_few_files() -> None:
    assert len(files_of(*EXPLORE)) <= MOST_EXPLORE


def test_comparing_policies_passes_through_few_files(tmp_path: Path) -> None:
    assert len(files_of(*COMPARE, str(tmp_path / "run"))) <= MOST_COMPARE

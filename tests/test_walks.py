"""How many files of the package a reader meets who follows a command from its start to its end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.walks import COMPARE, EXPLORE, ROOT, files_of

MOST = {"The way of a model": 45, "The way of a scenario": 60}
"""Section of the architecture page -> files that its command may pass through."""

PAGE = ROOT / "docs/contributing/architecture.md"


@cache
def walked(section: str, folder: Path) -> Sequence[str]:
    if section == "The way of a model":
        return files_of(*EXPLORE)
    return files_of(*COMPARE, str(folder / "run"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("walks")


@pytest.mark.parametrize("section", MOST)
def test_commands_pass_through_few_files(section: str, folder: Path) -> None:
    assert len(walked(section, folder)) <= MOST[section]


@pytest.mark.parametrize("section", MOST)
def test_the_architecture_page_tells_the_way_as_it_is(section: str, folder: Path) -> None:
    _, _, text = PAGE.read_text("utf-8").partition(f"## {section}\n")
    steps = re.findall(r"^\d\. .*?(?=^\d\. |^$)", text.partition("\n## ")[0], re.M | re.S)
    contract = "rebecsim/studies/study.py"  # which is no step of the way
    named = [file for step in steps for file in re.findall(r"`(rebecsim/[\w/]+\.py)`", step)]
    named = [file.removeprefix("rebecsim/") for file in named if file != contract]
    assert len(named) > 15
    way = walked(section, folder)
    assert sorted(named, key=way.index) == named

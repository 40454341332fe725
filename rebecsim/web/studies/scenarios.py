"""Texts of scenarios, checked, and the built-in ones by the question that they ask."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from rebecsim.clusters.kinds import find_kind, kind_names
from rebecsim.clusters.scenarios import LoadedScenario, kind_of, load
from rebecsim.errors import UserError
from rebecsim.studies.scenarios.scenario import validated
from rebecsim.studies.scenarios.scenario_errors import ScenarioError, ScenarioProblem
from rebecsim.studies.scenarios.scenario_files import (
    builtin_scenarios,
    read_scenario_text,
    scenario_text,
)
from rebecsim.studies.scenarios.toml_lines import line_of
from rebecsim.studies.swept import SweptStudy
from rebecsim.web.library import read_small_file

ORIGIN = "the scenario"


def checked(text: str, builtin: bool, root: Path) -> LoadedScenario:
    """Read a scenario whose paths start from `root`, or from the folder of built-in scenarios.

    Files that it names must lie below that, or among the models that built-in scenarios are about,
    without a link on the way; a program is none that may be named. Raises ScenarioError,
    PluginError.
    """
    folder = builtin_folder() if builtin else root
    around = folder.parent if builtin else root
    read = scenario_text(ORIGIN, text, folder)
    study = kind_of(read)
    scenario = validated(study.scenario, read.origin, read.values, read.lines)
    problems = [
        ScenarioProblem(
            "must name a file below the directory of the server, which is neither a link nor a "
            "program",
            ".".join(map(str, path)),
            line_of(path, read.lines),
        )
        for path, name in SweptStudy(study, scenario).files().items()
        if not _may_be_read(folder, name, around)
    ]
    if problems:
        raise ScenarioError(ORIGIN, problems)
    return load(read)


def builtin_folder() -> Path:
    """Give the folder of the built-in scenarios."""
    return Path(str(files("rebecsim.models"))) / "scenarios"


def text_of_builtin(name: str) -> str | None:
    """Give the text of a built-in scenario; None where there is none of this name."""
    if name not in builtin_scenarios():
        return None
    data = read_small_file(builtin_folder() / f"{name}.toml")
    return None if data is None else data.decode("utf-8")


def builtin_titles() -> dict[str, tuple[str, str]]:
    """Give kind and title of each built-in scenario."""
    found: dict[str, tuple[str, str]] = {}
    for name in builtin_scenarios():
        values = read_scenario_text(name).values
        found[name] = str(values["kind"]), str(values.get("title") or name)
    return found


@lru_cache(maxsize=16)
def values_of(text: str) -> Mapping[str, Any] | None:
    """Read a TOML text, which is not to be changed; None where it is none.

    A form asks for the same text several times.
    """
    try:
        return scenario_text(ORIGIN, text, Path()).values
    except UserError:
        return None


def _may_be_read(folder: Path, name: str, around: Path) -> bool:
    """Whether a name in a scenario of a folder is that of a file which lies below `around`."""
    if Path(name).suffix == ".py":
        return False
    try:
        below = Path(os.path.normpath(folder / name)).relative_to(os.path.normpath(around))
        return (folder / name).resolve() == around.resolve() / below
    except (ValueError, OSError, RuntimeError):  # elsewhere, no name of a file, a loop of links
        return False


_QUESTIONS = {
    "against_edf": "Short deadlines: when does EDF start jobs that are about to be late?",
    "against_fifo": "Growing lengths: when does FIFO make short jobs wait behind long ones?",
    "against_mdf": "Ever longer jobs: when does MDF let too many of them die?",
    "against_priority": "Long jobs of high priority: when does serving them first cost too much?",
    "backfilling_or_fairshare": "Does backfilling or fairshare serve users better?",
    "budgets_or_deadlines": "Is it better to plan workflows by budgets of laxity?",
    "capacity_apart": "Do small jobs gain from queues of their own?",
    "capacity_interleaved": "Which settings serve four small jobs before each long one best?",
    "capacity_or_fair": "Capacity, Fair or FIFO: which serves many small jobs best?",
    "capacity_separated": "Which settings serve small jobs behind long ones best?",
    "changed_queues": "What would a changed capacity-scheduler.xml do?",
    "elastic_or_regular": "When does less memory for a task make its job faster?",
    "fifo_or_fair": "FIFO, Fair or DRF: which is fairer to four users of one cluster?",
    "for_edf": "Long deadlines: how much does it pay to serve the most urgent request first?",
    "for_priority": "Short jobs of high priority: how much does it pay to serve them first?",
    "fresh_readings": "How old do the readings of sensors get?",
    "natjam_for_mdf": "Too few AppMasters: should jobs be evicted by deadline or by laxity?",
    "natjam_near_mlf": "Evictions without overhead: does laxity do as well as deadlines?",
    "peek_with_errors": "How well does PEEK have to know its tasks?",
    "slots_by_deadlines": "Which policy meets most deadlines on map and reduce slots?",
    "user_limit": "Which user limit lets small jobs pass large ones?",
}


@dataclass(frozen=True)
class BuiltinQuestion:
    """A built-in scenario: what it asks, its name, and the title of its reports."""

    question: str
    name: str
    title: str


def questions_by_kind() -> dict[str, list[BuiltinQuestion]]:
    """Give the questions below what their kind asks, in the order of the kinds."""
    found: dict[str, list[BuiltinQuestion]] = {_heading(kind): [] for kind in kind_names()}
    for name, (kind, title) in builtin_titles().items():
        asked = BuiltinQuestion(_QUESTIONS.get(name, title), name, title)
        found[_heading(kind)].append(asked)
    return {heading: asked for heading, asked in found.items() if asked}


def _heading(kind: str) -> str:
    return find_kind(kind).question or kind


def question_of(text: str) -> str:
    """Give what a built-in scenario with this text asks, as it may have been changed."""
    return question_about(values_of(text) or {})


def question_about(scenario: Mapping[str, Any]) -> str:
    """Give what a built-in scenario asks; nothing for one of another name."""
    return _QUESTIONS.get(str(scenario.get("name")), "")

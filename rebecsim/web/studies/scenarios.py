"""Check the text of a scenario; list the built-in ones by their questions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rebecsim.clusters.kinds import find_kind, kind_names
from rebecsim.clusters.scenarios import LoadedScenario, kind_of, load
from rebecsim.errors import UserError
from rebecsim.lang.reading.imports import imported_files
from rebecsim.studies.plan import SweptStudy
from rebecsim.studies.scenario import validated
from rebecsim.studies.scenario_files import (
    ScenarioError,
    ScenarioProblem,
    ScenarioText,
    builtin_folder,
    builtin_scenarios,
    line_of,
    read_scenario_text,
    scenario_text,
)
from rebecsim.web.library import read_small_file

ORIGIN = "the scenario"


def text_in_form(text: str, builtin: bool, root: Path) -> ScenarioText:
    """Read a text whose paths start from `root`, or from the folder of built-in scenarios.

    Raises ScenarioError.
    """
    return scenario_text(ORIGIN, text, builtin_folder() if builtin else root)


def checked(read: ScenarioText) -> LoadedScenario:
    """Read a scenario.

    Files that it names must lie below its folder, or among the models that built-in scenarios are
    about, without a link on the way; a program is none that may be named. Raises ScenarioError,
    PluginError.
    """
    folder = read.folder
    around = folder.parent if folder == builtin_folder() else folder
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


def text_of_builtin(name: str) -> str | None:
    """Give the text of a built-in scenario; None where there is none of this name."""
    if name not in builtin_scenarios():
        return None
    data = read_small_file(builtin_folder() / f"{name}.toml")
    return None if data is None else data.decode("utf-8")


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
    """Whether a file that a scenario of a folder names lies below `around`, and what it imports."""
    if Path(name).suffix == ".py":
        return False
    file = folder / name
    if not _lies_below(file, around):
        return False
    with suppress(UserError, OSError):  # which reading the scenario will tell
        if file.suffix == ".rebeca" and file.is_file():  # no pipe
            return all(_lies_below(each, around) for each in imported_files(file))
    return True


def _lies_below(file: Path, around: Path) -> bool:
    """Whether a file lies below a directory, without a link on the way."""
    try:
        below = Path(os.path.normpath(file)).relative_to(os.path.normpath(around))
        return file.resolve() == around.resolve() / below
    except (ValueError, OSError, RuntimeError):  # elsewhere, no name of a file, a loop of links
        return False


@dataclass(frozen=True)
class BuiltinQuestion:
    """A built-in scenario: its question, which is its title, and its name."""

    question: str
    name: str


def questions_by_kind() -> dict[str, list[BuiltinQuestion]]:
    """Give the questions by kind, in the order of the kinds."""
    found: dict[str, list[BuiltinQuestion]] = {_heading(kind): [] for kind in kind_names()}
    for name in builtin_scenarios():
        values = read_scenario_text(name).values
        asked = BuiltinQuestion(str(values.get("title") or name), name)
        found[_heading(str(values["kind"]))].append(asked)
    return {heading: asked for heading, asked in found.items() if asked}


def _heading(kind: str) -> str:
    return find_kind(kind).question or kind

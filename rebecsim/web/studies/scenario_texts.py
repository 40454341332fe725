"""Read and check scenarios typed in the browser, and the files that they name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

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
from rebecsim.web.own_files import read_small_file

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

"""The record of a run, `run.json`: scenario, versions, start, and its columns.

Format 2 added `started`, and checksums beside the parts. Format 3 added what is needed to read the
results without the kind of the scenario or its plug-in: cells, columns and measures. Readers ignore
unknown keys, which later versions may have added.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rebecsim.files import write_atomically
from rebecsim.limits import RECORD, LimitError, read_json
from rebecsim.metrics import Metric
from rebecsim.studies.cell import Cell, Condition
from rebecsim.studies.plan import Plan
from rebecsim.studies.scenarios.scenario import StudyScenario
from rebecsim.studies.storage.record_schema import fault_of
from rebecsim.studies.storage.results_error import ResultsError
from rebecsim.studies.study import PlannedCell

FORMAT = 3
_READABLE = (1, 2, 3)
_PACKAGES = ("rebecsim", "numpy", "scipy", "jinja2", "lark", "pyarrow")


def versions() -> dict[str, str]:
    """Give the versions of Python and of the packages that results depend on."""
    return dict(_versions())


@cache
def _versions() -> Mapping[str, str]:
    """Read them once: it takes milliseconds, and each run and each task's luggage has them."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        found[package] = metadata.version(package)
    return found


def new_record(plan: Plan) -> dict[str, Any]:
    """Make the record of a run that starts now.

    The scenario is the identity of the run: `require_same_run` compares it. The rest says how the
    results came about, and what they are.
    """
    return {
        "format": FORMAT,
        "kind": plan.study.kind,
        "scenario": plan.scenario.model_dump(mode="json"),
        "versions": versions(),
        "plugins": [asdict(each) for each in plan.plugins],
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "engines": [],
        **plan.fingerprints(),
        **described(plan),
    }


def described(plan: Plan) -> dict[str, Any]:
    """Describe the results of a plan, for readers that do not have its kind."""
    axis = plan.axis
    return {
        "apart": list(plan.apart),
        "axis": axis and axis.coordinate,
        "baseline": plan.comparison.baseline,
        "level": plan.scenario.level,
        "caution": plan.caution,
        "measures": [each.described for each in plan.comparison.kept],
        "columns": dict(plan.columns),
        "tables": {name: dict(columns) for name, columns in plan.tables(trace=True).items()},
        "cells": [
            {
                "name": each.name,
                "policy": each.cell.policy,
                "condition": dict(each.cell.condition.coordinates),
                "most": each.most,
                "random": each.is_random,
                "key": list(each.key),
                "parameters": dict(each.parameters),
            }
            for each in plan.cells
        ],
    }


class Contents:
    """What a record says of its results.

    Attributes:
        cells: the cells of the run.
        measures: what can be computed from their rows.
        columns: what any cell gives: column -> type.
        tables: further tables: name -> column -> type.
        apart: coordinates whose values are compared apart.
        baseline: the policy that all others are compared with; None: every two are.
        level: confidence level of its intervals, in (0, 1).
        caution: what must be known before the answer is read.
    """

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.cells = tuple(
            PlannedCell(
                Cell(each["policy"], Condition(tuple(each["condition"].items()))),
                each["name"],
                key=tuple(each["key"]),
                most=each["most"],
                is_random=each["random"],
                parameters=dict(each.get("parameters", {})),  # runs of earlier versions have none
            )
            for each in record["cells"]
        )
        # Records of earlier versions do not say what the least value of a figure is.
        self.measures = tuple(Metric(**{"least": None, **each}) for each in record["measures"])
        self.columns: Mapping[str, str] = dict(record["columns"])
        self.tables: Mapping[str, Mapping[str, str]] = dict(record["tables"])
        self.apart: tuple[str, ...] = tuple(record["apart"])
        self.baseline: str | None = record["baseline"]
        self.level: float = record["level"]
        self.caution: str = record["caution"]


def contents_of(path: Path, record: Mapping[str, Any]) -> Contents:
    """Give what a record that was read says of its results; one of format 1 or 2 says nothing.

    Raises ResultsError, with the path, for a measure that is none.
    """
    try:
        return Contents(record)
    except ValueError as error:
        raise ResultsError(f"{path}: is damaged: {error}") from error


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record, atomically. Raises OSError."""
    write_atomically(path, (json.dumps(record, indent=2) + "\n").encode())


def read_record(path: Path) -> dict[str, Any]:
    """Read a record of this or an earlier format.

    `started` is None and `engines`, those that have run replications, empty where they were not
    recorded.

    Raises ResultsError when there is none, or it is damaged or of a later format.
    """
    try:
        record = read_json(path, limit=RECORD, plain=True)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ResultsError(
            f"{path.parent}: there is no run here; `rebecsim runs DIRECTORY` lists those below one"
        ) from error
    except OSError as error:
        raise ResultsError(f"{path}: cannot be read: {error.strerror}") from error
    except LimitError as error:
        raise ResultsError(str(error)) from error
    except ValueError as error:
        raise ResultsError(f"{path}: cannot be read: {error}") from error
    if not isinstance(record, dict) or record.get("format") not in _READABLE:
        raise ResultsError(
            f"{path}: is not of format {_READABLE[0]} to {FORMAT}; a newer version of rebecsim may "
            "read it"
        )
    # What records of earlier versions do not say.
    record.setdefault("started", None)
    record.setdefault("engines", [])
    record.setdefault("level", 0.95)
    record.setdefault("caution", "")
    if fault := fault_of(record, described=record["format"] == FORMAT):
        raise ResultsError(
            f"{path}: is damaged: {fault}; put back what was written, or run the comparison again"
        )
    return record


def recorded_scenario(
    path: Path, record: Mapping[str, Any], model: type[StudyScenario]
) -> StudyScenario:
    """Rebuild the scenario of a record; fields that came later have their defaults.

    Raises ResultsError, with the path, when it is not a valid scenario.
    """
    try:
        return model.model_validate_json(json.dumps(record["scenario"]))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "scenario"
        raise ResultsError(
            f"{path}: holds no valid scenario: {place}: {first['msg']}; a run that was made with a "
            "plug-in needs that plug-in to be resumed and reported"
        ) from error


def require_same_results(path: Path, record: Mapping[str, Any], plan: Plan) -> None:
    """Raise ResultsError unless a run has the cells and columns that its scenario has today.

    Those of another version may be others, and so may those of a record that was changed.
    """
    today = described(plan)
    for what in ("cells", "columns", "tables"):
        if what in record and _shape(record[what]) != _shape(today[what]):
            theirs = record["versions"]["rebecsim"]
            raise ResultsError(
                f"{path}: its {what} are not those of its scenario in this version; it was made by "
                f"another one (it says {theirs}), or changed. `rebecsim runs`, `query` and `diff` "
                "read it; to resume or report, run the comparison again in another directory"
            )


def _shape(what: Any) -> Any:
    """Leave of some cells what they are and how random numbers are drawn; of columns, all."""
    if isinstance(what, dict):
        return what
    return [[each[key] for key in ("name", "policy", "condition", "key")] for each in what]


def require_same_run(path: Path, record: Mapping[str, Any], plan: Plan) -> None:
    """Raise ResultsError unless going on with the run would give what it was begun for.

    Another scenario is another run, but for more replications, and other versions of rebecsim may
    give other results, as may other inputs.
    """
    for name, digest in plan.fingerprints().items():
        if record.get(name) != digest:
            raise ResultsError(
                f"{path.parent}: the {name.removesuffix('_blake2b')} has changed since this run "
                "began (its checksum differs); restore it, or choose another directory"
            )
    before: Any = recorded_scenario(path, record, type(plan.scenario))
    wanted = plan.scenario.replications
    if before.replace(replications=wanted) != plan.scenario or before.replications > wanted:
        raise ResultsError(
            f"{path.parent}: holds a run of another scenario or seed, or with more replications; "
            "resume it with the same ones, or choose another directory"
        )
    theirs, ours = record["versions"]["rebecsim"], versions()["rebecsim"]
    if theirs != ours:
        raise ResultsError(
            f"{path.parent}: was begun by rebecsim {theirs}, this is {ours}; "
            "choose another directory"
        )
    require_same_results(path, record, plan)

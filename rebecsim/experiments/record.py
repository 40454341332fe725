"""The record of a run, `run.json`: what was run, by which versions, since when.

Format 2 added `started`, and checksums beside the parts. A reader takes keys that it does not know
for what they are: later additions.
"""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from rebecsim.cluster import loaded_plugins
from rebecsim.experiments.results_error import ResultsError
from rebecsim.experiments.scenario import Scenario
from rebecsim.files import write_atomically

__all__ = [
    "new_record",
    "read_record",
    "recorded_scenario",
    "require_same_run",
    "versions",
    "write_record",
]

_FORMAT = 2
_READABLE = (1, 2)
_PACKAGES = ("rebecsim", "numpy", "scipy", "jinja2", "lark", "pyarrow")


def versions() -> dict[str, str]:
    """Give the versions of Python and of the packages that results depend on."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        found[package] = metadata.version(package)
    return found


def new_record(scenario: BaseModel) -> dict[str, Any]:
    """Make the record of a run that starts now.

    The scenario is the identity of the run: `require_same_run` compares it. The rest says how the
    results came about.
    """
    return {
        "format": _FORMAT,
        "scenario": scenario.model_dump(mode="json"),
        "versions": versions(),
        "plugins": [asdict(plugin) for plugin in loaded_plugins()],
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "engines": [],
    }


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Write a record, atomically. Raises OSError."""
    write_atomically(path, (json.dumps(record, indent=2) + "\n").encode())


def read_record(path: Path) -> dict[str, Any]:
    """Read a record of this or an earlier format.

    `started` is None and `engines`, those that have run replications, empty where they were not
    recorded.

    Raises ResultsError when there is none, or it is damaged or of a later format.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ResultsError(
            f"{path.parent}: there is no run here; `rebecsim runs DIRECTORY` lists those below one"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise ResultsError(f"{path}: cannot be read: {error}") from error
    if not isinstance(record, dict) or record.get("format") not in _READABLE:
        raise ResultsError(
            f"{path}: is not of format {' or '.join(map(str, _READABLE))}, which this version of "
            "rebecsim reads"
        )
    record.setdefault("started", None)
    record.setdefault("engines", [])
    if fault := _fault(record):
        raise ResultsError(f"{path}: is damaged: {fault}")
    return record


def _fault(record: dict[str, Any]) -> str | None:
    if not isinstance(record.get("scenario"), dict):
        return "scenario is missing"
    found = record.get("versions")
    if not isinstance(found, dict) or not isinstance(found.get("rebecsim"), str):
        return "versions are missing"
    if record["started"] is not None:
        try:
            datetime.fromisoformat(record["started"])
        except (TypeError, ValueError):
            return f"started is not a time: {record['started']!r}"
    return None


def recorded_scenario(path: Path, record: dict[str, Any]) -> Scenario:
    """Rebuild the scenario of a record; fields that came later have their defaults.

    Raises ResultsError, with the path, when it is no valid scenario.
    """
    try:
        return Scenario.model_validate_json(json.dumps(record["scenario"]))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "scenario"
        raise ResultsError(
            f"{path}: holds no valid scenario: {place}: {first['msg']}; a run "
            "that was made with a plug-in can be read with that plug-in only"
        ) from error


def require_same_run(path: Path, record: dict[str, Any], scenario: Scenario) -> None:
    """Raise ResultsError unless going on with the run would give what it was begun for.

    Another scenario is another run, and other versions of rebecsim may give other results.
    """
    if recorded_scenario(path, record) != scenario:
        raise ResultsError(
            f"{path.parent}: holds a run of another scenario, seed or number of replications; "
            "resume it with the same ones, or choose another directory"
        )
    theirs, ours = record["versions"]["rebecsim"], versions()["rebecsim"]
    if theirs != ours:
        raise ResultsError(
            f"{path.parent}: was begun by rebecsim {theirs}, this is {ours}; "
            "choose another directory"
        )

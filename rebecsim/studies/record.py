"""Write and read the record of a run, `run.json`: scenario, versions, start, columns.

It is validated before it is used: types, sizes and finite numbers. Another user may have sent
it, so every reader relies on this check. Unknown keys pass: later versions may have added them.

Format 2 added `started`, and checksums beside the parts. Format 3 added what is needed to read the
results without the kind of the scenario or its plug-in: cells, columns and measures. Readers ignore
unknown keys, which later versions may have added.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeGuard

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from rebecsim.errors import UserError
from rebecsim.files import RECORD, LimitError, read_json, write_atomically
from rebecsim.metrics import Metric
from rebecsim.studies.cells import REPLICATION, Cell, Condition, grouped
from rebecsim.studies.plan import Plan
from rebecsim.studies.scenario import StudyScenario
from rebecsim.studies.study import PlannedCell


class ResultsError(UserError):
    """A results directory that cannot be used as asked; the text says why and what to do."""


_INTEGERS = range(-(2**63), 2**63)
_LONGEST_VALUE = 1_000
_LARGEST_WEIGHT = 1e30
_RESERVED = frozenset(
    {"parts", "checksums", "charts", "orders", "runs", "cells", "replications", "differences"}
)
"""Names of other folders of a run, and of other views of SQL."""


def _of_a_table(name: str) -> str:
    if name.casefold() in _RESERVED:
        raise ValueError("is a reserved name")
    return name


def _a_time(text: str) -> str:
    try:
        datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"is not a time: {text!r}") from error
    return text


def _require_finite(values: Mapping[str, Any]) -> None:
    """Raise ValueError if there is a number among plain values that is not finite."""
    left: list[Any] = [values]
    while left:
        each = left.pop()
        if isinstance(each, Mapping):
            left += each.values()
        elif isinstance(each, list):
            left += each
        elif isinstance(each, float) and not (-float("inf") < each < float("inf")):
            raise ValueError("holds a number that is not finite")


def _is_number(value: object) -> TypeGuard[float]:
    return type(value) is float or (type(value) is int and value in _INTEGERS)


def _a_number(value: object) -> object:
    if not _is_number(value):
        raise ValueError("must be a number, of 64 bits if it is whole")
    return value


def _a_weight(value: object) -> object:
    if not _is_number(value) or not abs(value) <= _LARGEST_WEIGHT:
        raise ValueError(f"must be a number between {-_LARGEST_WEIGHT:g} and {_LARGEST_WEIGHT:g}")
    return value


def _a_value(value: object) -> object:
    if not (_is_number(value) or (isinstance(value, str) and len(value) <= _LONGEST_VALUE)):
        raise ValueError("must be a short text, or a number, of 64 bits if it is whole")
    return value


_Whole = Annotated[int, Field(ge=_INTEGERS.start, lt=_INTEGERS.stop)]
_Word = Annotated[int, Field(ge=0, lt=2**64)]
_Number = Annotated[Any, AfterValidator(_a_number)]
_Text = Annotated[str, StringConstraints(max_length=10_000)]
_Value = Annotated[Any, AfterValidator(_a_value)]
_FileName = Annotated[str, StringConstraints(pattern=r"^[\w+=@~-][\w.+=@~-]{0,199}\Z")]
_TableName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,59}\Z"), AfterValidator(_of_a_table)
]
_ColumnName = Annotated[str, StringConstraints(pattern=r"^\w{1,200}\Z")]
_ColumnType = Annotated[
    str, StringConstraints(pattern=r"^(u?int(8|16|32|64)|float(32|64)|bool|string|words)\??\Z")
]
_Coordinate = Annotated[str, StringConstraints(pattern=r"^[\w. -]{1,200}\Z")]
_Values = Annotated[dict[_Coordinate, _Value], Field(max_length=100)]
_Columns = Annotated[dict[_ColumnName, _ColumnType], Field(max_length=10_000)]
_Weight = Annotated[Any, AfterValidator(_a_weight)]
_Weights = Annotated[dict[_ColumnName, _Weight], Field(min_length=1, max_length=1_000)]
_Name = Annotated[str, StringConstraints(max_length=1_000)]


class _Part(BaseModel):
    # The other engine takes a fifth of a second to compile what names may be.
    model_config = ConfigDict(
        strict=True, extra="allow", regex_engine="python-re", defer_build=True
    )


class _Cell(_Part):
    name: _FileName
    policy: _Name
    condition: _Values
    most: Annotated[_Whole, Field(ge=1)] | None
    random: bool
    key: Annotated[list[_Word], Field(max_length=100)]
    parameters: _Values = {}


class _Measure(_Part):
    model_config = ConfigDict(extra="forbid")

    name: _ColumnName
    title: _Text
    unit: _Text
    better: Literal["lower", "higher", "neither"]
    numerator: _Weights
    denominator: _Weights | None
    note: _Text = ""
    advantage: _Text = ""
    decimals: Annotated[int, Field(ge=0, le=20)] | None = None
    measured: bool = False
    best: _Text = ""
    least: _Number | None = None


class _Scenario(_Part):
    """What stands in lists of runs; the rest is looked at by the kind, when it is needed."""

    name: _Name | None = None
    title: _Name | None = None
    seed: _Whole | None = None
    replications: Annotated[_Whole, Field(ge=1)] = 1
    precision: _Text | None = None
    choice_law: _Name | None = None


class _Search(_Part):
    """What is asked of the cells of a search; see `rebecsim.search.space.Question`."""

    what: Literal["tune", "sensitivity", "morris"]
    measure: _ColumnName
    better: Literal["lower", "higher"]
    over: Annotated[list[_Coordinate], Field(max_length=100)]
    budget: Annotated[_Whole, Field(ge=0)]
    cells: list[_Name] = []


class _Versions(_Part):
    rebecsim: _Name


class _Begun(_Part):
    """A record of any format."""

    scenario: _Scenario
    versions: _Versions
    plugins: list[Any] = []
    started: Annotated[_Name, AfterValidator(_a_time)] | None
    engines: Annotated[list[_Name], Field(max_length=100)]


class _Described(_Begun):
    """A record that says what its results are."""

    kind: _Name
    apart: Annotated[list[_Coordinate], Field(max_length=100)]
    axis: _Name | None
    baseline: _Name | None
    level: Annotated[float, Field(gt=0, lt=1)]
    caution: _Text
    measures: Annotated[list[_Measure], Field(max_length=1_000)]
    columns: _Columns
    tables: Annotated[dict[_TableName, _Columns], Field(max_length=100)]
    cells: list[_Cell]
    search: _Search | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for what, names in self._unique():
            if len(set(names)) < len(names):
                raise ValueError(f"{what} are not all different")
        if len({tuple(each.condition) for each in self.cells}) > 1:
            raise ValueError("cells: their conditions have different coordinates")
        if self.search is not None and self.search.cells:  # it has chosen some, and compares none
            return self
        if self.baseline is not None and self.baseline not in {each.policy for each in self.cells}:
            raise ValueError(f"baseline: there is no cell of {self.baseline!r}")
        conditions = grouped(self.cells, lambda each: tuple(each.condition.items()))
        if len({frozenset(each.policy for each in some) for some in conditions.values()}) > 1:
            raise ValueError("cells: their conditions have different policies")
        return self

    def _unique(self) -> Iterator[tuple[str, list[Any]]]:
        yield "cells: their names", [each.name.casefold() for each in self.cells]
        yield (
            "cells: what they compare",
            [(each.policy, *each.condition.items()) for each in self.cells],
        )
        yield "measures: their names", [each.name.casefold() for each in self.measures]
        coordinates = {name for each in self.cells for name in (*each.condition, *each.parameters)}
        for name, columns in (("columns", self.columns), *self.tables.items()):
            yield (
                f"{name}: the names of coordinates and columns",
                [each.casefold() for each in ("run", "cell", "policy", *coordinates, *columns)],
            )


def fault_of(record: Mapping[str, Any], described: bool) -> str | None:
    """Say what is wrong with a record, naming the place; None if nothing is.

    `described` is whether it is to say what its results are.
    """
    try:
        _require_finite(record)
        (_Described if described else _Begun).model_validate(record)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        return ": ".join(filter(None, (place, first["msg"].removeprefix("Value error, "))))
    except ValueError as error:
        return str(error)
    return None


FORMAT = 3
_READABLE = (1, 2, 3)
_PACKAGES = ("rebecsim", "numpy", "scipy", "jinja2", "lark", "pyarrow")


def versions() -> dict[str, str]:
    """Give the versions of Python and of the packages that results depend on."""
    return dict(_versions())


@cache
def _versions() -> Mapping[str, str]:
    """Read them once: it takes milliseconds, and each run and the inputs of its tasks have them."""
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
        **({"search": dict(plan.search)} if plan.search else {}),
        **plan.fingerprints(),
        **described(plan),
    }


def described(plan: Plan) -> dict[str, Any]:
    """Describe the results of a plan, for readers that do not have its kind."""
    axis = plan.axis
    return {
        "apart": list(plan.separate),
        "axis": axis and axis.coordinate,
        "baseline": plan.comparison.baseline,
        "level": plan.scenario.level,
        "caution": plan.caution,
        "measures": [each.described for each in plan.comparison.kept],
        "columns": dict(plan.columns),
        "tables": {
            name: {REPLICATION: "int64", **columns}
            for name, columns in plan.tables(trace=True).items()
        },
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
        separate: coordinates whose values are compared separately.
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
        self.separate: tuple[str, ...] = tuple(record["apart"])
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
    if record.get("search") != plan.search:
        raise ResultsError(
            f"{path.parent}: was begun with another question: by compare, tune or sensitivity, or "
            "about another measure or budget; ask the same, or choose another directory"
        )
    theirs, ours = record["versions"]["rebecsim"], versions()["rebecsim"]
    if theirs != ours:
        raise ResultsError(
            f"{path.parent}: was begun by rebecsim {theirs}, this is {ours}; "
            "choose another directory"
        )
    require_same_results(path, record, plan)

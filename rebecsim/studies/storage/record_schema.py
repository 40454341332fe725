"""Validation of a record before it is used: types, sizes and finite numbers.

A record may come from somebody else, so every reader relies on this check. Unknown keys pass:
later versions may have added them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from rebecsim.studies.cell import grouped

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


def _is_number(value: object) -> bool:
    return type(value) is float or (type(value) is int and value in _INTEGERS)


def _a_number(value: object) -> object:
    if not _is_number(value):
        raise ValueError("must be a number, of 64 bits if it is whole")
    return value


def _a_weight(value: object) -> object:
    if not _is_number(value) or not abs(value) <= _LARGEST_WEIGHT:  # type: ignore[arg-type]
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
_FileName = Annotated[str, StringConstraints(pattern=r"^[\w+=@~-][\w.+=@~-]{0,199}$")]
_TableName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,59}$"), AfterValidator(_of_a_table)
]
_ColumnName = Annotated[str, StringConstraints(pattern=r"^\w{1,200}$")]
_ColumnType = Annotated[
    str, StringConstraints(pattern=r"^(u?int(8|16|32|64)|float(32|64)|bool|string|words)\??$")
]
_Coordinate = Annotated[str, StringConstraints(pattern=r"^[\w. -]{1,200}$")]
_Values = Annotated[dict[_Coordinate, _Value], Field(max_length=100)]
_Columns = Annotated[dict[_ColumnName, _ColumnType], Field(max_length=10_000)]
_Weight = Annotated[Any, AfterValidator(_a_weight)]
_Weights = Annotated[dict[_ColumnName, _Weight], Field(min_length=1, max_length=1_000)]
_Name = Annotated[str, StringConstraints(max_length=1_000)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class _Cell(_Part):
    name: _FileName
    policy: _Name
    condition: _Values
    most: Annotated[_Whole, Field(ge=1)] | None
    random: bool
    key: Annotated[list[_Word], Field(max_length=100)]
    parameters: _Values = {}


class _Measure(_Part):
    model_config = ConfigDict(strict=True, extra="forbid")

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

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for what, names in self._unique():
            if len(set(names)) < len(names):
                raise ValueError(f"{what} are not all different")
        if self.baseline is not None and self.baseline not in {each.policy for each in self.cells}:
            raise ValueError(f"baseline: there is no cell of {self.baseline!r}")
        if len({tuple(each.condition) for each in self.cells}) > 1:
            raise ValueError("cells: their conditions have different coordinates")
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

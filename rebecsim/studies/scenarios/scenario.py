"""Scenarios: what the scenario files of all kinds have, and how one is validated."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from rebecsim.close_names import suggestion
from rebecsim.errors import UserError
from rebecsim.metrics import Metric
from rebecsim.studies.scenarios.scenario_errors import ScenarioError, problems_of
from rebecsim.studies.scenarios.toml_lines import FieldPath
from rebecsim.studies.scenarios.units import NO_UNIT, unit, with_unit
from rebecsim.studies.statistics.precision import read_amount, read_targets

ListOf = Field(strict=False, min_length=1)
"""A list of at least one entry, which TOML and JSON give as a list and a scenario keeps as a
tuple; the entries themselves are not converted."""

Some = TypeVar("Some", bound="StudyScenario")
Entries = TypeVar("Entries", bound=tuple[Any, ...])


class Table(BaseModel):
    """A table of a scenario file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class StudyScenario(Table):
    """What scenarios of all kinds have. A kind adds `kind`, its policies and its own keys."""

    unlisted: ClassVar[frozenset[str]] = frozenset()
    """Keys that are no settings for people to read."""

    precise: ClassVar[Metric | None] = None
    """The figure that a precision is about, where the kind knows it beforehand."""

    kind: str = Field(description="the kind of cluster")
    name: str = Field(
        pattern=r"^[a-z][a-z0-9_]*$", max_length=60, description="identifier, used for file names"
    )
    title: str = Field(default="", max_length=200, description="heading of charts and reports")
    description: str = Field(default="", max_length=10_000, description="what the scenario shows")
    replications: int = Field(
        default=100,
        ge=1,
        le=10**9,
        json_schema_extra=unit("runs"),
        description="independent runs of each configuration; with a precision, at most so many",
    )
    precision: str | None = Field(
        default=None,
        description="run until the first figure of every policy is known so well: 1% is the "
        "half-width of the interval, of the estimate; several by name, as late=10%,turnaround=5%",
    )
    seed: int = Field(
        default=2015,
        ge=0,
        lt=2**63,
        json_schema_extra=NO_UNIT,
        description="where the random numbers start",
    )

    @property
    def level(self) -> float:
        """The confidence level of intervals, in (0, 1)."""
        return 0.95

    @property
    def heading(self) -> str:
        """The title, or the name when there is none."""
        return self.title or self.name

    @field_validator("precision")
    @classmethod
    def _precision_can_be_read(cls, text: str | None) -> str | None:
        if text is not None:
            try:
                for name, amount in read_targets(text):
                    read_amount(amount, None if name else cls.precise)
            except UserError as error:
                raise ValueError(str(error)) from error
        return text

    @classmethod
    def tables_of(cls, values: Mapping[str, object]) -> Mapping[FieldPath, type[BaseModel]]:
        """Give the models of tables whose keys depend on what they hold."""
        return {}

    def replace(self, **changes: object) -> Self:
        """Return the scenario with some fields changed, e.g. `replace(replications=10)`.

        A change to None leaves the field as it is. Raises ScenarioError when the result is no
        valid scenario or a field does not exist.
        """
        given = {name: value for name, value in changes.items() if value is not None}
        return validated(type(self), f"scenario {self.name}", {**self.model_dump(), **given}, {})


def validated(
    model: type[Some],
    origin: str,
    values: Mapping[str, object],
    lines: Mapping[FieldPath, int],
) -> Some:
    """Validate a scenario; `lines` says where in its file each key stands.

    Raises ScenarioError, which names everything that is wrong.
    """
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        tables = {**dict(_tables(model, values)), **model.tables_of(values)}
        fields = {path: _descriptions(table) for path, table in tables.items()}
        raise ScenarioError(origin, problems_of(error, lines, fields)) from error


def entry_error(kind: str, place: int | str, text: str) -> PydanticCustomError:
    """Make the error of an entry of a list, as pydantic has them."""
    return PydanticCustomError(kind, "{text}", {"text": text, "entry": place})


def require_known(names: tuple[str, ...], find: Callable[[str], object]) -> None:
    """Raise an error that pydantic reports when `find` has nothing for a name of a list."""
    for place, name in enumerate(names):
        try:
            find(name)
        except ValueError as error:
            raise entry_error("unknown_name", place, str(error)) from error


def require_metrics(names: tuple[str, ...], known: Sequence[str]) -> None:
    """Raise an error that pydantic reports when a name of a list is that of no metric."""
    for place, name in enumerate(names):
        if name not in known:
            text = f"no metric {name!r}; {suggestion(name, known)}"
            raise entry_error("unknown_metric", place, text)


def without_duplicates(entries: Entries) -> Entries:
    """Give a list; raise an error that pydantic reports when something stands in it twice."""
    for place, entry in enumerate(entries):
        if (first := entries.index(entry)) < place:
            shown = getattr(entry, "label", None) or repr(entry)
            text = f"{shown} stands there twice (first as entry {first}); remove one"
            raise entry_error("duplicate", place, text)
    return entries


def _tables(
    model: type[BaseModel], values: object, path: FieldPath = ()
) -> Iterator[tuple[FieldPath, type[BaseModel]]]:
    """Give the tables that a file may have, as far as it has lists of them."""
    yield path, model
    given = values if isinstance(values, Mapping) else {}
    for name, field in model.model_fields.items():
        for inner in _models(field.annotation):
            value = given.get(name)
            if isinstance(value, list):
                for place, entry in enumerate(value):
                    yield from _tables(inner, entry, (*path, name, place))
            else:
                yield from _tables(inner, value, (*path, name))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Give the models that a field may hold: itself, or as an entry of a list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (Union, types.UnionType, tuple):
        for each in get_args(annotation):
            yield from _models(each)


def _descriptions(model: type[BaseModel]) -> dict[str, str]:
    return {
        name: with_unit(field.description or "", field.json_schema_extra)
        for name, field in model.model_fields.items()
    }

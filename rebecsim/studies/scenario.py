"""Units of the fields of scenarios, which pages and messages show.

A field has one as `Field(json_schema_extra=unit("MB"))`, so it is a part of the schema."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import (
    Annotated,
    Any,
    ClassVar,
    Self,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from rebecsim.errors import UserError
from rebecsim.metrics import Metric
from rebecsim.studies.precision import read_amount, read_targets
from rebecsim.studies.scenario_files import (
    FieldPath,
    ScenarioError,
    ScenarioProblem,
    field_name,
    line_of,
    problems_of,
)
from rebecsim.studies.sweeps import (
    Changes,
    Key,
    SweepError,
    SweepField,
    combinations,
    find_key,
    label_of,
    set_value,
)
from rebecsim.wording import suggestion

_KEY = "unit"


def unit(name: str) -> JsonDict:
    """Say in which unit a field is given, e.g. `seconds`."""
    return {_KEY: name}


NO_UNIT = unit("")
"""Of a field that is a bare number: a seed, a share, a factor, or a count of what it is named for.
"""

UNIT_OUTSIDE: JsonDict = {_KEY: None}
"""Of a field that has the unit of the table or list in which it stands."""


def unit_of(field: Mapping[str, Any] | object, outside: str = "") -> str | None:
    """Give the unit of a field by its schema; "" for a bare number, None if not stated."""
    if not isinstance(field, Mapping) or _KEY not in field:
        return None
    return outside if field[_KEY] is None else str(field[_KEY])


def with_unit(description: str, field: Mapping[str, Any] | object) -> str:
    """Put the unit of a field behind what is said of it."""
    return ", ".join(filter(None, (description, unit_of(field))))


def within(least: float, most: float, unit_name: str = "") -> Any:
    """Say between which bounds a number lies, and in which unit it is given.

    It stands in the type: `Annotated[int, within(1, 1000, "MB")]`.
    """
    return Field(ge=least, le=most, json_schema_extra=unit(unit_name))


ListOf = Field(strict=False, min_length=1)
"""A list of at least one entry, which TOML and JSON give as a list and a scenario keeps as a
tuple; the entries themselves are not converted."""

Some = TypeVar("Some", bound="StudyScenario")
Entries = TypeVar("Entries", bound=tuple[Any, ...])


class Table(BaseModel):
    """A table of a scenario file."""

    # Most tables are only a part, or the base, of those that are read.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class StudyScenario(Table):
    """What scenarios of all kinds have. A kind adds `kind`, its policies and its own keys."""

    unlisted: ClassVar[frozenset[str]] = frozenset()
    """Keys that are not settings."""

    fixed: ClassVar[frozenset[str]] = frozenset()
    """Keys of the kind that cannot be swept: what is compared, and how that is shown."""

    precise: ClassVar[Metric | None] = None
    """The figure that a precision is about, where the kind knows it beforehand."""

    kind: str = Field(description="the kind of cluster")
    name: str = Field(
        pattern=r"^[a-z][a-z0-9_]*$", max_length=60, description="identifier, used for file names"
    )
    title: str = Field("", max_length=200, description="heading of charts and reports")
    description: str = Field("", max_length=10_000, description="what the scenario shows")
    replications: Annotated[int, within(1, 10**9, "runs")] = Field(
        100, description="independent runs of each configuration; with a precision, at most so many"
    )
    precision: str | None = Field(
        None,
        description="run until the first figure of every policy is known so well: 1% is the "
        "half-width of the interval, of the estimate; several by name, as late=10%,turnaround=5%",
    )
    seed: int = Field(
        2015,
        ge=0,
        lt=2**63,
        json_schema_extra=NO_UNIT,
        description="where the random numbers start",
    )
    sweep: SweepField = Field(
        {},
        validate_default=True,
        json_schema_extra=NO_UNIT,
        description="other keys of this file with the values that they take in turn: each a list, "
        "or a range such as { from = 1, to = 5, step = 1 }",
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

    @property
    def swept(self) -> Mapping[str, tuple[Any, ...]]:
        """The keys of the file that take several values, and these."""
        return self.sweep

    @classmethod
    def tables_of(cls, values: Mapping[str, object]) -> Mapping[FieldPath, type[BaseModel]]:
        """Give the models of tables whose keys depend on what they hold."""
        return {}

    @classmethod
    def is_like(cls, values: Mapping[str, Any]) -> bool:
        """Whether a scenario file without a `kind` looks like one of this kind."""
        return False

    def completed(self, folder: Path) -> Self:
        """Give it as its record is to hold it, with what it needs of the files it names.

        Those are there; paths start from `folder`. Raises FieldError for keys that do not fit what
        is in them.
        """
        return self

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
        scenario = model.model_validate(dict(values))
    except ValidationError as error:
        tables = {**dict(_tables(model, values)), **model.tables_of(values)}
        fields = {path: _descriptions(table) for path, table in tables.items()}
        raise ScenarioError(origin, problems_of(error, lines, fields)) from error
    problems = [
        ScenarioProblem(each.reason, field_name(path), line_of(path, lines))
        for each in sweep_errors(scenario)
        for path in [("sweep", *([each.key] if each.key else ()))]
    ]
    if problems:
        raise ScenarioError(origin, problems)
    return scenario


# --- sweeps --------------------------------------------------------------------------------------

_FIXED = frozenset(
    {"kind", "name", "title", "description", "replications", "precision", "seed", "sweep"}
    | {"policies", "schedulers", "baseline", "metrics", "load_factors", "error_percents"}
)
"""Keys that no scenario can sweep; those of lists are compared already."""

_MOST_SAID = 10
"""Most combinations whose errors are listed."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One combination of the values that are swept: these, and the scenario that has them."""

    changes: Changes
    scenario: Any


def swept_settings(scenario: Some) -> tuple[Setting, ...]:
    """Give each combination of the values that keys of a scenario take; itself if none does.

    Raises SweepError for keys that there are not, and for values that they cannot have.
    """
    if not scenario.swept:
        return (Setting((), scenario),)
    paths = {name: key.path for name, key in find_swept(scenario).items()}
    return tuple(
        Setting(changes, _changed(scenario, changes, paths))
        for changes in combinations(scenario.swept)
    )


def find_swept(scenario: StudyScenario) -> dict[str, Key]:
    """Find the keys that are swept. Raises SweepError."""
    return {name: swept_key(scenario, name) for name in scenario.swept}


def swept_key(scenario: StudyScenario, name: str, other: Sequence[str] = ()) -> Key:
    """Find a key that can be swept. Raises SweepError, which may suggest `other` names, too."""
    return find_key(scenario, name, _FIXED | scenario.fixed, other)


def sweep_errors(scenario: StudyScenario) -> Iterator[SweepError]:
    """Say what is wrong with a sweep: its keys, or else the values that they cannot have."""
    paths: dict[str, FieldPath] = {}
    for name in scenario.swept:
        try:
            paths[name] = swept_key(scenario, name).path
        except SweepError as error:
            yield error
    if not paths or len(paths) < len(scenario.swept):
        return
    said: set[str] = set()
    for changes in combinations(scenario.swept):
        try:
            _changed(scenario, changes, paths)
        except SweepError as error:
            if str(error) not in said:
                yield error
            said.add(str(error))
            if len(said) >= _MOST_SAID:
                return


def _changed(scenario: Some, changes: Changes, paths: Mapping[str, FieldPath]) -> Some:
    """Give a scenario other values at some paths. Raises SweepError."""
    rest = {name: values for name, values in scenario.sweep.items() if name not in paths}
    values = {**scenario.model_dump(), "sweep": rest}
    for name, value in changes:
        set_value(values, paths[name], value)
    try:
        return type(scenario).model_validate(values)
    except ValidationError as error:
        first = problems_of(error, {}, {})[0]
        own = next((name for name, path in paths.items() if field_name(path) == first.field), None)
        if own is not None:
            raise SweepError(own, first.message) from error
        key = changes[0][0] if len(changes) == 1 else ""
        said = ": ".join(filter(None, (first.field, first.message)))
        raise SweepError(key, f"with {label_of(changes)}: {said}") from error


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
            text = f"{shown} is listed twice (first as entry {first}); remove one"
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


MAX_RUNS = 10_000
"""Most runs of one scenario."""

AnyList = Field(strict=False)
"""TOML and JSON give a list, the scenario keeps a tuple; the entries are not converted."""

Load = Annotated[float, Field(ge=0.001, le=1000)]

Unique = AfterValidator(without_duplicates)
"""Nothing stands in the list twice."""


def named_by(find: Callable[[str], object]) -> AfterValidator:
    """Give what refuses names for which `find` has nothing."""

    def require(names: tuple[str, ...]) -> tuple[str, ...]:
        require_known(names, find)
        return names

    return AfterValidator(require)


LoadFactors = Annotated[
    tuple[Load, ...],
    Unique,
    Field(
        strict=False,
        min_length=1,
        json_schema_extra=NO_UNIT,
        description="submit jobs so many times as fast",
    ),
]

MetricNames = Annotated[
    tuple[str, ...],
    Unique,
    Field(strict=False, description="columns of the table, by name; all of them without this key"),
]


def among(known: Sequence[str]) -> AfterValidator:
    """Give what refuses other names of metrics than these."""

    def require(names: tuple[str, ...]) -> tuple[str, ...]:
        require_metrics(names, known)
        return names

    return AfterValidator(require)


Made = TypeVar("Made")


def settings_of(made: Callable[..., Made], table: BaseModel, **own: Any) -> Made:
    """Make the settings that a simulation reads from a table of its scenario.

    They are a dataclass; each field of it that the table has, too, gets its value. `own` are
    further fields.
    """
    known = type(table).model_fields
    names = [each.name for each in fields(cast(Any, made)) if each.name in known]
    return made(**{name: getattr(table, name) for name in names} | own)

"""The two kinds of patterns, arrivals and lengths, as types; and curved patterns as tables.

A value of such a type is a table with the key `pattern`, which names a registered class; plug-ins
may add classes at any time, so the members are looked up when a value is validated.

A model has neither sines nor splines: a curve is evaluated at the whole time units of its period
when the model is generated, each value is rounded to the nearest whole number (halves up) and
values below 0 become 0."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import groupby, pairwise
from math import floor, pi, sin
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, PydanticKnownError, core_schema

from rebecsim.clusters.dispatch.patterns import (
    MAX_ARRIVALS,
    MAX_LENGTH,
    MAX_POINTS,
    Ascending,
    Bursty,
    Descending,
    Geometric,
    Linear,
    Nondet,
    UniformArrivals,
    UniformLengths,
    Wave,
    WorkloadPattern,
)
from rebecsim.clusters.kit.plugins import Registry, UnknownNameError, blaming
from rebecsim.studies.scenario import UNIT_OUTSIDE, unit

MAX_PERIOD = 1_000
"""Longest period of a table in time units: each change of its value is written out in the model."""

Level = Annotated[float, Field(ge=0, le=MAX_LENGTH, allow_inf_nan=False)]
Period = Annotated[
    int,
    Field(
        ge=1,
        le=MAX_PERIOD,
        json_schema_extra=unit("time units"),
        description="after which the pattern starts again",
    ),
]
Knot = Annotated[tuple[Annotated[int, Field(ge=0, le=MAX_PERIOD)], Level], Field(strict=False)]
"""A time unit and the value there."""

_NOISE_DIGITS = 9
"""Digits after the point to which a spline is trusted, so that noise cannot decide a half."""


class TablePattern(WorkloadPattern):
    """A pattern that lists its values, one for each time unit of its period.

    A subclass says in `values` what they are. The model finds the value of a time unit by halving,
    in a number of comparisons that grows with the logarithm of the number of changes.
    """

    fragment: ClassVar[str] = "patterns/table.j2"
    uses_time: ClassVar[bool] = True

    @abstractmethod
    def values(self) -> tuple[int, ...]:
        """Return the values at the time units 0 .. period - 1, whole numbers from 0."""

    @model_validator(mode="after")
    def _values_are_usable(self) -> Self:
        values = self.values()
        if not 1 <= len(values) <= MAX_PERIOD:
            raise ValueError(f"the period is {len(values)} time units; use 1 to {MAX_PERIOD}")
        for time, value in enumerate(values):
            if type(value) is not int or not 0 <= value <= MAX_LENGTH:
                raise ValueError(
                    f"the value at time unit {time} is {value!r}; "
                    f"use whole numbers from 0 to {MAX_LENGTH}"
                )
        return self

    @property
    def constants(self) -> dict[str, int]:
        """PERIOD."""
        return {"PERIOD": len(self.values())}

    @property
    def steps(self) -> tuple[tuple[int, int], ...]:
        """Where the value changes: first time unit and value of each stretch of equal values."""
        first, steps = 0, []
        for value, stretch in groupby(self.values()):
            steps.append((first, value))
            first += len(tuple(stretch))
        return tuple(steps)

    def alternatives(self, time: int) -> tuple[int, ...]:
        """Return the value of the table at time mod period."""
        values = self.values()
        return (values[time % len(values)],)

    def largest(self, ticks: int) -> int:
        """Return the largest value of the table."""
        return max(self.values())


class Sine(TablePattern):
    """mean + amplitude * sin(2 pi t / period), rounded to whole numbers (halves up), at least 0."""

    pattern: Literal["sine"] = "sine"
    mean: Level = Field(
        json_schema_extra=UNIT_OUTSIDE, description="value in the middle of the curve"
    )
    amplitude: Level = Field(
        json_schema_extra=UNIT_OUTSIDE,
        description="how far the curve goes up and down from the mean",
    )
    period: Period

    @property
    def label(self) -> str:
        """E.g. `sine 3+-2.5x24`."""
        return f"sine {_short(self.mean)}+-{_short(self.amplitude)}x{self.period}"

    def values(self) -> tuple[int, ...]:
        """Return the rounded curve over one period."""
        return _sine_values(self.mean, self.amplitude, self.period)


class Spline(TablePattern):
    """The natural cubic spline through the knots, rounded (halves up), at least 0.

    Of all smooth curves through the knots it is the one that bends least; its second derivative
    is 0 at both ends (C. de Boor, "A Practical Guide to Splines", chapter IV).
    """

    pattern: Literal["spline"] = "spline"
    period: Period
    knots: Annotated[tuple[Knot, ...], Field(strict=False, min_length=2, max_length=MAX_PERIOD)] = (
        Field(
            json_schema_extra=UNIT_OUTSIDE,
            description="[time, value] pairs the curve goes through, from time 0 to the end",
        )
    )

    @field_validator("knots")
    @classmethod
    def _knots_span_the_period(
        cls, knots: tuple[tuple[int, float], ...], info: ValidationInfo
    ) -> tuple[tuple[int, float], ...]:
        times = [time for time, _ in knots]
        if any(later <= earlier for earlier, later in pairwise(times)):
            raise ValueError("the times of the knots must ascend; sort them and remove repetitions")
        period = info.data.get("period")
        if period is not None and (times[0] != 0 or times[-1] not in (period - 1, period)):
            raise ValueError(
                f"the knots go from time {times[0]} to {times[-1]}; begin at 0 and end at "
                f"{period - 1}, the last time unit of the period, or at {period}"
            )
        return knots

    @property
    def label(self) -> str:
        """The range, the period and a mark of the knots, e.g. `spline 2..9x24 #1f0c9a2b`."""
        values = self.values()
        mark = hashlib.blake2b(self.model_dump_json().encode(), digest_size=4).hexdigest()
        return f"spline {min(values)}..{max(values)}x{self.period} #{mark}"

    def values(self) -> tuple[int, ...]:
        """Return the rounded curve over one period."""
        return _spline_values(self.knots, self.period)


@lru_cache(maxsize=64)
def _sine_values(mean: float, amplitude: float, period: int) -> tuple[int, ...]:
    exact_mean, exact_amplitude = Fraction(repr(mean)), Fraction(repr(amplitude))
    return tuple(
        _rounded(exact_mean + exact_amplitude * _sine_of_turns(Fraction(time, period)))
        for time in range(period)
    )


def _sine_of_turns(turns: Fraction) -> Fraction:
    """Return the sine of an angle in full turns, 0 <= turns < 1.

    The sine of a rational angle is rational only when it is 0, +-1/2 or +-1 (I. Niven,
    "Irrational Numbers", corollary 3.12). These are exact here. No other sine can bring a decimal
    mean and amplitude to a half, so which way a value is rounded never depends on the last digit
    of a floating point number.
    """
    if turns >= Fraction(1, 2):
        return -_sine_of_turns(turns - Fraction(1, 2))
    if turns > Fraction(1, 4):
        turns = Fraction(1, 2) - turns
    exact = {Fraction(0): Fraction(0), Fraction(1, 12): Fraction(1, 2), Fraction(1, 4): Fraction(1)}
    return exact[turns] if turns in exact else Fraction(sin(2 * pi * float(turns)))


@lru_cache(maxsize=64)
def _spline_values(knots: tuple[tuple[int, float], ...], period: int) -> tuple[int, ...]:
    from scipy.interpolate import CubicSpline  # slow to import, and few scenarios need it

    times, levels = zip(*knots, strict=True)
    curve = CubicSpline(times, levels, bc_type="natural")
    return tuple(_rounded(Fraction(round(float(curve(t)), _NOISE_DIGITS))) for t in range(period))


def _rounded(value: Fraction) -> int:
    return max(0, floor(value + Fraction(1, 2)))


def _short(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


_FOR_BOTH = (Nondet, Wave, Ascending, Descending, Sine, Spline)

BUILTIN_ARRIVAL_PATTERNS: tuple[type[WorkloadPattern], ...] = (UniformArrivals, Bursty, *_FOR_BOTH)
BUILTIN_LENGTH_PATTERNS: tuple[type[WorkloadPattern], ...] = (
    UniformLengths,
    Linear,
    Geometric,
    *_FOR_BOTH,
)

arrivals: Registry[type[WorkloadPattern]] = Registry("arrival pattern")
lengths: Registry[type[WorkloadPattern]] = Registry("length pattern")

ARRIVAL_PATTERNS = arrivals.entries
"""The classes of arrival patterns by what the key `pattern` may say."""

LENGTH_PATTERNS = lengths.entries
"""The classes of length patterns by what the key `pattern` may say."""

for _registry, _patterns in (
    (arrivals, BUILTIN_ARRIVAL_PATTERNS),
    (lengths, BUILTIN_LENGTH_PATTERNS),
):
    for _pattern in _patterns:
        for _name in _pattern.names():
            _registry.add(_name, _pattern)


@dataclass(frozen=True)
class _RegisteredPattern:
    """Marks a field whose value is a pattern of a registry."""

    registry: Registry[type[WorkloadPattern]]

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._validated,
            serialization=core_schema.plain_serializer_function_ser_schema(_dumped, info_arg=True),
        )

    def __get_pydantic_json_schema__(self, _: CoreSchema, __: GetJsonSchemaHandler) -> Any:
        classes = dict.fromkeys(self.registry.entries.values())
        return {"oneOf": [each.model_json_schema() for each in classes]}

    def _validated(self, value: object) -> WorkloadPattern:
        if isinstance(value, WorkloadPattern):
            if type(value) in self.registry.entries.values():
                return value
            raise PydanticCustomError(
                "pattern_of_another_kind",
                "{pattern} is not a registered {kind}",
                {"pattern": value.label, "kind": self.registry.kind},
            )
        if not isinstance(value, Mapping):
            raise PydanticKnownError("dict_type")
        kind = self._class_of(value)
        with blaming(*self.registry.suspects(value["pattern"])):
            pattern = kind.model_validate(dict(value))
            _require_names(pattern)
        return pattern

    def _class_of(self, value: Mapping[str, object]) -> type[WorkloadPattern]:
        name = value.get("pattern")
        if not isinstance(name, str):
            raise PydanticCustomError(
                "pattern_missing", 'has no pattern; add one, for example pattern = "uniform"'
            )
        try:
            return self.registry.find(name)
        except UnknownNameError as error:
            raise PydanticCustomError("pattern_unknown", "{text}", {"text": str(error)}) from error


def _dumped(pattern: WorkloadPattern, info: core_schema.SerializationInfo) -> dict[str, Any]:
    return pattern.model_dump(mode=info.mode)


def _require_names(pattern: WorkloadPattern) -> None:
    """Raise TypeError unless a pattern has names fit for a comment and for a file."""
    if not isinstance(pattern.label, str) or not pattern.label.isprintable() or not pattern.label:
        raise TypeError(f"`label` must be a line of text, not {pattern.label!r}")
    if not isinstance(pattern.slug, str) or not (pattern.slug.isascii() and pattern.slug.isalnum()):
        raise TypeError(f"`slug` must be letters and digits, not {pattern.slug!r}")


def _require_few_arrivals(pattern: WorkloadPattern) -> WorkloadPattern:
    if pattern.largest(MAX_POINTS) > MAX_ARRIVALS:
        raise ValueError(f"more than {MAX_ARRIVALS} jobs in one time unit; use a smaller pattern")
    return pattern


Arrivals: TypeAlias = Annotated[
    WorkloadPattern, _RegisteredPattern(arrivals), AfterValidator(_require_few_arrivals)
]
"""Any registered arrival pattern, told apart by its key `pattern`."""

Lengths: TypeAlias = Annotated[WorkloadPattern, _RegisteredPattern(lengths)]
"""Any registered length pattern, told apart by its key `pattern`."""

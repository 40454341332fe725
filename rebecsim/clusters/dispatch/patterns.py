"""Workload patterns: how many jobs arrive in a time unit, and how long each of them runs.

A pattern is a function of the time unit t = 0, 1, 2, ... Arrival patterns give jobs per time unit,
length patterns give the time units of work of one job; all values are whole numbers. Patterns whose
meaning is the same for both (nondet, wave, ascending, descending, sine, spline) are one class.

Every pattern but `nondet` is deterministic: all jobs of one time unit have the same length. The
values of `nondet` are drawn anew for every time unit (arrivals) or every job (lengths).

Each class names the template fragment that computes it in the generated model. The fragment defines
a macro `assign(target, prefix, pattern)` which writes the statements that put the pattern's value
for the time unit `m_time` into the variable `target`; the numbers it needs are constants of the
model, named `prefix` plus the names in `constants`."""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Annotated, ClassVar, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from rebecsim.studies.scenario import NO_UNIT, UNIT_OUTSIDE, unit

MAX_ARRIVALS = 10_000
"""Most jobs in one time unit: each costs a pass over the queue."""

MAX_LENGTH = 10_000_000
"""Longest job in time units: whole numbers are exact in single precision only up to 2**24, and a
deadline of MAX_LENGTH * (1 + MAX_EPSILON) still fits the 32 bits of the model's integers."""

MAX_POINTS = 10_000
"""Longest period in time units."""

MAX_ALTERNATIVES = 1_000
"""Most values a nondet pattern draws from: each is written out in the model."""

Value = Annotated[int, Field(ge=0, le=MAX_LENGTH)]
Points = Annotated[
    int,
    Field(
        ge=1,
        le=MAX_POINTS,
        json_schema_extra=unit("time units"),
        description="after which the pattern starts again",
    ),
]

_WORDS = {"..": "to", "+": "plus", "-": "minus", "*": "times", ".": "p"}
"""What the signs of a label are called where only letters and digits may stand."""


class WorkloadPattern(BaseModel):
    """What all patterns have: a label, the template fragment, and the values they can take."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    fragment: ClassVar[str]
    """Name of the template with the macro `assign`."""

    uses_time: ClassVar[bool]
    """Whether the value depends on the time unit, so that the model must count them."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return what the key `pattern` may say for this class."""
        return get_args(cls.model_fields["pattern"].annotation)

    @property
    @abstractmethod
    def label(self) -> str:
        """The pattern in a few characters, different for different patterns: `nondet 1..6`."""

    @property
    def slug(self) -> str:
        """The label with letters and digits only, for file names: `nondet1to6`."""
        return re.sub(r"\.\.|[^A-Za-z0-9]", lambda sign: _WORDS.get(sign[0], ""), self.label)

    @property
    def constants(self) -> dict[str, int]:
        """The constants of the model that the fragment reads, by the end of their names."""
        return {}

    @abstractmethod
    def alternatives(self, time: int) -> tuple[int, ...]:
        """Return the values possible at time unit `time` >= 0; one, unless the pattern draws."""

    @abstractmethod
    def largest(self, ticks: int) -> int:
        """Return an upper bound of the values at the time units 0 .. ticks - 1, reached or not."""


def require_in_range(value: int, what: str) -> None:
    """Raise ValueError when a value of a pattern, named by `what`, exceeds MAX_LENGTH."""
    if value > MAX_LENGTH:
        raise ValueError(f"the {what} exceeds {MAX_LENGTH}; use fewer points or smaller steps")


class _Formula(WorkloadPattern):
    """One value for each time unit, computed from the numbers of the pattern."""

    uses_time: ClassVar[bool] = True

    form: ClassVar[str]
    """The label, with the names of the numbers in braces."""

    @property
    def label(self) -> str:
        """The form with the numbers in it."""
        return self.form.format_map(dict(self))

    @property
    def constants(self) -> dict[str, int]:
        """The numbers, by their names in capitals."""
        return {name.upper(): number for name, number in self if name != "pattern"}

    @abstractmethod
    def at(self, time: int) -> int:
        """Return the value at time unit `time` >= 0."""

    def alternatives(self, time: int) -> tuple[int, ...]:
        """Return the one value."""
        return (self.at(time),)


class Bursty(_Formula):
    """Arrivals: `size` jobs at the time units 0, interval, 2 * interval, ...; none between."""

    fragment: ClassVar[str] = "patterns/bursty.j2"
    form: ClassVar[str] = "bursty {size} every {interval}"

    pattern: Literal["bursty"] = "bursty"
    size: Value = Field(json_schema_extra=unit("jobs"), description="of a burst")
    interval: Points = Field(
        json_schema_extra=unit("time units"), description="from one burst to the next"
    )

    def at(self, time: int) -> int:
        """Return the size at multiples of the interval, else 0."""
        return self.size if time % self.interval == 0 else 0

    def largest(self, ticks: int) -> int:
        """Return the size."""
        return self.size


class _Constant(WorkloadPattern):
    """The same value at every time unit; how the field is called depends on what is counted."""

    fragment: ClassVar[str] = "patterns/uniform.j2"
    uses_time: ClassVar[bool] = False

    @property
    @abstractmethod
    def value(self) -> int:
        """The value at every time unit."""

    @property
    def label(self) -> str:
        """E.g. `uniform 1`."""
        return f"uniform {self.value}"

    @property
    def constants(self) -> dict[str, int]:
        """VALUE."""
        return {"VALUE": self.value}

    def alternatives(self, time: int) -> tuple[int, ...]:
        """Return the one value."""
        return (self.value,)

    def largest(self, ticks: int) -> int:
        """Return the one value."""
        return self.value


class UniformArrivals(_Constant):
    """Arrivals: `count` jobs at every time unit."""

    pattern: Literal["uniform"] = "uniform"
    count: Value = Field(
        json_schema_extra=unit("jobs per time unit"), description="how many jobs arrive"
    )

    @property
    def value(self) -> int:
        """The count."""
        return self.count


class UniformLengths(_Constant):
    """Lengths: every job takes `length` time units."""

    pattern: Literal["uniform"] = "uniform"
    length: Value = Field(json_schema_extra=unit("time units"), description="work of each job")

    @property
    def value(self) -> int:
        """The length."""
        return self.length


class Nondet(WorkloadPattern):
    """A value drawn from minimum .. maximum (both included) by the model's choice operator."""

    fragment: ClassVar[str] = "patterns/nondet.j2"
    uses_time: ClassVar[bool] = False

    pattern: Literal["nondet"] = "nondet"
    minimum: Value = Field(json_schema_extra=UNIT_OUTSIDE, description="smallest value")
    maximum: Value = Field(json_schema_extra=UNIT_OUTSIDE, description="largest value")

    @model_validator(mode="after")
    def _range_is_usable(self) -> Self:
        if self.minimum > self.maximum:
            raise ValueError(
                f"minimum {self.minimum} is greater than maximum {self.maximum}; exchange the two"
            )
        if self.maximum - self.minimum >= MAX_ALTERNATIVES:
            raise ValueError(
                f"{self.minimum}..{self.maximum} has {self.maximum - self.minimum + 1} values, at "
                f"most {MAX_ALTERNATIVES} can be drawn from; narrow the range"
            )
        return self

    @property
    def label(self) -> str:
        """E.g. `nondet 1..6`."""
        return f"nondet {self.minimum}..{self.maximum}"

    def alternatives(self, time: int) -> tuple[int, ...]:
        """Return minimum, minimum + 1, ..., maximum."""
        return tuple(range(self.minimum, self.maximum + 1))

    def largest(self, ticks: int) -> int:
        """Return the maximum."""
        return self.maximum


class Wave(_Formula):
    """From minimum up by `increment` per time unit for points // 2 time units, then down again.

    With minimum 1, increment 1 and 6 points: 1, 2, 3, 4, 3, 2, 1, 2, ... An odd number of points
    visits the minimum twice in a row (5 points: 1, 2, 3, 2, 1, 1, 2, ...).
    """

    fragment: ClassVar[str] = "patterns/wave.j2"
    form: ClassVar[str] = "wave {minimum}+{increment}x{points}"

    pattern: Literal["wave"] = "wave"
    minimum: Value = Field(
        json_schema_extra=UNIT_OUTSIDE, description="value at the bottom of the wave"
    )
    increment: Value = Field(
        json_schema_extra=UNIT_OUTSIDE, description="change from one time unit to the next"
    )
    points: Points

    @model_validator(mode="after")
    def _top_is_in_range(self) -> Self:
        require_in_range(self.largest(self.points), "top of the wave")
        return self

    def at(self, time: int) -> int:
        """Return the point of the wave at this time unit."""
        top = self.points // 2
        step = time % self.points
        return self.minimum + self.increment * (step if step <= top else 2 * top - step)

    def largest(self, ticks: int) -> int:
        """Return the top of the wave."""
        return self.minimum + self.increment * (self.points // 2)


class Ascending(_Formula):
    """A saw tooth: from minimum up by `increment` per time unit, over again after `points`."""

    fragment: ClassVar[str] = "patterns/ascending.j2"
    form: ClassVar[str] = "ascending {minimum}+{increment}x{points}"

    pattern: Literal["ascending"] = "ascending"
    minimum: Value = Field(json_schema_extra=UNIT_OUTSIDE, description="first value")
    increment: Value = Field(
        json_schema_extra=UNIT_OUTSIDE, description="change from one time unit to the next"
    )
    points: Points

    @model_validator(mode="after")
    def _top_is_in_range(self) -> Self:
        require_in_range(self.largest(self.points), "last value")
        return self

    def at(self, time: int) -> int:
        """Return minimum + increment * (time mod points)."""
        return self.minimum + self.increment * (time % self.points)

    def largest(self, ticks: int) -> int:
        """Return the last value before the pattern starts again."""
        return self.minimum + self.increment * (self.points - 1)


class Descending(_Formula):
    """A saw tooth: from maximum down by `decrement` per time unit, never below 0."""

    fragment: ClassVar[str] = "patterns/descending.j2"
    form: ClassVar[str] = "descending {maximum}-{decrement}x{points}"

    pattern: Literal["descending"] = "descending"
    maximum: Value = Field(json_schema_extra=UNIT_OUTSIDE, description="first value")
    decrement: Value = Field(
        json_schema_extra=UNIT_OUTSIDE, description="change from one time unit to the next"
    )
    points: Points

    @model_validator(mode="after")
    def _bottom_is_in_range(self) -> Self:
        # The model computes the value below 0 before it cuts it off.
        require_in_range(self.decrement * (self.points - 1), "whole descent")
        return self

    def at(self, time: int) -> int:
        """Return maximum - decrement * (time mod points), at least 0."""
        return max(0, self.maximum - self.decrement * (time % self.points))

    def largest(self, ticks: int) -> int:
        """Return the maximum."""
        return self.maximum


class Linear(_Formula):
    """Lengths: time * multiplier, without end.

    The thesis calls it exponential, and that name is accepted; what its models compute is this
    line. The job of time unit 0 has length 0 and so dies in the queue.
    """

    fragment: ClassVar[str] = "patterns/linear.j2"
    form: ClassVar[str] = "linear x{multiplier}"

    pattern: Annotated[Literal["linear", "exponential"], AfterValidator(lambda _: "linear")] = (
        "linear"
    )
    multiplier: Value = Field(
        json_schema_extra=unit("time units per time unit"), description="growth of the length"
    )

    def at(self, time: int) -> int:
        """Return time * multiplier."""
        return time * self.multiplier

    def largest(self, ticks: int) -> int:
        """Return the value of the last time unit."""
        return max(0, ticks - 1) * self.multiplier


class Geometric(_Formula):
    """Lengths: base * ratio**k at the k-th time unit of each period of `points` time units."""

    fragment: ClassVar[str] = "patterns/geometric.j2"
    form: ClassVar[str] = "geometric {base}*{ratio}x{points}"

    pattern: Literal["geometric"] = "geometric"
    base: Value = Field(json_schema_extra=UNIT_OUTSIDE, description="first value")
    ratio: int = Field(
        ge=1, le=MAX_LENGTH, json_schema_extra=NO_UNIT, description="growth factor per time unit"
    )
    points: Points

    @model_validator(mode="after")
    def _last_is_in_range(self) -> Self:
        require_in_range(self.largest(self.points), "last value base * ratio**(points - 1)")
        return self

    def at(self, time: int) -> int:
        """Return base * ratio**(time mod points)."""
        value: int = self.base * self.ratio ** (time % self.points)
        return value

    def largest(self, ticks: int) -> int:
        """Return the last value before the pattern starts again."""
        return self.at(self.points - 1)

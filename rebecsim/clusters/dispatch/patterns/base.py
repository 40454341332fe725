"""The base of workload patterns, and the largest numbers that patterns may use."""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Annotated, ClassVar, get_args

from pydantic import BaseModel, ConfigDict, Field

from rebecsim.studies.units import unit

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

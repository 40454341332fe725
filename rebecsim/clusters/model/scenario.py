"""Scenarios of the kind `model`: which model, what to observe of it, and what to vary.

A small one is

    kind = "model"
    name = "fresh"
    model = "sensor_network.rebeca"
    until = 100

    [sweep]
    FRESH = [4, 5, 6]

    [[observe]]
    waits = "gateway.reading"

Every key stands below with its meaning. The path of the model starts from the folder of the
scenario file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from rebecsim.simulation import MessageOrder, Outcome
from rebecsim.studies.scenario import (
    NO_UNIT,
    StudyScenario,
    Table,
    entry_error,
    within,
    without_duplicates,
)
from rebecsim.studies.simulated import Order, message_order
from rebecsim.studies.sweeps import MAX_COMBINATIONS, SweepField

_WHAT = ("value", "served", "waits", "misses", "first", "outcome", "measure")
_LONGEST_NAME = 40

Swept = int | float | bool
"""What a constant or an argument may be."""


class Observe(Table):
    """Something to be observed in every run: one of the first seven keys says what."""

    value: str | None = Field(
        None,
        max_length=1_000,
        description="what a state variable is when a run ends, such as `office.left`, or an "
        "expression over several, as in property files",
    )
    served: str | None = Field(
        None,
        description="how many messages are served: of a message server, such as `office.buy`, or "
        "`Customer.ticket` for all rebecs of a class",
    )
    waits: str | None = Field(
        None, description="how long messages of a message server wait, from arrival on"
    )
    misses: str | None = Field(
        None, description="how many messages are late: of a message server, or of `all`"
    )
    first: str | None = Field(
        None,
        max_length=1_000,
        description="when a condition over state variables holds for the first time",
    )
    outcome: Literal[Outcome, "finished", "deadlock"] | None = Field(
        None, description="how many of the runs end in this way"
    )
    measure: str | None = Field(
        None,
        description="wait, service time, queue length, utilisation, throughput, from the "
        "start: of a message server, or a rebec that counts `waiting` and `busy`",
    )
    every: Annotated[int | None, within(1, 2**53, "time units")] = Field(
        None,
        description="of a `value`: follow it over time, by its values each time that so much has "
        "passed",
    )
    changes: bool = Field(
        False, description="of a `value`: follow it over time, by all its changes"
    )
    name: str = Field(
        "",
        pattern=r"^([a-z][a-z0-9_]*)?$",
        max_length=_LONGEST_NAME,
        description="what columns are called; made from the text unless given",
    )
    title: str = Field(
        "", max_length=80, description="heading in tables; made from the text unless given"
    )
    better: Literal["lower", "higher", "neither"] | None = Field(
        None, description="which values are better; lower for `waits` and `misses`, else neither"
    )

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        given = [name for name in _WHAT if getattr(self, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            raise ValueError(f"give exactly one of {', '.join(_WHAT)}, found {found}")
        if (self.every is not None or self.changes) and self.value is None:
            raise ValueError(f"every and changes are for a value; remove them from {given[0]}")
        if self.better is not None and self.measure is not None:
            raise ValueError("better is for a single figure; remove it from measure")
        if self.every is not None and self.changes:
            raise ValueError("give every or changes, not both")
        return self

    @property
    def what(self) -> str:
        """Which of the keys it has."""
        return next(name for name in _WHAT if getattr(self, name) is not None)

    @property
    def text(self) -> str:
        """What that key says."""
        return str(getattr(self, self.what))

    @property
    def is_followed(self) -> bool:
        """Whether it is followed over time."""
        return self.every is not None or self.changes

    @property
    def label(self) -> str:
        """How it is called in errors."""
        return f'{self.what} = "{self.text}"'

    @property
    def column(self) -> str:
        """How its columns are called."""
        if self.name:
            return self.name
        before = {"value": "", "waits": "wait_"}.get(self.what, f"{self.what}_")
        slug = re.sub(r"[^a-z0-9]+", "_", f"{before}{self.text}".lower()).strip("_")
        slug = slug if slug[:1].isalpha() else f"{self.what}_{slug}"
        return slug[:_LONGEST_NAME].rstrip("_")


class ModelScenario(StudyScenario):
    """A model with what is to be observed in its runs, and the values it is run with."""

    unlisted: ClassVar[frozenset[str]] = frozenset({"text"})
    fixed: ClassVar[frozenset[str]] = frozenset(
        {"model", "text", "core", "observe", "compared_with"}
    )

    kind: Literal["model"] = Field("model", description="the kind of study")
    model: str = Field(
        min_length=1,
        description="the model, .rebeca or .py; from the scenario's folder. A .py file is a "
        "program, which is executed",
    )
    until: Annotated[int | None, within(0, 2**53, "time units")] = Field(
        None, description="the last time at which messages are served"
    )
    steps: Annotated[int | None, within(1, 10**9, "messages")] = Field(
        None, description="most messages served in a run"
    )
    core: bool = Field(False, description="read the model as Core Rebeca, which is untimed")
    deadline_misses: Literal["end", "count"] = Field(
        "end",
        description="end: a message whose deadline has passed ends the run; count: it is served "
        "like others",
    )
    terminal: str | None = Field(
        None,
        description="how a run may end: one in which no message is left is finished if this holds, "
        "and else a deadlock; unless given, it has just ended",
    )
    order: Order = Field(
        "random",
        description="which of the messages of one time are served first: random, fifo, or, with a "
        "tick, updates-first or ticks-first",
    )
    tick: str | None = Field(
        None,
        description="the message server that passes time, such as `tick`: the orders updates-first "
        "and ticks-first serve its messages last and first",
    )
    choice_law: Literal["fair", "rmc"] = Field(
        "fair",
        description="fair: alternatives of a choice are equally likely; rmc: the last one of k "
        "has probability 2/(k+1), as in the code that RMC generates",
    )
    sweep: SweepField = Field(
        {},
        validate_default=True,
        json_schema_extra=NO_UNIT,
        description="values that env constants, as in `FRESH`, constructor arguments, as in "
        "`east.phase`, and keys of this file, as in `until`, take in turn: each a list, or a range "
        "such as { from = 1, to = 5, step = 1 }",
    )
    compared_with: Annotated[int | None, within(1, MAX_COMBINATIONS)] = Field(
        None,
        description="number of the variant that all others are compared with, from 1; without it "
        "every two are compared, of more than five variants all with the first",
    )
    observe: Annotated[tuple[Observe, ...], Field(strict=False)] = Field(
        (), description="what to observe in every run"
    )
    text: str | None = Field(
        None,
        description="the text of the model: rebecsim writes it into the record of a run, so that "
        "nothing else is needed to read it",
    )

    _no_duplicates = field_validator("observe")(without_duplicates)

    def completed(self, folder: Path) -> Self:
        """Read the model, and see whether what is asked for fits it."""
        from rebecsim.clusters.model.study import completed_scenario

        return completed_scenario(self, folder)

    @field_validator("observe")
    @classmethod
    def _different_names(cls, entries: tuple[Observe, ...]) -> tuple[Observe, ...]:
        places: dict[str, int] = {}
        for place, column in enumerate(each.column for each in entries):
            if (first := places.setdefault(column, place)) < place:
                text = f"is called {column}, as entry {first} is; give one of them a name"
                raise entry_error("same_name", place, text)
        return entries

    @model_validator(mode="after")
    def _has_an_end(self) -> Self:
        if self.until is None and self.steps is None:
            raise ValueError("say when a run ends: give until (the last time), steps, or both")
        if self.order not in ("random", "fifo") and self.tick is None:
            raise ValueError(f"the order {self.order} needs a tick: name a message server")
        variants = math.prod(map(len, self.varied.values()))
        if self.compared_with is not None and self.compared_with > variants:
            raise ValueError(f"compared_with is {self.compared_with} of {variants} variants")
        return self

    @property
    def swept(self) -> Mapping[str, tuple[Any, ...]]:
        """The keys of the file that take several values, and these."""
        return {name: values for name, values in self.sweep.items() if _is_key(name)}

    @property
    def varied(self) -> Mapping[str, tuple[Any, ...]]:
        """The constants and arguments of the model that take several values, and these."""
        return {name: values for name, values in self.sweep.items() if not _is_key(name)}

    @property
    def orders(self) -> tuple[Order, ...]:
        """The orders of messages that it can be run in."""
        return ("random", *(("updates-first", "ticks-first") if self.tick else ()), "fifo")

    @property
    def message_order(self) -> MessageOrder:
        """The order of messages that it is run in."""
        return message_order(self.order, self.tick)


def _is_key(name: str) -> bool:
    """Whether a key of a sweep is one of the file; any other is about the model."""
    return re.split(r"[.\[]", name, maxsplit=1)[0] in ModelScenario.model_fields

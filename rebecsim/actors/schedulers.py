"""Schedulers resolve nondeterminism: they pick the next step and the value of each choice.

The choices of a run are its record, by which it can be replayed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from rebecsim.actors.randomness import (
    ORDER_STREAM,
    ChoiceLaw,
    Streams,
    choice_stream,
    drawing,
)
from rebecsim.actors.rebec import Message, PlainMessage, Rebec
from rebecsim.actors.semantics import count_alternatives, steps
from rebecsim.distributions import Distribution, Weighted
from rebecsim.errors import UserError
from rebecsim.files import read_json

Record = TypeVar("Record")


class Choice(NamedTuple):
    """One choice: of the next step ("step") or of a value ("value"), which one of how many.

    Steps are numbered as `rebecsim.actors.enabled` lists them, values as `?(...)` does.
    """

    kind: Literal["step", "value"]
    chosen: int
    alternatives: int


class ReplayError(UserError):
    """A recorded run does not fit the model that it is replayed on."""


@dataclass(frozen=True)
class Run:
    """The choices of a run, in order; enough to do it again.

    `priorities` says whether the priorities of rebecs counted when steps were enabled, `until` up
    to what model time messages were served, if there was such a limit.
    """

    choices: tuple[Choice, ...]
    priorities: bool = True
    until: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Give the run as plain lists and values."""
        limit = {} if self.until is None else {"until": self.until}
        choices = [list(choice) for choice in self.choices]
        return {"priorities": self.priorities, **limit, "choices": choices}

    @classmethod
    def from_json(cls, data: object) -> Run:
        """Read what `to_json` gave. Raises ReplayError, naming the position, for anything else."""
        match data:
            case {"priorities": bool(priorities), "choices": list(rows), **others}:
                choices = tuple(_choice(position, row) for position, row in enumerate(rows))
                return cls(choices, priorities, _limit(others.get("until")))
        raise ReplayError("a recorded run is an object with `priorities` and `choices`")


def read_record(path: Path, read: Callable[[object], Record]) -> Record:
    """Read what a file has as JSON.

    Raises ReplayError, naming the file, as `read` does, and LimitError for too large a file.
    """
    try:
        return read(read_json(path))
    except OSError as error:
        raise ReplayError(f"{path}: {error.strerror}") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ReplayError(f"{path}: is not JSON: {error}") from error
    except ValueError as error:
        raise ReplayError(f"{path}: {error}") from error
    except ReplayError as error:
        raise ReplayError(f"{path}: {error}") from error


def _limit(until: object) -> int | None:
    if until is None or (type(until) is int and until >= 0):
        return until
    raise ReplayError(f"`until`: must be a whole number, 0 or more, not {until!r}")


def _choice(position: int, row: object) -> Choice:
    match row:
        case ["step" | "value" as kind, int(chosen), int(alternatives)] if (
            0 <= chosen < alternatives
        ):
            return Choice(kind, chosen, alternatives)
    raise ReplayError(f"choice {position}: {row!r} must be [kind, chosen, alternatives]")


Pick = tuple[Rebec, PlainMessage]
"""A step, or the same without names, where one is made for each message."""


class Scheduler(Protocol):
    """One way to run a model. `priorities`: whether the priorities of rebecs count."""

    priorities: bool

    def pick(self, rebecs: list[Rebec]) -> Pick | None:
        """Give the next step of one of the ready rebecs (at least one), or None to stop."""

    def choose(self, rebec: Rebec, alternatives: Sequence[Any], site: int) -> int:
        """Give the index of the alternative of a choice that is taken."""


class RandomValues:
    """Choices drawn at random under a choice law, from a stream of their own for each site."""

    def __init__(self, streams: Streams, choice_law: ChoiceLaw = "fair") -> None:
        self._streams = streams
        self._choice_law: ChoiceLaw = choice_law
        self._drawing: dict[tuple[int, int], Callable[[int], int]] = {}

    def choose(self, rebec: Rebec, alternatives: Sequence[Any], site: int) -> int:
        """Draw an alternative; weights say more than the law."""
        if isinstance(alternatives, Weighted):
            stream = self._streams[choice_stream(rebec._index, site)]
            if isinstance(alternatives, Distribution):
                return alternatives.place(stream.fraction())
            return stream.weighted(alternatives.shares)
        draw = self._drawing.get((rebec._index, site))
        if draw is None:
            stream = self._streams[choice_stream(rebec._index, site)]
            draw = self._drawing[rebec._index, site] = drawing(stream, self._choice_law)
        return draw(len(alternatives))


class FirstValues:
    """Choices that always take their first alternative."""

    def choose(self, rebec: Rebec, alternatives: Sequence[Any], site: int) -> int:
        """Give 0."""
        return 0


class RandomScheduler:
    """A rebec uniformly among those that may act, then a message uniformly among its alternatives.

    The messages of one arrival are so served in a uniformly random order as long as no new ones
    come. Under the law `rmc` the priorities of rebecs are ignored, as RMC's trace generator does.
    """

    def __init__(self, streams: Streams, choice_law: ChoiceLaw = "fair") -> None:
        self.place = streams[ORDER_STREAM].below
        self.priorities = choice_law != "rmc"
        self.choose = RandomValues(streams, choice_law).choose

    def pick(self, rebecs: list[Rebec]) -> Pick:
        """Draw the next step."""
        rebec = rebecs[self.place(len(rebecs))]
        messages = rebec._bag.messages
        return rebec, messages[self.place(count_alternatives(messages, rebec._system.model.core))]


class RankedScheduler(RandomScheduler):
    """Messages of the lowest rank go first; what ties is drawn as `RandomScheduler` draws it.

    A rank only decides between messages that may be served at the same time anyway.
    """

    def __init__(
        self, streams: Streams, choice_law: ChoiceLaw, rank: Callable[[Message], int]
    ) -> None:
        super().__init__(streams, choice_law)
        self._rank = rank

    def pick(self, rebecs: list[Rebec]) -> Pick:
        """Draw the next step among those of the lowest rank."""
        possible = steps(rebecs)
        lowest = min(self._rank(step.message) for step in possible)
        first = [step for step in possible if self._rank(step.message) == lowest]
        candidates = list(dict.fromkeys(step.rebec for step in first))
        rebec = candidates[self.place(len(candidates))]
        own = [step for step in first if step.rebec is rebec]
        return own[self.place(len(own))]


class FifoScheduler:
    """The enabled message that was sent first is served first; `values` resolves the choices."""

    priorities = True

    def __init__(self, values: RandomValues | FirstValues | None = None) -> None:
        self.choose = (values or FirstValues()).choose

    def pick(self, rebecs: list[Rebec]) -> Pick:
        """Give the step whose message was sent first.

        Of the alternatives of a rebec that is the first one: bags are sorted like that.
        """
        rebec = min(rebecs, key=lambda each: each._bag.messages[0][2])
        return rebec, rebec._bag.messages[0]


class Recorder:
    """Notes the choices that another scheduler makes."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._choices: list[Choice] = []
        self.priorities = scheduler.priorities

    @property
    def run(self) -> Run:
        """The choices so far."""
        return Run(tuple(self._choices), self.priorities)

    def pick(self, rebecs: list[Rebec]) -> Pick | None:
        """Let the scheduler pick, and note the step."""
        step = self._scheduler.pick(rebecs)
        if step is not None:
            possible: list[Pick] = [*steps(rebecs)]
            self._choices.append(Choice("step", possible.index(step), len(possible)))
        return step

    def choose(self, rebec: Rebec, alternatives: Sequence[Any], site: int) -> int:
        """Let the scheduler choose, and note the alternative."""
        index = self._scheduler.choose(rebec, alternatives, site)
        self._choices.append(Choice("value", index, max(index + 1, len(alternatives))))
        return index


class ReplayScheduler:
    """Does a recorded run again, and stops where its record ends.

    `pick` and `choose` raise ReplayError, naming the position, where the model has other
    alternatives than the recorded run had.
    """

    def __init__(self, run: Run) -> None:
        self._choices = run.choices
        self._position = 0
        self.priorities = run.priorities

    def pick(self, rebecs: list[Rebec]) -> Pick | None:
        """Give the recorded step, or None at the end of the record."""
        if self._position == len(self._choices):
            return None
        possible = steps(rebecs)
        return possible[self._next("step", len(possible))]

    def choose(self, rebec: Rebec, alternatives: Sequence[Any], site: int) -> int:
        """Give the recorded alternative."""
        drawn = isinstance(alternatives, Distribution)  # behind the values that stand for all
        return self._next("value", len(alternatives), drawn)

    def _next(self, kind: str, count: int, drawn: bool = False) -> int:
        here = f"choice {self._position}"
        if self._position == len(self._choices):
            raise ReplayError(f"{here}: the record ends, but the model chooses a {kind}")
        choice = self._choices[self._position]
        fits = choice.alternatives == count or (drawn and choice.alternatives > count)
        if choice.kind != kind or not fits:
            raise ReplayError(
                f"{here}: the record has a {choice.kind} of {choice.alternatives}, "
                f"the model a {kind} of {count}; is it a run of this model?"
            )
        self._position += 1
        return choice.chosen

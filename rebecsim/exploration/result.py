"""The result of an exploration, with the verdict on each property."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from rebecsim.actors.values import plain
from rebecsim.exploration.checks import Bound
from rebecsim.exploration.paths import Path
from rebecsim.exploration.properties import Deciding
from rebecsim.exploration.states.effects import Verdict
from rebecsim.exploration.states.transitions import Mode
from rebecsim.native.engines import EngineUsed
from rebecsim.wording import counted

PropertyKind = Literal["assertion", "ltl", "tctl"]
PropertyWord = Literal["satisfied", "violated", "unknown"]


@dataclass(frozen=True)
class PropertyVerdict:
    """What was decided about one property of a file.

    Attributes:
        name: of the property.
        kind: assertion, or its logic.
        verdict: unknown, where a limit kept it from being decided.
        mode: the transition system in which it was judged.
        run: for a formula that is violated, a run on which it does not hold; for one that is
            satisfied, a run that shows it, if one run can.
        standing: whether it is unknown as it holds on all runs in which time advances; the run is
            one in which it does not, and on which the formula does not hold.
        note: why it is unknown, or nothing.
    """

    name: str
    kind: PropertyKind
    verdict: PropertyWord
    mode: str
    run: Path | None = None
    standing: bool = False
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Give the verdict as plain values, without the run."""
        return {name: value for name, value in vars(self).items() if name != "run"}


@dataclass(frozen=True)
class Violated:
    """Something forbidden that can happen, the path to it, and how often it was met."""

    verdict: Verdict
    message: str
    path: Path | None
    count: int


@dataclass(frozen=True)
class Ends:
    """States in which a run has ended: no message is left, and no message server is under way.

    `states` counts them, `path` is a way to the one found first, and `every_run` says whether every
    run comes to one; None if that is not decided.
    """

    states: int
    path: Path
    every_run: bool | None

    @property
    def text(self) -> str:
        """Say how runs end."""
        ended = f"{counted(self.states, 'state has', 'states have')} no message left"
        return f"{'every run ends' if self.every_run else 'a run may end'}: {ended}"


_WRITTEN = (
    *("model", "mode", "strategy", "engine", "omission", "verdict", "message", "looked_for"),
    *("given_properties", "depth", "time", "states", "transitions", "frontier", "seconds"),
    *("peak_memory", "memory_per_state", "bounds", "abstraction"),
)


@dataclass(frozen=True)
class Result:
    """The verdict on a model and how it was reached.

    `transitions` counts as RMC does: the edges explored, and one for the initial state. `seconds`
    is wall time; `peak_memory` the most memory that the process has ever taken up, before the
    search too, and `memory_per_state` its growth by the search per state, both in bytes.
    `violations` are all that were found, the first one also being verdict, message and path.
    `bounds` are those that kept the search from covering everything; then `depth` is how many
    transitions lead to the state found last, and `time` its time, where states have one.
    `looked_for` names what counts as a violation; a property of the user is among
    `given_properties`, their number. `abstraction` names the
    variables left out of the state: what the verdict says, it says of the model without them.
    `deciding` are those of them that decide something, so that it may be another one with them.
    `absolute_time` is why states were not compared modulo time (a message server that reads it, or
    the horizon), otherwise None. `symmetries` is how many exchanges of rebecs and names, the
    trivial one included, were used to reduce the state space; the counts are those of the reduced.
    `growing` names what had ever new values when a search was cut off, see
    `rebecsim.exploration.cycles`. `standstill` is a cycle without time among the states that were
    expanded; None if there is none, or if that is not decided. `engine` is "native" if compiled
    code did the search, or went on with it. `omission` bounds the probability that hash compaction
    missed states; it is 0 without. `hidden_in_delays` are properties of states that may not hold
    during a `delay`, which floating time has no states of. `not_evaluated` names formulas of the
    property file that the verdict says nothing of, `properties` are the verdicts on all the others
    of the file. `ends` are the states in which runs end; None if there are none, or if something
    is violated. `finals` are a variable and the values it has there, each once, if that was asked.
    `cut` says of each distribution which values were tried, if these were not all.
    """

    model: str
    mode: Mode
    strategy: str
    verdict: Verdict
    message: str
    seconds: float
    peak_memory: int
    abstraction: tuple[str, ...]
    states: int = 0
    transitions: int = 0
    frontier: int = 0
    memory_per_state: float = 0.0
    looked_for: tuple[str, ...] = ()
    given_properties: int = 0
    depth: int | None = None
    time: int | None = None
    path: Path | None = None
    violations: tuple[Violated, ...] = ()
    bounds: tuple[Bound, ...] = ()
    absolute_time: str | None = None
    symmetries: int = 1
    growing: tuple[str, ...] = ()
    standstill: Path | None = None
    standstill_decided: bool = True
    engine: EngineUsed = "python"
    omission: float = 0.0
    deciding: tuple[Deciding, ...] = ()
    hidden_in_delays: tuple[str, ...] = ()
    not_evaluated: tuple[str, ...] = ()
    properties: tuple[PropertyVerdict, ...] = ()
    ends: Ends | None = None
    finals: tuple[str, tuple[Any, ...]] | None = None
    cut: tuple[str, ...] = ()

    @property
    def has_reservation(self) -> bool:
        """Whether nothing is wrong as far as was asked, but something left aside may be."""
        standing = any(each.standing for each in self.properties)
        return self.verdict == "satisfied" and bool(self.deciding or self.not_evaluated or standing)

    @property
    def is_violation(self) -> bool:
        """Whether the model can do what it must not."""
        return self.verdict not in ("satisfied", "undecided")

    def to_json(self) -> dict[str, Any]:
        """Give the verdict and the figures as plain values."""
        cut = {"cut": list(self.cut)} if self.cut else {}
        return (
            {name: plain(getattr(self, name)) for name in _WRITTEN}
            | cut
            | {
                "deciding": list(map(vars, self.deciding)),
                "hidden_in_delays": list(self.hidden_in_delays),
                "not_evaluated": list(self.not_evaluated),
                "absolute_time": self.absolute_time,
                "growing": list(self.growing),
                "standstill_decided": self.standstill_decided,
                "ends": None
                if self.ends is None
                else {"states": self.ends.states, "every_run": self.ends.every_run},
            }
        )

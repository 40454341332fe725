"""Log a live run: each message served, what it sent, how late it was, how the run ended.

Scheduling jitter is reported, not hidden.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from rebecsim.actors import Message, Rebec, ReplayError
from rebecsim.actors.schedulers import read_record
from rebecsim.actors.values import plain
from rebecsim.files import write_json
from rebecsim.simulation import OUTCOMES, VIOLATIONS, Event, Outcome as SimulatedOutcome

FORMAT = "rebecsim live run 1"

LiveOutcome = Literal["failed", "not answering", "interrupted"]
Outcome = SimulatedOutcome | LiveOutcome
ENDINGS: tuple[Outcome, ...] = (*OUTCOMES, *get_args(LiveOutcome))


@dataclass(frozen=True)
class Sent:
    """A message on its way. Times are model time units; the arguments are plain values."""

    receiver: str
    server: str
    arguments: tuple[Any, ...]
    arrival: int
    deadline: int | None

    @classmethod
    def of(cls, receiver: Rebec, message: Message) -> Sent:
        """Describe a message to a rebec."""
        arguments = tuple(map(plain, message.arguments))
        name = message.server.name
        return cls(str(receiver), name, arguments, message.arrival, message.deadline)


@dataclass(frozen=True)
class Served:
    """A message served: the event as in any trace, and what was sent meanwhile.

    `late` is by how many seconds of real time it was served after its time; 0 in virtual time.
    """

    event: Event
    sent: tuple[Sent, ...]
    late: float = 0.0


@dataclass(frozen=True)
class Ending:
    """Why a run ended, and the text that explains it.

    `rebec` and `server` name what was being served when an actor failed or did not answer; that
    message is not in the log, since it was not served.
    """

    outcome: Outcome
    detail: str = ""
    rebec: str = ""
    server: str = ""

    @property
    def is_violation(self) -> bool:
        """Whether the model forbids what happened, or has a mistake in Python."""
        return self.outcome in (*VIOLATIONS, "failed", "not answering")


@dataclass(frozen=True)
class Log:
    """A live run: messages in the order in which they took effect, and how it ended.

    `until` and `max_steps` are the limits it had. `speed` is in model time units a second, 0 in
    virtual time; `seed` is where the random numbers started.
    """

    model: str
    core: bool
    speed: float
    seed: int
    until: int | None
    max_steps: int | None
    served: tuple[Served, ...]
    ending: Ending

    def to_json(self) -> dict[str, Any]:
        """Give what is written as JSON; the names of arguments are those of the model."""
        return {
            "format": FORMAT,
            **{name: getattr(self, name) for name in _HEAD},
            "ending": vars(self.ending),
            "served": [
                {name: getattr(each.event, name) for name in _EVENT}
                | {"sent": [*map(vars, each.sent)], "late": each.late}
                for each in self.served
            ],
        }

    @classmethod
    def from_json(cls, data: object) -> Log:
        """Read what `to_json` gave. Raises ReplayError, naming the place, for anything else."""
        match data:
            case {"format": str(form)} if form != FORMAT:
                raise ReplayError(f"`format` is {form!r}, not {FORMAT!r}")
            case {"format": str(), "ending": dict(ending), "served": list(rows), **rest}:
                head = _checked("the run", rest, _HEAD)
                return cls(
                    **head,
                    served=tuple(_served(row, place) for place, row in enumerate(rows, 1)),
                    ending=_ending(ending),
                )
        raise ReplayError("a live run is an object with `format`, `model`, `served` and `ending`")


# --- reading -------------------------------------------------------------------------------------

_Kinds = Mapping[str, tuple[type, ...]]

_JSON: _Kinds = {
    "str": (str,),
    "Outcome": (str,),
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
    "int | None": (int, type(None)),
    "tuple[Any, ...]": (list,),
    "tuple[int, ...]": (list,),
    "dict[str, Any]": (dict,),
}
"""What stands in a file for a field of this type."""


def _kinds(record: type, left_out: Collection[str] = ()) -> _Kinds:
    return {
        each.name: _JSON[str(each.type)] for each in fields(record) if each.name not in left_out
    }


_HEAD = _kinds(Log, left_out=("served", "ending"))
_SENT = _kinds(Sent)
_EVENT = _kinds(Event, left_out=("parameters",))


def _checked(place: str, data: object, kinds: _Kinds) -> dict[str, Any]:
    """Give the values of these keys, lists as tuples. Raises ReplayError for a wrong one."""
    if not isinstance(data, dict):
        raise ReplayError(f"{place}: is not an object")
    found: dict[str, Any] = {}
    for name, wanted in kinds.items():
        if name not in data:
            raise ReplayError(f"{place}: `{name}` is missing")
        value = data[name]
        if type(value) not in wanted:
            raise ReplayError(f"{place}: `{name}` cannot be {value!r}")
        found[name] = tuple(value) if type(value) is list else value
    return found


def _served(row: object, place: int) -> Served:
    where = f"message {place}"
    event = Event(**_checked(where, row, _EVENT), parameters=())
    if not all(type(index) is int and index >= 0 for index in event.choices):
        raise ReplayError(f"{where}: `choices` are the numbers of alternatives, from 0")
    if len(event.drawn) != len(event.choices):
        raise ReplayError(f"{where}: `drawn` are the values of `choices`, one for each")
    rest = _checked(where, row, {"sent": (list,), "late": (int, float)})
    sent = tuple(Sent(**_checked(f"{where}, `sent`", each, _SENT)) for each in rest["sent"])
    return Served(event, sent, rest["late"])


def _ending(data: dict[Any, Any]) -> Ending:
    found = _checked("`ending`", data, _kinds(Ending))
    if found["outcome"] not in ENDINGS:
        raise ReplayError(f"`ending`: there is no outcome {found['outcome']!r}")
    return Ending(**found)


# --- files ---------------------------------------------------------------------------------------


def save_log(path: Path, log: Log, choices: Mapping[str, Any]) -> None:
    """Write a run as JSON, all or nothing, with the choices that do the same in simulation.

    `choices` are those of `rebecsim.actors.Run.to_json`. Raises OSError.
    """
    write_json(path, {**log.to_json(), **choices})


def load_log(path: Path) -> Log:
    """Read a run. Raises ReplayError, naming the file, when it is none."""
    return read_record(path, Log.from_json)


@dataclass(frozen=True)
class Lateness:
    """The messages of a run that were served late in real time; their order is that of model time.

    `worst` is in seconds. `late` are those beyond the tolerance. `missed` are those that met their
    deadline in model time, but were served so late that it had passed in real time.
    """

    tolerance: float
    worst: float
    late: tuple[Served, ...]
    missed: tuple[Served, ...]


def lateness(log: Log, tolerance: float) -> Lateness | None:
    """Judge a run by a tolerance in seconds of real time; None for one in virtual time."""
    if not log.speed:
        return None
    return Lateness(
        tolerance,
        max((each.late for each in log.served), default=0.0),
        tuple(each for each in log.served if each.late > tolerance),
        tuple(each for each in log.served if _misses(each, log.speed)),
    )


def _misses(served: Served, speed: float) -> bool:
    deadline = served.event.deadline
    return deadline is not None and served.event.time + served.late * speed > deadline

"""The record of a run: every nondeterministic choice in it, to replay it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from rebecsim.errors import UserError
from rebecsim.limits import read_json

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

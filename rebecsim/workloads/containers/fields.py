"""Fields of an object of a trace: of the right type, or an error that names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from rebecsim.close_names import suggestion
from rebecsim.printable import has_half_characters
from rebecsim.workloads.containers.jobs import TaskKind
from rebecsim.workloads.errors import WorkloadError

LARGEST = 2**53
"""Whole numbers of JSON are exact up to here."""

_KINDS: dict[str, TaskKind] = {kind: kind for kind in get_args(TaskKind)}


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of an object, and where it stands, for errors.

    Attributes:
        values: by key.
        path: of the file.
        line: in which the object begins.
        what: what the object is, as `job_4, task 2`.
    """

    values: Mapping[str, Any]
    path: Path
    line: int
    what: str

    def of(self, values: Mapping[str, Any], what: str) -> Fields:
        """Give the fields of an object within this one."""
        return Fields(values, self.path, self.line, f"{self.what}, {what}")

    def named(self, what: str) -> Fields:
        """Give the same fields, of an object of which more is known."""
        return replace(self, what=what)

    def wrong(self, problem: str) -> WorkloadError:
        """Make the error for a problem of this object."""
        return WorkloadError.at(self.path, self.line, f"{self.what}: {problem}")

    def require_known(self, known: Iterable[str]) -> None:
        """Raise WorkloadError for a field that is not read."""
        names = tuple(known)
        for key in self.values:
            if key not in names:
                raise self.wrong(f"{key!r:.60} is not understood; {suggestion(key, names)}")

    def one_of(self, keys: Sequence[str]) -> str:
        """Give the one of some keys that is there, the first if none is; both would be one."""
        given = [key for key in keys if key in self.values]
        if len(given) > 1:
            raise self.wrong(f"{' and '.join(map(repr, given))} mean the same; give one of them")
        return given[0] if given else keys[0]

    def get(self, key: str) -> Any:
        """Give a field that must be there."""
        if key not in self.values:
            raise self.wrong(f"no {key!r}")
        return self.values[key]

    def whole(self, key: str, least: int, default: int | None = None) -> int:
        """Give a whole number; without a default it must be there."""
        value = self.values.get(key, default) if default is not None else self.get(key)
        if type(value) is not int or not least <= value <= LARGEST:
            from_on = f" from {least} on" if least > -LARGEST else ""
            raise self.wrong(f"{key!r} should be a whole number{from_on}, not {value!r:.40}")
        return value

    def whole_or_none(self, key: str, least: int) -> int | None:
        """Give a whole number, or None if it is not there."""
        return self.whole(key, least) if key in self.values else None

    def text(self, key: str, default: str | None = None) -> str:
        """Give a text that is not empty; without a default it must be there."""
        value = self.values.get(key, default) if default is not None else self.get(key)
        if not isinstance(value, str) or not (value or value == default):
            raise self.wrong(f"{key!r} should be a text, not {value!r:.40}")
        if has_half_characters(value):
            raise self.wrong(f"{key!r} has half of a character: {value!r:.40}")
        return value

    def objects(self, key: str) -> list[Mapping[str, Any]]:
        """Give a list of objects that must be there."""
        value = self.get(key)
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self.wrong(f"{key!r} should be a list of objects")
        return value


def task_kind(task: Fields, key: str, default: str | None = None) -> TaskKind:
    """Give what tasks do in a job. Raises WorkloadError."""
    kind = task.text(key, default)
    if kind.lower() not in _KINDS:
        raise task.wrong(f"{key!r} should be {' or '.join(_KINDS)}, not {kind!r:.40}")
    return _KINDS[kind.lower()]

"""Lines of slurm.conf and its like: `Key=value` pairs, comments, continued lines, included files.

A line that begins with a key such as NodeName describes one thing, and its other pairs belong to
it; pairs of other lines are settings of the cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rebecsim.clusters.slurm.files.hostlists import HostListError, expand
from rebecsim.errors import UserError
from rebecsim.files import read_file

_DEEPEST = 10
_PAIR = re.compile(r"\s*([A-Za-z][\w.]*)\s*([-+*/]?)=\s*(?:\"([^\"]*)\"|'([^']*)'|(\S*))(?=\s|$)")
_INCLUDE = re.compile(r"\s*include\s+(\S+)\s*", re.IGNORECASE)


class SlurmFileError(UserError):
    """A file that cannot be used. The text names file and line."""

    @classmethod
    def at(cls, file: str, line: int, problem: str) -> SlurmFileError:
        """Make the error for a line of a file, counted from 1."""
        return cls(f"{file}:{line}: {problem}")


@dataclass(frozen=True, slots=True)
class Pair:
    """A key and its value, as written, and where they stand."""

    key: str
    value: str
    file: str
    line: int

    def wrong(self, problem: str) -> SlurmFileError:
        """Make the error that says what is wrong with the value."""
        return SlurmFileError.at(self.file, self.line, f"{self.key}={self.value:.60}: {problem}")

    def hosts(self) -> tuple[str, ...]:
        """Read the value as a list of names. Raises SlurmFileError."""
        try:
            return expand(self.value)
        except HostListError as error:
            raise self.wrong(str(error)) from None

    def words(self) -> tuple[str, ...]:
        """Give what stands between the commas of the value, without what is empty."""
        return tuple(filter(None, (each.strip() for each in self.value.split(","))))


def read_text(path: Path, name: str = "") -> str:
    """Read a file of text. Raises UserError when it cannot be read, or is no text."""
    try:
        return read_file(path, name=name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SlurmFileError.at(
            name or str(path), line, "not UTF-8; write the file as UTF-8"
        ) from None
    except OSError as error:
        raise SlurmFileError(f"{name or path}: cannot be read: {error.strerror}") from None


def read_pairs(path: Path, more: str = "") -> Iterator[tuple[Pair, ...]]:
    """Give the pairs of each line that has some, in the order of the file and what it includes.

    Lines of a scenario, `more`, come last.

    Raises SlurmFileError, with file and line, for a line that is not made of pairs.
    """
    for file, number, text in _lines(path, 0):
        yield _pairs(text, file, number)
    for number, text in enumerate(more.splitlines(), 1):
        if text.strip():
            yield _pairs(text, "settings.lines", number)


def _lines(path: Path, depth: int) -> Iterator[tuple[str, int, str]]:
    if depth > _DEEPEST:
        raise SlurmFileError(f"{path}: files include each other more than {_DEEPEST} deep")
    text, begin = "", 0
    for number, line in enumerate(read_text(path).splitlines(), 1):
        begin = begin or number
        text += re.sub(r"(?<!\\)#.*", "", line)
        if text.endswith("\\"):
            text = text[:-1]
            continue
        included = _INCLUDE.fullmatch(text)
        if included:
            other = path.parent / included[1]
            if not other.exists():
                raise SlurmFileError.at(
                    str(path), begin, f"the included file {other} does not exist"
                )
            yield from _lines(other, depth + 1)
        elif text.strip():
            yield str(path), begin, text
        text, begin = "", 0
    if text.strip():
        yield str(path), begin, text


def _pairs(text: str, file: str, line: int) -> tuple[Pair, ...]:
    pairs, place = [], 0
    while text[place:].strip():
        found = _PAIR.match(text, place)
        if found is None:
            problem = f"{text[place:].strip():.40} is not of the form Key=value"
            raise SlurmFileError.at(file, line, problem)
        value = next((each for each in found.groups()[2:] if each is not None), "")
        pairs.append(Pair(found[1], value, file, line))
        place = found.end()
    return tuple(pairs)

"""Cells, a policy under conditions each, the rows of their replications, and sections of reports.

Plans, results and statistics are of cells. Rows are plain columns, which workers send back.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Entry = TypeVar("Entry")
Key = TypeVar("Key")

Value = str | int | float
"""What a coordinate may be."""


class Compared(NamedTuple):
    """What cells are compared by, in words: one of them, several of them."""

    one: str
    many: str


POLICIES = Compared("policy", "policies")
"""What is compared in most studies."""


@dataclass(frozen=True, slots=True, order=True)
class Condition:
    """What all policies are compared on, such as a workload on a cluster of some size.

    Attributes:
        coordinates: name and value of each coordinate, in the order of the kind.
    """

    coordinates: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, **coordinates: Value) -> Condition:
        """Make a condition of named values."""
        return cls(tuple(coordinates.items()))

    def __getitem__(self, name: str) -> Value:
        return dict(self.coordinates)[name]

    def __contains__(self, name: object) -> bool:
        return any(name == each for each, _ in self.coordinates)

    def __str__(self) -> str:
        return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in self.coordinates)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the coordinates."""
        return tuple(name for name, _ in self.coordinates)

    def only(self, names: Iterable[str]) -> Condition:
        """Leave the coordinates of these names."""
        kept = set(names)
        return Condition(tuple(pair for pair in self.coordinates if pair[0] in kept))

    def without(self, names: Iterable[str]) -> Condition:
        """Leave the coordinates of all other names."""
        dropped = set(names)
        return Condition(tuple(pair for pair in self.coordinates if pair[0] not in dropped))


EVERYWHERE = Condition()
"""The condition without coordinates, over which everything is pooled."""


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """A policy under a condition.

    Attributes:
        policy: name of the policy, as in "EDF".
        condition: what it ran on.
    """

    policy: str
    condition: Condition

    @classmethod
    def of(cls, policy: str, **coordinates: Value) -> Cell:
        """Make a cell of a policy and named values."""
        return cls(policy, Condition.of(**coordinates))

    def __getitem__(self, name: str) -> Value:
        return self.condition[name]

    def __str__(self) -> str:
        return f"{self.policy} ({self.condition})" if self.condition.coordinates else self.policy


def grouped(entries: Iterable[Entry], key: Callable[[Entry], Key]) -> dict[Key, list[Entry]]:
    """Divide what has the same key, in the order in which keys first appear."""
    groups: dict[Key, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(key(entry), []).append(entry)
    return groups


REPLICATION = "replication"
"""The column that says which run a row is of."""


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column of few words: `words[codes[i]]` stands in row i."""

    codes: NDArray[np.integer[Any]]
    words: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)


Column = NDArray[Any] | Sequence[Any] | Coded
Columns = Mapping[str, Column]


@dataclass(frozen=True)
class Rows:
    """Some consecutive replications of a cell.

    Attributes:
        columns: an entry for each replication, in their order: what was counted or measured.
        tables: further tables by name, with any number of rows for each replication; they have a
            column `REPLICATION`.
        engine: what ran them, where a kind has several engines.
    """

    columns: Columns
    tables: Mapping[str, Columns] = field(default_factory=dict)
    engine: str | None = None

    def __len__(self) -> int:
        """Give the number of replications."""
        return len(next(iter(self.columns.values())))


def joined_columns(parts: Sequence[Mapping[str, Any]]) -> dict[str, Column]:
    """Put the rows of several runs one below the other; all have the same words for codes."""
    return {name: _joined([part[name] for part in parts]) for name in parts[0]}


def _joined(parts: Sequence[Any]) -> Column:
    first = parts[0]
    if isinstance(first, Coded):
        return Coded(np.concatenate([part.codes for part in parts]), first.words)
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    return list(itertools.chain.from_iterable(parts))


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of texts.

    Attributes:
        title: what it shows.
        headings: of the columns, that of the first one included.
        rows: heading of a row, then its values.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]

    def under(self, condition: Condition) -> TextTable:
        """Name the condition in the title, if there is any."""
        title = ", ".join(filter(None, (self.title, str(condition))))
        return TextTable(title, self.headings, self.rows)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of the page.

    Attributes:
        name: of its files.
        title: its heading; without one, `caption` is the picture in words.
        caption: how to read it.
        draw: makes the figure; it is pickled, so that worker processes can draw.
        dots_per_inch: of the PNG file.
        is_wide: whether it takes the whole width of the page.
        is_small: whether it can be read on a phone without moving it.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[], Figure]
    dots_per_inch: int = 150
    is_wide: bool = True
    is_small: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """A part of the answer to what a user asks: what it is about, and what is found."""

    about: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a report.

    Attributes:
        name: identifier, for links.
        title: its heading.
        answer: what answers the user's question. The section then leads the report: the answer
            takes the place of the one by the first figure, and the other sections are folded.
        sentences: what is to be said first.
        tables: shown in their order.
        pictures: shown after the tables.
        notes: how to read it all.
        files: CSV files by name.
        terminal: what the terminal shows of it, something that `rich` can print; None: nothing.
        leads_terminal: whether a section with an answer leads there, too.
        further: what it shows of other conditions, by their names, where there is room.
    """

    name: str
    title: str
    answer: tuple[Answered, ...] = ()
    sentences: tuple[str, ...] = ()
    tables: tuple[TextTable, ...] = ()
    pictures: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    terminal: Any = None
    leads_terminal: bool = True
    further: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_shown(self) -> bool:
        """Whether the page shows anything of it."""
        return bool(self.answer or self.sentences or self.tables or self.pictures)


def leading_section(sections: Iterable[Section]) -> Section | None:
    """Give the section that answers what the user asks, if there is one."""
    return next((each for each in sections if each.answer), None)

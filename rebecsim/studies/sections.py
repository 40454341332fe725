"""Sections that a kind adds to reports: tables, sentences and pictures, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rebecsim.studies.cells import Condition

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    """

    name: str
    title: str
    caption: str
    draw: Callable[[], Figure]
    dots_per_inch: int = 150
    is_wide: bool = True


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

"""What `yarn`, `mapreduce` and `batch` print: first who waits longer, the rest on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from rebecsim.cli.app import complain, console, say
from rebecsim.wording import UnknownName, counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rebecsim.report.groups import GroupAnswer


@dataclass(frozen=True, kw_only=True)
class Showing:
    """How much is printed."""

    more: Annotated[
        bool, typer.Option("--more", help="Show all queues or users, and all other figures.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class ShowingFiles(Showing):
    """How much is printed, of files of schedulers too."""

    verbose: Annotated[
        bool, typer.Option("--verbose", help="List the settings that have no effect here.")
    ] = False

    def tell_idle(self, lines: Iterable[str]) -> None:
        """Say how many settings have no effect; list them if asked to.

        Those of unknown names are always listed: they may be typing mistakes.
        """
        idle = list(dict.fromkeys(lines))
        all_of_them = self.verbose or len(idle) == 1
        listed = [each for each in idle if all_of_them or isinstance(each, UnknownName)]
        for line in listed:
            complain(line)
        if left := len(idle) - len(listed):
            settings = counted(left, "setting has", "settings have")
            others = counted(left, "other setting has", "other settings have")
            complain(f"{others if listed else settings} no effect here; --verbose lists them")


SHORTLY_OF_FILES = ShowingFiles()
"""No more than the answer."""


def show_answer(
    answer: GroupAnswer, more: Callable[[], Sequence[RenderableType]], showing: Showing
) -> None:
    """Print the answer by queue or user; all other figures too, where one run or all are asked for.

    `more` makes the other tables.
    """
    from rebecsim.report.groups import group_view

    console().print(group_view(answer, showing.more))
    if showing.more or len(answer.runs) == 1:
        for table in more():
            console().print(table)
    else:
        say("All queues or users, and all other figures: --more.")

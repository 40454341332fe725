"""The steps of runs: as tables, row by row, and as tests to keep; what may happen next in words."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.table import Table
from rich.text import Text

from rebecsim.actors.values import change_texts, value_text
from rebecsim.simulation import Event, RunResult
from rebecsim.wording import counted

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from rebecsim.actors import Run
    from rebecsim.exploration import RebecState, Recorded
    from rebecsim.live import Alternative

_UNBOUNDED = 1_000_000
_LEAST = 12  # characters of a message column, however narrow the terminal is
_INDENT = "  "  # of changes below their message


class MessageRow(NamedTuple):
    """One message: what stands before its sender, whom it goes to, and what it changed."""

    before: tuple[str, ...]
    sender: str
    message: str
    deadline: str
    choices: str
    changed: tuple[str, ...]


class MessageTable:
    """A table without empty columns; changes stand below their messages if there is no room beside.

    `before` are the columns ahead of the sender. The last row is marked if it `ends_wrong`.
    """

    def __init__(
        self, before: Sequence[str], rows: Sequence[MessageRow], *, ends_wrong: bool = False
    ) -> None:
        self._before = tuple(before)
        self._rows = rows
        self._ends_wrong = ends_wrong

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Give the table with the changes beside messages, or below them if that is too wide."""
        beside = self._table([", ".join(row.changed) for row in self._rows], None)
        unbounded = options.update(max_width=_UNBOUNDED)
        if console.measure(beside, options=unbounded).maximum <= options.max_width:
            yield beside
            return
        others = console.measure(self._table([], 0), options=unbounded).maximum
        yield self._table([], max(options.max_width - others, _LEAST))

    def _table(self, changed: Sequence[str], width: int | None) -> Table:
        """Make a table; with a `width` of messages, changes stand below them."""
        table = Table(box=None, pad_edge=False)
        for name in self._before:
            table.add_column(name, justify="right")
        table.add_column("From")
        table.add_column("To: message", overflow="fold", width=width)
        columns: list[tuple[str, Sequence[str]]] = [
            ("Deadline", [row.deadline for row in self._rows]),
            ("Choices", [row.choices for row in self._rows]),
            ("Changed", changed),
        ]
        columns = [(name, cells) for name, cells in columns if any(cells)]
        for name, _ in columns:
            table.add_column(name, justify="right" if name == "Deadline" else "left")
        for place, row in enumerate(self._rows):
            message = row.message
            if width:
                message = "\n".join([message, *_below(row.changed, width)])
            cells = (*row.before, row.sender, message, *(cells[place] for _, cells in columns))
            is_wrong = self._ends_wrong and place == len(self._rows) - 1
            if is_wrong:
                cells = (f"> {cells[0]}", *cells[1:])
            table.add_row(*map(Text, cells), style="bold red" if is_wrong else None)
        return table


def _below(changed: Sequence[str], width: int) -> Iterator[str]:
    """Put changes into lines, without breaking one in two unless it is longer than a line."""
    line = ""
    for place, each in enumerate(changed):
        text = each if place == len(changed) - 1 else f"{each},"
        if line and len(_INDENT) + len(line) + 1 + len(text) > width:
            yield f"{_INDENT}{line}"
            line = ""
        line = f"{line} {text}" if line else text
    if line:
        yield f"{_INDENT}{line}"


def event_table(events: Sequence[Event]) -> MessageTable:
    """One row for each message served: when, by whom, from whom, and what it changed."""
    return MessageTable(["Time"], list(map(_row, events)))


def _row(event: Event) -> MessageRow:
    time = str(event.time)
    if event.finished > event.time:
        time += f"-{event.finished}"
    return MessageRow(
        (time,),
        event.sender,
        f"{event.rebec}: {event.call}",
        "" if event.deadline is None else str(event.deadline),
        event.drawn_text,
        change_texts(event.changed.items()),
    )


def run_summary(result: RunResult) -> Text:
    """Say how a run ended."""
    detail = f": {result.detail}" if result.detail else ""
    style = "bold red" if result.is_violation else "bold"
    served = f"{counted(result.steps, 'message')} served"
    last = f"the last one at time {result.time}" if result.steps else "none"
    return Text(f"{result.outcome}{detail} ({served}, {last})", style=style)


def busy_text(rebec: RebecState, time: int) -> str:
    """Say until when a rebec is not free; nothing if it is."""
    if rebec.suspended is not None:
        return f" (in {rebec.suspended.server}, delay until {time + rebec.busy})"
    return f" (busy until {time + rebec.busy})" if rebec.busy else ""


def variables_text(rebec: RebecState) -> str:
    """Write the variables of a rebec with their values."""
    return ", ".join(f"{name} = {value_text(value)}" for name, value in rebec.variables.items())


def bag_texts(rebec: RebecState, time: int, *, timed: bool) -> Iterator[str]:
    """Write the messages of a bag, in absolute time if there is time."""
    for message in rebec.bag:
        text = f"{message.call} from {message.sender}"
        if timed:
            text += f", arrival {time + message.arrival}"
        if message.deadline != float("inf"):
            text += f", deadline {time + int(message.deadline)}"
        yield text


def effect_text(alternative: Alternative, timed: bool) -> str:
    """Say what an alternative changes and sends, so that alternatives can be told apart."""
    if alternative.breach is not None:
        return alternative.breach.verdict
    step = alternative.step
    parts = [f"{name} = {value_text(value)}" for name, value in step.changed]
    if step.finished is not None and step.finished > step.time:
        parts.append(f"busy until {step.finished}")
    for receiver, message in alternative.sent:
        arrival = f" at {message.arrival}" if timed else ""
        parts.append(f"{receiver}.{message.call}{arrival}")
    return ", ".join(parts)


_HEADINGS = ("Time", "From", "To: message", "Deadline", "Choices", "Changed")
_TIME, _DEADLINE, _CHOICES = 9, 8, 7
_LEAST_OF_LINES = 14
_GAPS = 10


class MessageLines:
    """Lays rows out in columns; with a `width`, what does not fit goes on in the next line."""

    def __init__(self, senders: Sequence[str], messages: Sequence[str], width: int | None) -> None:
        """Make a table for these rebecs and messages without arguments."""
        sender = max(map(len, [_HEADINGS[1], *senders]))
        message = max(map(len, [_HEADINGS[2], *messages])) + 8
        changed = None
        if width is not None:
            room = max(width - _TIME - _DEADLINE - _CHOICES - _GAPS - sender, 2 * _LEAST_OF_LINES)
            message = min(message, max(room // 2, _LEAST_OF_LINES))
            changed = room - message
        self._widths = (_TIME, sender, message, _DEADLINE, _CHOICES, changed)
        self._is_bounded = width is not None

    def heading(self) -> str:
        """Give the line of headings."""
        return self._line(_HEADINGS)

    def rows(self, cells: tuple[str, str, str, str, str, str]) -> Iterator[str]:
        """Give the line of a message, or lines if there is no room for one."""
        if not self._is_bounded:
            yield self._line(cells)
            return
        broken = [
            wrap(cell, width or len(cell) or 1)
            for cell, width in zip(cells, self._widths, strict=True)
        ]
        for parts in zip_longest(*broken, fillvalue=""):
            yield self._line(parts)

    def _line(self, cells: Sequence[str]) -> str:
        time, sender, message, deadline, choices, changed = cells
        _, from_width, message_width, *_ = self._widths
        return (
            f"{time:>{_TIME}}  {sender:<{from_width}}  {message:<{message_width}}  "
            f"{deadline:>{_DEADLINE}}  {choices:<{_CHOICES}}  {changed}"
        ).rstrip()


_HEAD = '''\
"""{verdict}: a run of {model} found by `rebecsim`, {length} steps long."""

import json
from pathlib import Path

from rebecsim.exploration import Recorded, {function}
from rebecsim.generate.module import load_checked

MODEL = Path(__file__).resolve().parent / {path}
RUN = Recorded.from_json(
    json.loads(
        r"""
{run}
"""
    )
)

'''

_STILL = '''
def test_{name}():
    """The model still does what was recorded, step by step, and ends as it did."""
    model, checked = load_checked(MODEL, {dialect})
    path = replay(RUN, model, checked)
    assert path.breach == ({verdict_text}, {message})
'''

_NO_LONGER = '''
def test_{name}_no_longer():
    """The same messages, with the same choices, do not end as they did."""
    model, checked = load_checked(MODEL, {dialect})
    assert recurring(RUN, model, checked) is None
'''

_RUN = '''\
"""A run of {model} that was kept by `rebecsim`, {length} messages long."""

import json
from pathlib import Path

from rebecsim.actors import Run
from rebecsim.generate.module import load_checked
from rebecsim.simulation.simulator import state_after

MODEL = Path(__file__).resolve().parent / {path}
RUN = Run.from_json(
    json.loads(
        r"""
{run}
"""
    )
)
STATE = json.loads(
    r"""
{state}
"""
)


def test_a_run_of_{name}():
    """The same messages, with the same choices, lead to the same variables."""
    model, _ = load_checked(MODEL, {dialect})
    assert state_after(RUN, model) == STATE
'''


def run_source(
    run: Run, state: Mapping[str, Mapping[str, Any]], model: Path, test: Path, *, core: bool = False
) -> str:
    """Give the text of a test that does a run again, and compares the variables at its end.

    `state` are these: rebec -> name -> value. The test finds the model relative to itself.
    """
    name = re.sub(r"\W+", "_", model.stem, flags=re.ASCII)
    return _RUN.format(
        model=re.sub(r"\W+", " ", model.stem, flags=re.ASCII),
        length=sum(choice.kind == "step" for choice in run.choices),
        path=ascii(_way(model, test)),
        run=json.dumps(run.to_json(), indent=1),
        state=json.dumps(state, indent=1),
        name=name,
        dialect=ascii("core" if core else "timed"),
    )


def _way(model: Path, test: Path) -> str:
    """Give the way from the test to the model."""
    return Path(os.path.relpath(model.resolve(), test.resolve().parent)).as_posix()


def pytest_source(recorded: Recorded, model: Path, test: Path) -> str:
    """Give the text of the test file `test`, which replays a counterexample on the file `model`.

    The test finds the model relative to itself. All text of the model is inside JSON, in ASCII.
    """
    return _source(_HEAD + _STILL, "replay", recorded, model, test)


def regression_source(recorded: Recorded, model: Path, test: Path) -> str:
    """Give the text of a test that fails as long as the run ends in what it violates.

    The model may have been changed in the meantime: the messages of the run are followed.
    """
    return _source(_HEAD + _NO_LONGER, "recurring", recorded, model, test)


def _source(template: str, function: str, recorded: Recorded, model: Path, test: Path) -> str:
    run = json.dumps(recorded.to_json(), indent=1)
    name = re.sub(r"\W+", "_", f"{recorded.model}_{recorded.breach.verdict}", flags=re.ASCII)
    return template.format(
        function=function,
        verdict=recorded.breach.verdict,
        model=re.sub(r"\W+", " ", recorded.model, flags=re.ASCII),
        length=len(recorded.ordinals),
        path=ascii(_way(model, test)),
        run=run,  # three quotes in a row never stand in JSON
        name=name,
        dialect=ascii("core" if recorded.question.mode == "core" else "timed"),
        verdict_text=ascii(recorded.breach.verdict),
        message=ascii(recorded.breach.text),
    )

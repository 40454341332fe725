"""Measure queues in runs: waits, service times, queue lengths, utilisation, throughput.

Of a message server, those wait that have arrived and not begun, and it is busy while it serves one.
Of a rebec with the variables `waiting` and `busy`, as those of `rebecsim.lib`, these count both.
What is measured from a time on follows from areas under both curves and from how many ended. The
mean wait is the area of those that wait, over how many ended: Little's law (Operations Research 9,
1961), which needs no customer to be known.

Warm-up by MSER-5: means of five windows each; what is left out makes the standard error of the
rest smallest (White, Cobb and Spratt, "A comparison of five steady-state truncation heuristics",
Winter Simulation Conference 2000).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rebecsim.actors import Model, Streams
from rebecsim.actors.watchdog import Watchdog
from rebecsim.errors import UserError
from rebecsim.simulation.simulator import RANDOM, VIOLATIONS, scheduler_for, simulate
from rebecsim.simulation.trace import Event, Tracer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rebecsim.native.layout import NativeModel

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

MEASURES = ("wait", "service", "queue", "utilisation", "throughput")
"""Mean wait and service time, in time units; mean number that wait; share of servers that are busy;
ends per time unit."""

WINDOWS = 1000
"""Into so many equal windows a run is divided to find its warm-up."""

LEAST_WARM_UP = 0.1
"""The part of a run that is left out at least: runs may begin empty for longer than it shows."""

BATCHES = 20
"""Into so many equal parts a single run is divided to see how sure its means are."""


@dataclass(frozen=True)
class Measured:
    """What is measured: a message server of a rebec, or a whole rebec, which has no `server`.

    `servers` is how many customers the rebec serves at most at a time.
    """

    rebec: str
    server: str = ""
    servers: int = 1

    @property
    def text(self) -> str:
        """How it is called."""
        return f"{self.rebec}.{self.server}" if self.server else self.rebec


def measured_of(model: Model, text: str) -> Measured:
    """Find what a text names. Raises UserError, with what there is."""
    rebec, _, server = text.partition(".")
    if rebec not in model.positions:
        raise UserError(f"there is no rebec {rebec!r}; known are {', '.join(model.positions)}")
    owner = model.instances[model.positions[rebec]].reactive_class
    names = [each.name for each in owner.__servers__.values()]
    if server in names:
        return Measured(rebec, server)
    variables = {each.name for each in owner.__state_variables__}
    if not server and {"waiting", "busy"} <= variables:
        return Measured(rebec, "", getattr(owner, "servers", 1))
    wanted = f"a message server: {', '.join(names)}" if names else "a rebec with message servers"
    raise UserError(f"{text}: name {wanted}, or a rebec with the variables waiting and busy")


@dataclass(frozen=True)
class Course:
    """The course of a run: of those that wait and those that are served, and when each ended."""

    waiting: tuple[Floats, Floats]
    """Times, and the area under the number that wait up to each."""
    busy: tuple[Floats, Floats]
    ends: Integers

    @classmethod
    def of_messages(cls, times: Integers) -> Course:
        """`times` has a row for each message: when it arrived, began to be served, and ended."""
        arrived, began, ended = times.T
        return cls(_area(arrived, began), _area(began, ended), np.sort(ended))

    @classmethod
    def of_counts(
        cls, times: Integers, waiting: Integers, busy: Integers, ends: Integers
    ) -> Course:
        """`waiting` and `busy` are the numbers from each of `times` on."""
        return cls(_under(times, waiting), _under(times, busy), ends)

    def until(self, times: Floats) -> Floats:
        """Give both areas and how many ended up to some times: shape (3, times)."""
        areas = [np.interp(times, *each) for each in (self.waiting, self.busy)]
        return np.array([*areas, np.searchsorted(self.ends, times, "right")])


def _under(times: Integers, values: Integers) -> tuple[Floats, Floats]:
    if not len(times):
        return np.zeros(1), np.zeros(1)
    places = np.concatenate([[0], times]).astype(float)
    before = np.concatenate([[0], values[:-1]])
    end = places[-1] + 1e15  # the last number stays
    areas = np.concatenate([[0.0], np.cumsum(before * np.diff(places))])
    return np.append(places, end), np.append(areas, areas[-1] + values[-1] * 1e15)


def _area(begins: Integers, ends: Integers) -> tuple[Floats, Floats]:
    """Give the area under how many things there are that begin and end at these times."""
    times = np.concatenate([begins, ends])
    order = np.argsort(times, kind="stable")
    steps = np.concatenate([np.ones(len(begins), int), -np.ones(len(ends), int)])[order]
    return _under(times[order], np.cumsum(steps))


def measures(upto: Floats, times: Floats, servers: int) -> Floats:
    """Give MEASURES in each part between some times, of what there was up to each of them.

    Each is a ratio; the shape is (2, measures, parts), what is divided first.
    """
    waiting, busy, ended = np.diff(upto)
    span = np.diff(times)
    return np.array(
        [[waiting, busy, waiting, busy, ended], [ended, ended, span, span * servers, span]]
    )


def warm_ups(runs: Sequence[Sequence[Course]], until: int) -> list[float]:
    """Give how long each run takes to forget how it began, by MSER-5, as seen in the other runs.

    Seen in the run itself, the end of a warm-up leans to where many waited, so that means are too
    low and too sure. It is a tenth of the run at least, and the longest of its courses.
    """
    grid = np.linspace(0, until, WINDOWS // 5 + 1)
    means = np.array([[np.diff(each.until(grid)[:2].sum(0)) for each in run] for run in runs])
    others = means.sum(0) - means if len(runs) > 1 else means
    ends = [max(map(_truncation, run)) for run in others]
    return [float(max(grid[end], until * LEAST_WARM_UP)) for end in ends]


def _truncation(means: Floats) -> int:
    rest = len(means) - np.arange(len(means) // 2)
    sums = np.cumsum(means[::-1])[::-1][: len(rest)]
    squares = np.cumsum(means[::-1] ** 2)[::-1][: len(rest)]
    return int(np.argmin((squares - sums**2 / rest) / rest**2))


# --- runs ----------------------------------------------------------------------------------------


def courses(
    model: Model,
    native: NativeModel | None,
    wanted: Sequence[Measured],
    key: tuple[int, int],
    runs: int,
    until: int,
) -> Iterator[list[Course]]:
    """Run a model, on compiled code if it is given; gives a course of each thing for each run.

    Raises UserError for a run that ends in a violation.
    """
    for run in range(runs):
        if native is not None:
            yield _native_courses(native, wanted, key, run, until)
            continue
        tracer = Tracer()
        with Watchdog() as watchdog:
            result = simulate(
                model,
                scheduler_for(RANDOM, Streams(key, run), "fair"),
                until=until,
                tracer=tracer,
                watchdog=watchdog,
            )
        _require_fine(result.outcome, result.detail, run)
        yield [course_of(each, tracer.events) for each in wanted]


def _require_fine(outcome: str, detail: str, run: int) -> None:
    if outcome in VIOLATIONS or outcome == "time stands still":
        raise UserError(f"run {run}: {outcome}: {detail}")


def course_of(wanted: Measured, events: Sequence[Event]) -> Course:
    """Give the course of something in the messages of a run, in the order of serving."""
    own = [each for each in events if each.rebec == wanted.rebec]
    if wanted.server:
        own = [each for each in own if each.server == wanted.server]
        rows = [(each.arrival, each.time, each.finished) for each in own]
        return Course.of_messages(np.array(rows, np.int64).reshape(-1, 3))
    counts, ends = {"waiting": 0, "busy": 0}, []
    rows = []
    for each in own:
        before = sum(counts.values())
        counts |= {name: each.changed.get(name, counts[name]) for name in counts}
        if sum(counts.values()) < before:
            ends.append(each.finished)
        rows.append((each.finished, counts["waiting"], counts["busy"]))
    times, waiting, busy = np.array(rows, np.int64).reshape(-1, 3).T
    return Course.of_counts(times, waiting, busy, np.array(ends, np.int64))


def _native_courses(
    native: NativeModel, wanted: Sequence[Measured], key: tuple[int, int], run: int, until: int
) -> list[Course]:
    from rebecsim.native.codes import ARGUMENTS
    from rebecsim.native.layout import BASE
    from rebecsim.native.loops import simulation as at
    from rebecsim.simulation.native import run_native
    from rebecsim.simulation.simulator import OUTCOMES

    done = run_native(native, key=key, replications=range(run, run + 1), until=until, trace=True)
    _require_fine(OUTCOMES[int(done.ends[0, at.OUTCOME])], done.detail, run)
    variables = at.EVENT_ARGUMENTS + native.row_width - ARGUMENTS
    found = []
    for each in wanted:
        index = native.model.positions[each.rebec]
        rows = done.events[done.events[:, at.EVENT_REBEC] == index]
        if each.server:
            servers = [name for name, *_ in native.views[index].servers]
            rows = rows[rows[:, at.EVENT_SERVER] == servers.index(each.server)]
            columns = [at.EVENT_ARRIVAL, at.EVENT_TIME, at.EVENT_FINISHED]
            found.append(Course.of_messages(rows[:, columns]))
            continue
        waiting, busy = (
            rows[:, variables + native.cell_of[each.rebec, name] - int(native.rebecs[index, BASE])]
            for name in ("waiting", "busy")
        )
        ends = np.diff(waiting + busy, prepend=0) < 0
        times = rows[:, at.EVENT_FINISHED]
        found.append(Course.of_counts(times, waiting, busy, times[ends]))
    return found

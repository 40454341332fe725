"""Run replications on the native engine, with results as from the Python engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rebecsim.actors import ChoiceLaw
from rebecsim.actors.message import NOBODY
from rebecsim.actors.semantics import MOST_AT_ONE_TIME
from rebecsim.actors.watchdog import EndlessError
from rebecsim.generate.step import NotNativeError
from rebecsim.lang import syntax, walk
from rebecsim.lang.checked import CheckedModel
from rebecsim.native.cache import prepare
from rebecsim.native.codes import Ended, First
from rebecsim.native.columns import ARGUMENTS, NEVER, SITE_SHIFT, SLOTS
from rebecsim.native.layout import BASE, Integers, NativeModel
from rebecsim.native.loops.bags import STATE_WIDTH, Bags
from rebecsim.native.loops.simulation import (
    EVENT_ARGUMENTS,
    OUTCOME,
    SETTINGS,
    STEPS,
    TIME,
    ReplicationResults,
    SimulatedModel,
    Work,
    run_replications,
)
from rebecsim.native.violations import endless_text, failure_text, missed_text
from rebecsim.simulation.order import Order
from rebecsim.simulation.simulator import OUTCOMES, RunResult
from rebecsim.simulation.trace import Event, changes

_ORDERS = {
    "random": First.ANY,
    "updates-first": First.RANKED,
    "ticks-first": First.RANKED,
    "fifo": First.FIFO,
}
_ROOM = 1_000  # events of a traced run at first; more are made room for when they come
_INDEX = (1 << SITE_SHIFT) - 1  # of an alternative, in what is noted of a choice
_MOST_STEPS = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class NativeRuns:
    """What replications have come to.

    Attributes:
        ends: outcome (index into `OUTCOMES`), steps and last time of each; shape (runs, 3).
        values: the observed variables; shape (runs, variables).
        detail: the text of the violation that ended the last of them, or empty.
        events: the trace of the last of them, where it was wanted; see `native_events`.
        choices: the indices of the alternatives drawn in it, with their sites.
    """

    ends: Integers
    values: Integers
    detail: str
    events: Integers
    choices: Integers


def require_compiled(native: NativeModel) -> None:
    """Compile the step of a model and the loop around it, unless that is done.

    Raises NotNativeError if it is impossible.
    """
    try:
        prepare(native.step, run_replications)
    except Exception as error:  # whatever a compiler that fails may raise
        raise NotNativeError(
            f"{native.model.name}: its message servers cannot be compiled ({type(error).__name__} "
            "in Numba); use the engine python or auto"
        ) from error


def run_native(
    native: NativeModel,
    *,
    key: tuple[int, int],
    replications: range,
    until: int | None,
    max_steps: int | None = None,
    choice_law: ChoiceLaw = "fair",
    order: Order = "random",
    tick: str = "",
    observed: Sequence[int] = (),
    trace: bool = False,
    at_one_time: int = MOST_AT_ONE_TIME,
) -> NativeRuns:
    """Run replications; `observed` are the cells of the variables to read when a run is over.

    `tick` names the message server that passes time, for the orders that go by it. The trace is
    that of the last replication. Raises NotNativeError if the model cannot be compiled and
    EndlessError for a message server that does not end.
    """
    require_compiled(native)
    settings = np.array(
        [
            _ORDERS[order],
            order == "ticks-first",
            order == "fifo" or choice_law != "rmc",
            native.model.uses_global_priority,
            native.model.core,
            replications.start,
            len(replications),
            _MOST_STEPS if until is None else until,
            -1 if max_steps is None else max_steps,
            choice_law == "rmc",
            native.sequence,
            at_one_time,
        ],
        np.int64,
    )
    assert len(settings) == SETTINGS
    model = SimulatedModel(
        servers=native.servers,
        ranks=_ticks(native, tick),
        params=native.params,
        cells=native.cells,
        messages=native.bags,
        counts=native.counts,
    )
    room = _ROOM
    while True:
        work = _work(native, key, room if trace else 0)
        results = _results(native, len(replications), observed, room if trace else 0)
        with np.errstate(all="ignore"):  # as IEEE says; without a compiler NumPy would warn of it
            run_replications(native.step, settings, model, work, results)
        ends, message = results.ends, results.last_message
        if (ends[:-1, OUTCOME] == Ended.NOT_ENDING).any():
            raise EndlessError(endless_text(native, work.ctx, message))
        if not (trace and (ends[:-1, OUTCOME] == Ended.NO_ROOM).any()):
            break
        room *= 4
    detail = ""
    if len(replications):
        outcome = ends[-2, OUTCOME]
        if outcome == Ended.DEADLINE_MISSED:
            detail = missed_text(native, message, int(ends[-2, TIME]))
        elif outcome == Ended.TIME_STANDS_STILL:
            time = int(ends[-2, TIME])
            detail = f"{at_one_time:,} messages were served at time {time}"
        elif outcome > Ended.DEADLINE_MISSED:
            detail = failure_text(native, work.ctx, message, work.sends)
    steps = int(ends[-2, STEPS]) if len(replications) else 0
    return NativeRuns(
        ends[:-1], results.columns_and_values[1:], detail, results.events[:steps], work.choices
    )


def _work(native: NativeModel, key: tuple[int, int], choices: int) -> Work:
    """Make room for work, and for so many choices."""
    rebecs, rows = len(native.rebecs), len(native.bags)
    bags = Bags(
        rebecs=native.rebecs,
        messages=native.bags.copy(),
        places=np.zeros(rows, np.int64),
        states=np.zeros((rebecs, STATE_WIDTH), np.int64),
    )
    return Work(
        bags=bags,
        cells=native.cells.copy(),
        sends=np.zeros((rows + 1, native.row_width), np.int64),
        ctx=np.zeros(SLOTS, np.int64),
        streams=native.streams(key),
        choices=np.zeros(choices, np.int64),
        found=np.zeros(rebecs, np.int64),
    )


def _results(
    native: NativeModel, runs: int, observed: Sequence[int], events: int
) -> ReplicationResults:
    """Make room for the results of so many runs, and for so many events."""
    widest = max((cells.size for cells in native.source.cells.values()), default=0)
    width = EVENT_ARGUMENTS + native.row_width - ARGUMENTS + widest
    values = np.zeros((runs + 1, len(observed)), np.int64)
    values[0] = observed
    return ReplicationResults(
        ends=np.zeros((runs + 1, 3), np.int64),
        columns_and_values=values,
        last_message=np.zeros(native.row_width, np.int64),
        events=np.zeros((events, width if events else 0), np.int64),
    )


def _ticks(native: NativeModel, tick: str) -> Integers:
    """Give 1 for the message servers that pass time, by class and number."""
    ranks = np.zeros(native.servers.shape[:2], np.int64)
    for place, name in enumerate(native.source.cells):
        for server in native.checked.classes[name].servers:
            ranks[place, server.number] = server.name == tick
    return ranks


def simulate_native(
    native: NativeModel,
    *,
    key: tuple[int, int],
    choice_law: ChoiceLaw = "fair",
    order: Order = "random",
    until: int | None = None,
    max_steps: int | None = None,
    at_one_time: int = MOST_AT_ONE_TIME,
) -> tuple[RunResult, tuple[Event, ...]]:
    """Do what `simulate` does with the streams of replication 0; also gives the trace.

    The result holds no system. It does not notice that a run has come back to where it was, but
    ends after `at_one_time` messages at one time.
    """
    runs = run_native(
        native,
        key=key,
        replications=range(1),
        until=until,
        max_steps=max_steps,
        choice_law=choice_law,
        order=order,
        trace=True,
        at_one_time=at_one_time,
    )
    outcome, steps, time = runs.ends[0].tolist()
    result = RunResult(OUTCOMES[outcome], steps, time, runs.detail, None)
    return result, native_events(native, runs)


# --- traces --------------------------------------------------------------------------------------


def native_events(native: NativeModel, runs: NativeRuns) -> tuple[Event, ...]:
    """Give the trace of the last replication as the events that the Python engine notes."""
    views = native.views
    cells = [native.cells[int(row[BASE]) :].tolist() for row in native.rebecs]
    alternatives = _alternatives(native.checked)
    found = []
    drawn = 0
    arguments_end = EVENT_ARGUMENTS + native.row_width - ARGUMENTS
    for step, row in enumerate(runs.events.tolist()):
        time, finished, index, number, sender, arrival, deadline, choices = row[:EVENT_ARGUMENTS]
        view = views[index]
        before, cells[index] = cells[index], row[arguments_end:]
        places = runs.choices[drawn:choices].tolist()
        owner = native.checked.classes[native.checked.instances[index].class_name]
        values = alternatives[owner.name]
        found.append(
            Event(
                step=step,
                time=time,
                finished=finished,
                rebec=view.name,
                server=view.servers[number][0],
                sender=views[sender].name if sender >= 0 else NOBODY,
                arrival=arrival,
                deadline=None if deadline == NEVER else deadline,
                arguments=view.arguments(number, row[EVENT_ARGUMENTS:]),
                choices=tuple(place & _INDEX for place in places),
                changed=changes(view.state(before, time), view.state(cells[index], finished)),
                drawn=tuple(values[place >> SITE_SHIFT][place & _INDEX] for place in places),
                parameters=tuple(each.name for each in owner.servers[number].parameters),
            )
        )
        drawn = choices
    return tuple(found)


def _alternatives(checked: CheckedModel) -> dict[str, dict[int, tuple[Any, ...]]]:
    """Give, for each class, the alternatives of the choices at each of its sites."""
    found: dict[str, dict[int, tuple[Any, ...]]] = {}
    for name, each in checked.classes.items():
        found[name] = {} if each.base is None else dict(found[each.base])
        for server in each.tree.message_servers:
            for node in walk(server):
                if isinstance(node, syntax.Choice):
                    values = tuple(map(checked.constant_of, node.alternatives))
                    found[name][checked.choice_site(node)] = values
    return found

"""Runs whose message order gives a figure its least or its greatest value."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.actors import ChoiceLaw, PlainMessage, RandomValues, Rebec, Recorder, Run, Streams
from rebecsim.actors.randomness import key_of
from rebecsim.actors.semantics import count_alternatives
from rebecsim.clusters.dispatch.configuration import Configuration
from rebecsim.clusters.dispatch.orders.bounds import Column
from rebecsim.clusters.dispatch.orders.graph import Found
from rebecsim.clusters.dispatch.orders.loops import arrive, tick
from rebecsim.clusters.dispatch.orders.results import Counted, Extreme
from rebecsim.clusters.dispatch.orders.solving import Receipts, Values
from rebecsim.clusters.dispatch.orders.states import deadline_of
from rebecsim.clusters.dispatch.source import rebeca_source
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.native.arrays import packed
from rebecsim.simulation import simulate

Integers = NDArray[np.int64]
_MANAGER, _TICK = "rm", "checkQueue"
_MOST_VALUES = 20_000_000
"""Values of all ticks together that are kept, so as to know at each one what is best."""


@dataclass(frozen=True)
class ExtremeRun:
    """A run of a policy of the scheduler that comes to an extreme, choices drawn from a seed.

    Attributes:
        run: for `rebecsim simulate --replay`.
        ticks: of the run; fewer than were asked for where not all is known up to the last.
        counted: what came of this one run.
    """

    run: Run
    ticks: int
    counted: float


def extreme_run(
    found: Found,
    configuration: Configuration,
    goal: Extreme,
    *,
    counted: Counted = "deadline_misses",
    law: ChoiceLaw = "fair",
    seed: int = 0,
) -> ExtremeRun | None:
    """Do a run in which messages are picked so that a figure comes to its extreme on average.

    It is of those ticks of which every state was looked at. None where there are too many states to
    keep the values of all ticks.
    """
    found = found.of_known_ticks
    last = found.known
    sizes = [int((found.first_seen <= each).nonzero()[0][-1]) + 1 for each in range(last + 1)]
    if sum(sizes) > _MOST_VALUES or last < 0:
        return None
    column = Column(counted, goal, "low")
    layers = [np.zeros(0)] * (last + 1)
    for time, values in Values(found, [column], last).backward():
        layers[time] = values[: sizes[time], 0].copy()
    drawn = RandomValues(Streams(key_of(np.random.SeedSequence(seed)), 0), law)
    order = _ExtremeOrder(found, configuration, column, layers, drawn)
    recorder = Recorder(order)
    checked = check_source(rebeca_source(configuration), "cluster.rebeca")
    simulate(build_model(checked, "cluster"), recorder, until=last)
    return ExtremeRun(replace(recorder.run, until=last), last + 1, order.counted)


class _ExtremeOrder:
    """Picks the messages of a cluster as the values of its states say."""

    priorities = True

    def __init__(
        self,
        found: Found,
        configuration: Configuration,
        column: Column,
        layers: Sequence[NDArray[np.float64]],
        drawn: RandomValues,
    ) -> None:
        self._found, self._configuration, self._goal = found, configuration, column.goal
        self._column, self._layers = column, layers
        self.choose = drawn.choose
        self._receipts = Receipts(found)
        self._work = np.zeros((5, len(found.cluster.tables.layout) + 1), np.int64)
        self._node, self._time = 0, -1
        self._first: list[int] = []
        self.counted = 0.0

    def pick(self, rebecs: list[Rebec]) -> tuple[Rebec, PlainMessage]:
        """Give the next step: AppMasters, updates before the tick, the tick, the other updates."""
        others = [each for each in rebecs if each._name != _MANAGER]
        if others:
            return others[0], others[0]._bag.messages[0]
        manager = rebecs[0]
        messages = manager._bag.messages
        messages = messages[: count_alternatives(messages, core=False)]
        ticks = [each for each in messages if each[3].name == _TICK]
        if not ticks:
            return manager, messages[0]
        time = ticks[0][0]
        if time > self._time:
            self._time = time
            self._first = self._decide(manager, time)
        if not self._first:
            return manager, ticks[0]
        wanted = self._first.pop()
        return manager, next(m for m in messages if m[3].name != _TICK and m[5][0] == wanted)

    def _decide(self, manager: Any, time: int) -> list[int]:
        """Decide which AppMasters' updates come before the tick, and go on to what follows."""
        graph, tables = self._found.graph, self._found.cluster.tables
        start, way = self._state(manager, time)
        begin = int(graph.way[self._node, 0])
        choice = int(graph.first_choice[self._node])
        before = int(graph.actions[choice : choice + way - begin].sum())
        first = int(graph.first_action[self._node]) + before
        actions = np.arange(first, first + int(graph.actions[choice + way - begin]))
        left = len(self._layers) - 1 - time
        gains = self._receipts.gains(self._column.counted, left)[graph.receipt[actions]]
        worth = gains
        if left:
            worth = gains + self._layers[time + 1][graph.target[actions]]
        best = int(worth.argmin() if self._goal == "minimum" else worth.argmax())
        self.counted += float(gains[best])
        served = self._served(start, int(actions[best]), int(graph.ticks[self._node]))
        self._node = int(graph.target[actions[best]])
        wanted = list[int]()
        for (one, behind), count in zip(tables.groups.tolist(), served, strict=True):
            wanted += [each for each in range(one, behind) if self._due[each]][:count]
        return wanted

    def _state(self, manager: Any, time: int) -> tuple[Integers, int]:
        """Read off the model whose updates are due, and in which way jobs have come."""
        graph, tables = self._found.graph, self._found.cluster.tables
        row = graph.nodes[self._node]
        layout = tables.layout.tolist()
        saved = np.array([row[word] >> shift & mask for word, shift, mask in layout])
        due = {m[5][0] for m in manager._bag.messages if m[3].name != _TICK and m[0] == time}
        self._due = [number in due for number in range(int(tables.sizes[0]))]
        come = self._new_jobs(manager)
        for way in range(int(graph.way[self._node, 0]), int(graph.way[self._node, 1])):
            if [job for job in tables.jobs[way].tolist() if job] == come:
                start = np.zeros(len(layout), np.int64)
                arrive(tables, way, saved, start, int(graph.ticks[self._node]), self._work[:3])
                return start, way
        raise AssertionError("jobs come in one of the ways")

    def _new_jobs(self, manager: Any) -> list[int]:
        """Give the jobs that have come since the last tick, which have all of their time left."""
        tables = self._found.cluster.tables
        kinds = {
            (int(length), bool(is_high)): kind
            for kind, (length, is_high) in enumerate(zip(tables.lengths, tables.high, strict=True))
        }
        epsilon = self._configuration.epsilon
        threshold = self._configuration.high_priority.probability
        priorities = [threshold + 1] * len(manager.m_deadline)
        if self._configuration.dispatch_policy.uses_priority:
            priorities = manager.m_priority
        jobs = zip(manager.m_deadline, manager.m_length, priorities, strict=True)
        return [
            left * len(kinds) + kinds[length, priority <= threshold]
            for left, length, priority in jobs
            if left and left == deadline_of(length, epsilon)
        ]

    def _served(self, start: Integers, action: int, ticks: int) -> tuple[int, ...]:
        """Give how many updates of each group come before the tick in an action."""
        graph, tables = self._found.graph, self._found.cluster.tables
        target, receipt = graph.nodes[graph.target[action]], graph.receipts[graph.receipt[action]]
        due = [int((start[1 + a : 1 + b] == 1).sum()) for a, b in tables.groups.tolist()]
        for served in itertools.product(*(range(each + 1) for each in due)):
            parts, noted = start.copy(), np.zeros((1, len(receipt)), np.int64)
            scratch, picks = self._work[:3], self._work[3:]
            tick(tables, parts, np.array(served, np.int64), noted, 0, ticks, scratch, picks)
            found = packed(parts[None], tables.layout)[0]
            if (noted[0] == receipt).all() and (ticks == 1 or (found == target).all()):
                return served
        raise AssertionError("an action is among those of its state")

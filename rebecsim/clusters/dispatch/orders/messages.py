"""Exact orders of clusters whose rule only their models know: from the graph of all messages.

Eviction and policies of plug-ins are written in the language of models. So these are unrolled
message by message (`rebecsim.exploration.orders`), as far as a number of states goes. What only
counts is no part of their states. Of later ticks there are bounds: each job that is not decided
by then may be missed, or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rebecsim.actors import ChoiceLaw
from rebecsim.clusters.dispatch.configuration import (
    ClusterConfiguration,
    Configuration,
    Power,
    cycled,
)
from rebecsim.clusters.dispatch.measures import (
    DEADLINE_MISSES,
    JOB_REQUEST_SUCCESS,
    NATJAM_DEADLINE_MISSES,
    NATJAM_JOB_REQUEST_SUCCESS,
)
from rebecsim.clusters.dispatch.orders.results import Bounds, ClusterValues, Counted, Extreme, Worth
from rebecsim.clusters.dispatch.policies import BUILTIN_EVICTION_POLICIES
from rebecsim.clusters.dispatch.source import COUNTERS, NATJAM_COUNTERS, busy_time_variables
from rebecsim.exploration import Limits
from rebecsim.exploration.orders import GOALS, ExactOrders, Goal, Quantity, exact_orders
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.metrics.metric import Weights

_MANAGER = "rm"
_JOBS: tuple[Counted, ...] = ("deadline_misses", "completions")


@dataclass(frozen=True)
class MessageCluster:
    """A cluster and its model.

    Attributes:
        configuration: what it is.
        source: the model as Timed Rebeca; it counts busy times up to the last tick if there are
            watts.
        ticks: of a run.
        law: how choices are drawn.
        power: what AppMasters draw, if that is known.
    """

    configuration: ClusterConfiguration
    source: str
    ticks: int
    law: ChoiceLaw
    power: Power | None = None


@dataclass(frozen=True)
class MessageOrders:
    """What was found of a cluster."""

    cluster: MessageCluster
    orders: ExactOrders

    @property
    def known_ticks(self) -> int:
        """Up to how many ticks every state was looked at."""
        return self.orders.until + 1 if self.orders.is_known else 0

    def values(self) -> ClusterValues:
        """Compute best case, worst case and mean over all orders; bounds if states are left out."""
        cluster, known = self.cluster, self.known_ticks
        by_ticks: dict[int, Worth] = {}
        if known == cluster.ticks:
            values = self._at_the_end()
        else:
            by_ticks = {each: self._of_jobs(each) for each in range(1, known + 1)}
            values = _bounded(cluster, known, by_ticks.get(known))
        return ClusterValues(cluster.ticks, values, by_ticks, self.orders.figures)

    def run(self, goal: Extreme, seed: int) -> dict[str, Any] | None:
        """Give a run in which messages are picked so that the fewest or the most are missed."""
        run = self.orders.run(0, goal, seed).run
        return None if run is None else run.to_json()

    def _of_jobs(self, ticks: int) -> Worth:
        found = self.orders.sooner(ticks - 1)[: len(_JOBS)]
        return {
            name: {goal: Bounds(each[goal], each[goal]) for goal in GOALS}
            for name, each in zip(_JOBS, found, strict=True)
        }

    def _at_the_end(self) -> Worth:
        values = {
            name: {goal: Bounds(each[goal], each[goal]) for goal in GOALS}
            for name, each in zip(_figures(self.cluster), self.orders.values, strict=True)
        }
        if "energy" in values:
            idle = _idle(self.cluster)
            values["energy"] = {
                goal: Bounds(each.low + idle, each.high + idle)
                for goal, each in values["energy"].items()
            }
        return values


def message_orders(cluster: MessageCluster, most_states: int) -> MessageOrders:
    """Look at all orders of a cluster, message by message, up to so many states.

    Raises UserError or RebecaError for a model of a plug-in that does not fit.
    """
    checked = check_source(_with_merged_priorities(cluster), "cluster.rebeca")
    asked = [Quantity("final", text) for text in _figures(cluster).values()]
    found = exact_orders(
        build_model(checked, "cluster"),
        asked,
        cluster.ticks - 1,
        checked=checked,
        law=cluster.law,
        limits=Limits(states=most_states),
    )
    return MessageOrders(cluster, found)


def _with_merged_priorities(cluster: MessageCluster) -> str:
    """Give the model with one value for all low priorities, and one for all high ones.

    With eviction that is all that is asked of them. There are as many alternatives as ever, so a
    run of this model is one of the other.
    """
    configuration = cluster.configuration
    built_in = {each.name for each in BUILTIN_EVICTION_POLICIES}
    if isinstance(configuration, Configuration) or configuration.policy not in built_in:
        return cluster.source
    high = configuration.high_priority
    values = high.values
    merged = [values[0] if each <= high.probability else values[-1] for each in values]
    return cluster.source.replace(_choice(values), _choice(merged))


def _choice(values: Iterable[int]) -> str:
    return f"?({', '.join(map(str, values))})"


def _figures(cluster: MessageCluster) -> dict[Counted, str]:
    """Give the expressions of what is reckoned."""
    if isinstance(cluster.configuration, Configuration):
        misses, success, columns = DEADLINE_MISSES, JOB_REQUEST_SUCCESS, COUNTERS
    else:
        misses, success = NATJAM_DEADLINE_MISSES, NATJAM_JOB_REQUEST_SUCCESS
        columns = NATJAM_COUNTERS
    found: dict[Counted, str] = {
        "deadline_misses": _sum_of(misses.numerator, columns),
        "completions": _sum_of(success.numerator, columns),
    }
    if cluster.power is not None and cluster.power.is_given:
        names = busy_time_variables(cluster.configuration.app_masters)
        draws = _draws(cluster, cluster.power)
        terms = zip(names, draws, strict=True)
        found["energy"] = " + ".join(f"{name} * {busy - idle!r}" for name, (idle, busy) in terms)
    return found


def _sum_of(weights: Weights, columns: Mapping[str, str]) -> str:
    return " + ".join(f"{_MANAGER}.{columns[each]}" for each in weights)


def _draws(cluster: MessageCluster, power: Power) -> list[tuple[float, float]]:
    """Give what each AppMaster takes in a tick, idle and busy."""
    count = cluster.configuration.app_masters
    pairs = zip(cycled(power.idle, count), cycled(power.busy, count), strict=True)
    return [(idle * power.time_unit, busy * power.time_unit) for idle, busy in pairs]


def _idle(cluster: MessageCluster) -> float:
    assert cluster.power is not None
    return sum(idle for idle, _ in _draws(cluster, cluster.power)) * cluster.ticks


def _bounded(cluster: MessageCluster, known: int, worth: Worth | None) -> Worth:
    """Bound what is got up to the last tick by what is known up to an earlier one.

    What is counted is counted once for a job. Those that may still be are those in the slots and on
    the AppMasters, and those that come later.
    """
    configuration = cluster.configuration
    most = [max(configuration.arrivals.alternatives(each)) for each in range(cluster.ticks)]
    queues = 1 if isinstance(configuration, Configuration) else 2  # of jobs put aside, too
    held = queues * configuration.queue_size + configuration.app_masters
    more = sum(most) if worth is None else min(sum(most), held + sum(most[known:]))
    bounds: dict[Counted, Mapping[Goal, Bounds]] = {}
    for name in _JOBS:
        low = {goal: worth[name][goal].low if worth else 0.0 for goal in GOALS}
        bounds[name] = {
            goal: Bounds(each, min(float(sum(most)), each + more)) for goal, each in low.items()
        }
    if cluster.power is not None and cluster.power.is_given:
        draws = _draws(cluster, cluster.power)
        least, greatest = (cluster.ticks * sum(pick(each) for each in draws) for pick in (min, max))
        bounds["energy"] = dict.fromkeys(GOALS, Bounds(least, greatest))
    return bounds

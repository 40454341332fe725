"""Utilisation and energy of a cluster: when its AppMasters were busy, and what that takes.

Over all runs both are linear in the busy times, so exact moments suffice: no replication is read
again. The energy of one run is `rebecsim.clusters.energy`; here it is taken over all runs of a
cell.

An AppMaster of a dispatch model is busy from the moment it serves `runJob` until the `update` that
it sends arrives at the ResourceManager. All times are whole, so what it does is a step function
that is constant in each time unit; it is given as one number per time unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.dispatch.configuration import Power, cycled
from rebecsim.simulation import Event
from rebecsim.studies.cells import grouped
from rebecsim.studies.estimates import Estimate, LinearForm, estimate_of, linear_form
from rebecsim.studies.moments import CellMoments


@dataclass(frozen=True, slots=True)
class Hardware:
    """What is known of the AppMasters of a scenario that counts busy times.

    Attributes:
        ticks: time units of a run, positive.
        speeds: of each AppMaster, over again from the first; empty: 1.0 for all.
        power: draw of each AppMaster; without its watts there is no energy.
        level: confidence level of the intervals, in (0, 1).
    """

    ticks: int
    speeds: tuple[float, ...] = ()
    power: Power = field(default_factory=Power)
    level: float = 0.95


@dataclass(frozen=True, slots=True)
class HardwareUse:
    """How much one AppMaster, or a cluster, was used.

    Attributes:
        utilisation: busy time as a share of the time units of a run; of a cluster, the mean over
            its AppMasters.
        energy: joules per run; None when the power draw is not given.
    """

    utilisation: Estimate
    energy: Estimate | None


@dataclass(frozen=True, slots=True)
class HardwareFigures:
    """The use of one cluster size under one policy.

    Attributes:
        policy: its name.
        app_masters: cluster size.
        workloads: the (arrivals, lengths) combinations that were pooled, each of the same weight.
        replications: number of runs.
        cluster: of all AppMasters together.
        each: one entry per AppMaster, am1 first.
    """

    policy: str
    app_masters: int
    workloads: tuple[tuple[str, str], ...]
    replications: int
    cluster: HardwareUse
    each: tuple[HardwareUse, ...]


def by_policy_and_size(
    moments: Sequence[CellMoments], hardware: Hardware
) -> tuple[HardwareFigures, ...]:
    """Pool workloads: one entry per policy, as they first appear, and cluster size, ascending.

    Raises:
        KeyError: when busy times (`busy_am1`, ...) were not recorded.
        ValueError: when a cell has no runs, or appears twice.
    """
    groups = grouped(moments, lambda each: (each.cell.policy, _size(each)))
    policies = list(dict.fromkeys(policy for policy, _ in groups))
    ordered = sorted(groups, key=lambda group: (policies.index(group[0]), group[1]))
    return tuple(_figures(groups[group], hardware) for group in ordered)


def by_workload(moments: Sequence[CellMoments], hardware: Hardware) -> tuple[HardwareFigures, ...]:
    """One entry for each cell, in their order; raises as `by_policy_and_size`."""
    return tuple(_figures([each], hardware) for each in moments)


def _figures(cells: Sequence[CellMoments], hardware: Hardware) -> HardwareFigures:
    """Pool cells of one policy and cluster size."""
    places = range(_size(cells[0]))
    return HardwareFigures(
        policy=cells[0].cell.policy,
        app_masters=len(places),
        workloads=tuple((str(each.cell["arrivals"]), str(each.cell["lengths"])) for each in cells),
        replications=sum(each.replications for each in cells),
        cluster=_usage(cells, hardware, places),
        each=tuple(_usage(cells, hardware, range(k, k + 1)) for k in places),
    )


def _usage(cells: Sequence[CellMoments], hardware: Hardware, places: range) -> HardwareUse:
    """The use of the AppMasters am(k + 1), k in `places`, together."""
    whole = hardware.ticks * len(places)
    shares = {_counter(k): Fraction(1, whole) for k in places}
    utilisation = estimate_of(_mean(cells, shares), cells, hardware.level, within=(0.0, 1.0))
    if not hardware.power.is_given:
        return HardwareUse(utilisation, None)
    return HardwareUse(utilisation, _energy(cells, hardware, places))


def _energy(cells: Sequence[CellMoments], hardware: Hardware, places: range) -> Estimate:
    """Joules per run: (idle watts * (ticks - busy time) + busy watts * busy time) * seconds.

    That is what an idle cluster draws, a constant, plus the busy times weighted by the extra draw.
    """
    size = _size(cells[0])
    idle, busy = cycled(hardware.power.idle, size), cycled(hardware.power.busy, size)
    second = Fraction(hardware.power.time_unit)
    extra = {_counter(k): (Fraction(busy[k]) - Fraction(idle[k])) * second for k in places}
    at_rest = sum((Fraction(idle[k]) for k in places), Fraction(0)) * second * hardware.ticks
    spans = [weight * hardware.ticks for weight in extra.values()]
    low = at_rest + sum(span for span in spans if span < 0)
    high = at_rest + sum(span for span in spans if span > 0)
    form = _mean(cells, extra, constant=at_rest)
    return estimate_of(form, cells, hardware.level, within=(float(low), float(high)))


def _mean(
    cells: Sequence[CellMoments], weights: dict[str, Fraction], constant: Fraction = Fraction(0)
) -> LinearForm:
    """The mean over cells of `constant + sum(weight * counter)` per run."""
    form = linear_form(cells, weights, None)
    assert form is not None  # only a ratio can be undefined
    return LinearForm(form.value + constant, form.weights, form.divisor)


def _size(moments: CellMoments) -> int:
    return int(moments.cell["app_masters"])


def _counter(place: int) -> str:
    return f"busy_am{place + 1}"


class ServedMessage(NamedTuple):
    """What is read of a message that was served; see `rebecsim.simulation.Event`."""

    replication: int
    rebec: str
    server: str
    sender: str
    time: int
    arrival: int


def busy_intervals(
    events: Iterable[ServedMessage | Event], ticks: int
) -> Iterator[tuple[str, int, int]]:
    """Give AppMaster, begin and end of each busy interval of a run, in the order of their ends.

    `events` are all messages of one run of a dispatch model in the order of service. Intervals are
    cut off at `ticks`; those that are open at the end of the trace end there. Empty ones, of jobs
    without work, are left out.
    """
    began: dict[str, int] = {}
    for event in events:
        if event.server == "runJob":
            began[event.rebec] = event.time
        elif event.server == "update" and event.sender in began:
            begin, end = began.pop(event.sender), min(event.arrival, ticks)
            if begin < end:
                yield event.sender, begin, end
    for app_master, begin in began.items():
        if begin < ticks:
            yield app_master, begin, ticks


def utilisation(
    runs: Iterable[Iterable[ServedMessage | Event]], app_masters: int, ticks: int
) -> NDArray[np.float64]:
    """Return the share of runs in which each AppMaster was busy in each time unit.

    The result has shape (app_masters, ticks); row k is AppMaster am(k + 1), column t the time unit
    from t to t + 1. For a single run the numbers are 0 and 1. Raises ValueError without runs, and
    KeyError when an event is of an AppMaster that the cluster does not have.
    """
    row = {f"am{number + 1}": number for number in range(app_masters)}
    changes = np.zeros((app_masters, ticks + 1), dtype=np.int64)
    count = 0
    for events in runs:
        count += 1
        for app_master, begin, end in busy_intervals(events, ticks):
            changes[row[app_master], begin] += 1
            changes[row[app_master], end] -= 1
    if count == 0:
        raise ValueError("there are no runs")
    shares: NDArray[np.float64] = np.cumsum(changes, axis=1)[:, :-1] / count
    return shares


def windows(shares: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Return the mean utilisation in windows of `width` time units; the last may be shorter.

    From shape (app_masters, ticks) to (app_masters, ceil(ticks / width)).
    """
    firsts = np.arange(0, shares.shape[1], width)
    lengths = np.diff(np.append(firsts, shares.shape[1]))
    means: NDArray[np.float64] = np.add.reduceat(shares, firsts, axis=1) / lengths
    return means

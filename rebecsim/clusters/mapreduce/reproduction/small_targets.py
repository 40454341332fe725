"""What the thesis says of the small clusters, and of tasks that share a node, as checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rebecsim.clusters.common.devices.sharing import SharedServer
from rebecsim.clusters.mapreduce.reproduction.found import Found
from rebecsim.clusters.mapreduce.reproduction.targets import CheckResult, NotRun, Target

_SECOND = 1_000_000
_ALONE, _LATER = 100, 80  # seconds
_NOT_WORSE = 1.02
_TIMES = ("map_time", "reduce_time", "execution")


def paired_ends(second: int) -> tuple[float, float]:
    """Give when two demands end that would take 100 s alone; one begins at 0, one `second` (s)."""
    server: SharedServer[str] = SharedServer(1, 1.0)
    ends: dict[str, float] = {}
    arrivals = {0: ["first"], second * _SECOND: ["second"]} if second else {0: ["first", "second"]}
    for at, names in arrivals.items():
        for name in names:
            server.add(name, _ALONE * _SECOND, at)
    while (coming := server.next_completion()) is not None:
        for name in server.advance(coming):
            ends[name] = coming / _SECOND
    return ends["first"], ends["second"]


def _paired(found: Found) -> CheckResult:
    together, later = paired_ends(0), paired_ends(_LATER)
    holds = [*together, *later] == [200, 200, 120, 200]
    return CheckResult(
        holds,
        f"together {together[0]:g} and {together[1]:g} s, the second {_LATER} s later "
        f"{later[0]:g} and {later[1]:g} s",
    )


def _validation(found: Found) -> CheckResult:
    trends = [trend for slots in (1, 2) for trend in _trends(found.validation, slots)]
    missed = [name for name, holds in trends if not holds]
    figure = f"{len(trends) - len(missed)} of {len(trends)} trends"
    return CheckResult(not missed, f"{figure}; not: {', '.join(missed)}" if missed else figure)


def _trends(runs: Mapping[str, Mapping[str, float]], slots: int) -> Iterator[tuple[str, bool]]:
    """Give each trend of a number of reduce slots in a few words, and whether it is there."""
    names = [f"slots{slots}_{name}" for name in ("one", "queues", "maximum", "percent", "jobs")]
    if any(name not in runs for name in names):
        raise NotRun("without runs of the validation")
    one, queues, maximum, percent, jobs = (runs[name] for name in names)
    for name in _TIMES:
        title = name.removesuffix("_time")
        yield f"two queues raise {title} ({slots})", queues[name] > one[name]
    yield f"caps harm nobody ({slots})", maximum["execution"] <= _NOT_WORSE * queues["execution"]
    for name in _TIMES:
        title = name.removesuffix("_time")
        yield f"50 % raises {title} ({slots})", percent[name] > queues[name]
    yield f"one job at a time ({slots})", jobs["at_once"] == 1
    yield f"others wait ({slots})", jobs["waiting"] > queues["waiting"]


SMALL_TARGETS: tuple[Target, ...] = (
    Target(
        "R17",
        "Two reduces that share a node from the beginning take twice as long",
        "section 4.2.1",
        _paired,
    ),
    Target(
        "R18",
        "On the cluster of the validation, settings move times as published",
        "section 5.2",
        _validation,
    ),
)
"""What is said beside the tables of chapter 6."""

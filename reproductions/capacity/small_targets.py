"""Statements of the thesis on small clusters and on tasks that share a node, as checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rebecsim.clusters.mapreduce.shared_server import SharedServer
from reproductions.capacity.found import Found
from reproductions.capacity.published import SmallPair, published
from reproductions.capacity.targets import CheckResult, NotRun, Target

_SECOND = 1_000_000
_ALONE, _LATER = 100, 80  # seconds
_OFTEN = 0.8
_TIMES = ("map_time", "reduce_time", "execution")


def changes(pair: SmallPair, makespans: Mapping[str, Sequence[float]]) -> list[tuple[float, float]]:
    """Give the makespans of both runs of a pair, for each queue that both have (s)."""
    return list(zip(makespans[pair.before], makespans[pair.after], strict=False))


def same_directions(pair: SmallPair, found: Found) -> list[bool]:
    """Say for each queue whether ours moves as the published makespan does; equality does not."""
    theirs = {name: run.queues for name, run in published().makespans.items()}
    return [
        (round(after) - round(before)) * (published_after - published_before) > 0
        for (before, after), (published_before, published_after) in zip(
            changes(pair, found.makespans), changes(pair, theirs), strict=True
        )
    ]


def _sensitivity(found: Found) -> CheckResult:
    pairs = published().pairs
    names = dict.fromkeys(name for pair in pairs for name in (pair.before, pair.after))
    if missing := [name for name in names if name not in found.makespans]:
        raise NotRun(f"without {', '.join(missing)}")
    of_pairs = {pair: same_directions(pair, found) for pair in pairs}
    every = [same for each in of_pairs.values() for same in each]
    others = [
        f"{pair.setting} (queue {place})"
        for pair, each in of_pairs.items()
        for place, same in enumerate(each, start=1)
        if not same
    ]
    figure = f"{sum(every)} of {len(every)} directions"
    return CheckResult(not others, f"{figure}; not: {'; '.join(others)}" if others else figure)


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
    yield f"caps shorten execution ({slots})", maximum["execution"] < queues["execution"]
    for name in _TIMES:
        title = name.removesuffix("_time")
        yield f"50 % raises {title} ({slots})", percent[name] > queues[name]
    yield f"one job at a time ({slots})", jobs["at_once"] == 1
    yield f"others wait ({slots})", jobs["waiting"] > queues["waiting"]


def _delayed(found: Found) -> CheckResult:
    """In how many runs jobs get maps early: with the order of queues by backlog, and Hadoop's."""
    order, free, capped = (
        [found.validation.get(f"slots{slots}_{name}", {}).get("delayed") for slots in (1, 2)]
        for name in ("queues", "queues_backlog", "maximum_backlog")
    )
    parts = [each for each in (*order, *free, *capped) if each is not None]
    if len(parts) < 6:
        raise NotRun("without runs of the validation")
    shown = [f"{100 * each:.0f}" for each in parts]
    return CheckResult(
        min(parts[2:4]) >= _OFTEN and max(parts[4:]) == 0,
        f"by backlog {shown[2]} and {shown[3]} % of the runs, capped {shown[4]} and {shown[5]}; in "
        f"Hadoop's order {shown[0]} and {shown[1]}",
    )


SMALL_TARGETS: tuple[Target, ...] = (
    Target(
        "R16",
        "On the small cluster, settings move makespans in the published directions",
        "5.1",
        _sensitivity,
    ),
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
    Target(
        "R19",
        "With one and two reduce slots, maps of later TeraSorts begin early in 9 and 10 of 10 "
        "runs, with caps in none",
        "section 4.2.2",
        _delayed,
    ),
)
"""What is said beside the tables of chapter 6."""

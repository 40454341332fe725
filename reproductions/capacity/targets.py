"""Statements of the published tables, as checks of any figures.

A check gives whether it holds and the figures behind that. It raises NotRun where experiments that
it is about were not run, so that nothing can be said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rebecsim.clusters.mapreduce.shared_server import SharedServer
from reproductions.capacity.published import Found, SmallPair, as_found, published
from reproductions.framework import Checked

SMALL = ("type5", "type6", "type7")
LONG = ("type1", "type2", "type3", "type4")

_RATIO = "response_ratio"
_PERCENT_100, _PERCENT_25 = (1, 2, 3, 5), (4, 6, 7, 8)
_NEAR_SMALL, _NEAR_LONG = 3.0, 2.0  # percentage points
_ALIKE = 0.05
_NEAR_RATIO = 0.15


class NotRun(Exception):  # noqa: N818 - no error: nothing can be said
    """Experiments that a target is about were not run."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check gives: whether the target holds, None if not run, and what says so."""

    holds: bool | None
    figure: str


@dataclass(frozen=True, slots=True)
class Target:
    """Something that the published tables say.

    Attributes:
        name: as in R1.
        says: it in words.
        tables: numbers of the tables that say it.
        check: whether figures say it too.
    """

    name: str
    says: str
    tables: str
    check: Callable[[Found], CheckResult]


def checked(target: Target, found: Found) -> Checked:
    """Put figures to a target."""
    try:
        result = target.check(found)
    except NotRun as missing:
        result = CheckResult(None, str(missing))
    return Checked(
        *(target.says, "", result.figure, result.holds), name=target.name, tables=target.tables
    )


def _run(found: Found, *experiments: int, least: int | None = None) -> tuple[int, ...]:
    """Leave the experiments that were run. Raises NotRun where too few were: all by default."""
    ran = found.ran(*experiments)
    if len(ran) < (len(experiments) if least is None else least):
        missing = ", ".join(str(each) for each in experiments if each not in ran)
        raise NotRun(f"without experiments {missing}")
    return ran


def _ratios(found: Found, experiments: Iterable[int], family: str, queue: str = "") -> list[float]:
    return [found.of(_RATIO, each, family, queue) for each in experiments]


def _shown(values: Sequence[float]) -> str:
    """Show the mean of some figures."""
    return f"{fmean(values):.3g}"


def _locality(found: Found) -> CheckResult:
    """Compare the means over the cells of a type that were run with the published ones."""
    theirs = as_found(published())
    tables = [each for each in published().tables if each.figure == "rack_local"]
    far, parts = [], []
    for family in (*LONG, *SMALL):
        cells = [
            (experiment, each.queue)
            for each in tables
            for experiment in found.ran(*each.experiments)
        ]
        if not cells:
            raise NotRun("without experiments")
        ours = fmean(found.of("rack_local", at, family, queue) for at, queue in cells)
        printed = fmean(theirs.of("rack_local", at, family, queue) for at, queue in cells)
        near = _NEAR_LONG if family in LONG else _NEAR_SMALL
        parts.append(f"{ours:.1f}")
        if abs(ours - printed) > near:
            far.append(f"{family} {printed:.1f}")
    figure = f"{' '.join(parts)} % by type"
    return CheckResult(not far, f"{figure}; published {', '.join(far)}" if far else figure)


def _lower(
    found: Found, high: Sequence[int], low: Sequence[int], families: Sequence[str], factor: float
) -> CheckResult:
    """Every response ratio is lower in some experiments than in others, on average by a factor."""
    parts, holds = [], True
    for family in families:
        before, after = _ratios(found, high, family), _ratios(found, low, family)
        holds &= max(after) < min(before) and fmean(before) >= factor * fmean(after)
        parts.append(f"{_shown(before)}>{_shown(after)}")
    return CheckResult(holds, " ".join(parts))


def _small_gain(found: Found) -> CheckResult:
    high, low = _run(found, *_PERCENT_100, least=1), _run(found, *_PERCENT_25, least=1)
    return _lower(found, high, low, SMALL, 3)


def _long_gain(found: Found) -> CheckResult:
    high, low = _run(found, *_PERCENT_100, least=1), _run(found, *_PERCENT_25, least=1)
    return _lower(found, high, low, LONG, 1)


def _delayed_maps(found: Found) -> CheckResult:
    _run(found, 1)
    others = _run(found, 2, 3, 5, least=1)
    ours, rest = found.of(_RATIO, 1, "type4"), _ratios(found, others, "type4")
    return CheckResult(ours < min(rest), f"{ours:.3g} against {_shown(rest)}")


def _makespan(found: Found, experiment: int, *queues: int) -> float:
    return fmean(found.of("makespan", experiment, "", f"queue{queue}") for queue in queues)


def _same_makespan(found: Found) -> CheckResult:
    ran = _run(found, 1, 2, 3, 4, 5, 6, 7, 8, least=2)
    spans = [_makespan(found, each, queue) for each in ran for queue in (1, 2)]
    spread = max(spans) / min(spans) - 1
    return CheckResult(
        spread < _ALIKE, f"{min(spans):.0f} to {max(spans):.0f} s, {100 * spread:.1f} %"
    )


def _capped_makespan(found: Found) -> CheckResult:
    """Where nothing is capped both queues end together, otherwise one long after the other."""
    parts, holds = [], True
    groups = (((9, 11, 12, 15), 1.0), ((10, 13), 1.4), ((14, 16), 1.45))
    _run(found, 10, 13, least=1)
    for experiments, expected in groups:
        for each in found.ran(*experiments):
            ratio = _makespan(found, each, 2) / _makespan(found, each, 1)
            holds &= abs(ratio - expected) <= _NEAR_RATIO
            parts.append(f"{each}: {ratio:.2f}")
    return CheckResult(holds, " ".join(parts))


def _stolen_slots(found: Found) -> CheckResult:
    _run(found, 12, 14)
    first, second = (
        [found.of(_RATIO, each, "type5", queue) for each in (12, 14)]
        for queue in ("queue1", "queue2")
    )
    holds = first[0] > first[1] and second[0] < second[1]
    return CheckResult(
        holds, f"70 %: {first[0]:.3g}>{first[1]:.3g}, 30 %: {second[0]:.3g}<{second[1]:.3g}"
    )


def _smaller_queue(found: Found) -> CheckResult:
    _run(found, 10)
    factors = [
        found.of(_RATIO, 10, family, "queue2") / found.of(_RATIO, 10, family, "queue1")
        for family in SMALL
    ]
    return CheckResult(min(factors) > 1.9, " ".join(f"{each:.2f}" for each in factors))


def _interleaved(found: Found) -> CheckResult:
    high, low = _run(found, 18, 19, 21, least=1), _run(found, 20, 22, 23, 24, least=1)
    small, late = (
        _lower(found, high, low, ("type5", "type6"), 1.2),
        _lower(found, high, low, ("type7", "type4"), 2),
    )
    before, after = (
        fmean(_makespan(found, each, 1, 2) for each in experiments) for experiments in (high, low)
    )
    return CheckResult(
        small.holds and late.holds and after < before,
        f"{small.figure} {late.figure}, {before:.0f}>{after:.0f} s",
    )


def _caps_apart(found: Found) -> CheckResult:
    _run(found, 25, 26)
    ratios = [found.of(_RATIO, 25, each) / found.of(_RATIO, 26, each) for each in SMALL]
    spans = _makespan(found, 25, 1, 2) / _makespan(found, 26, 1, 2)
    return CheckResult(
        min(ratios) >= 5 and spans >= 2,
        f"ratios /{' /'.join(f'{each:.1f}' for each in ratios)}, makespan /{spans:.1f}",
    )


def _best_apart(found: Found) -> CheckResult:
    _run(found, 26, 30)
    return _lower(found, (26,), (30,), (*SMALL, "type4"), 1)


def _factor_apart(found: Found) -> CheckResult:
    _run(found, 25, 27)
    small, late = (
        [found.of(_RATIO, each, family) for each in (25, 27)] for family in ("type5", "type4")
    )
    return CheckResult(
        small[1] < small[0] and late[1] > late[0],
        f"type5 {small[0]:.3g}>{small[1]:.3g}, type4 {late[0]:.3g}<{late[1]:.3g}",
    )


def _long_makespan(found: Found) -> CheckResult:
    pairs = [pair for pair in ((25, 26), (28, 30)) if len(found.ran(*pair)) == 2]
    if not pairs:
        raise NotRun("without experiments 25, 26, 28, 30")
    changes = [
        _makespan(found, capped, 3, 4) / _makespan(found, free, 3, 4) - 1 for free, capped in pairs
    ]
    return CheckResult(
        max(map(abs, changes)) < _ALIKE, " ".join(f"{100 * each:+.1f} %" for each in changes)
    )


def _variation(found: Found) -> CheckResult:
    high, low = _run(found, *_PERCENT_100, least=1), _run(found, *_PERCENT_25, least=1)
    parts, holds = [], True
    for family in ("type6", "type7"):
        before, after = (
            fmean(found.of("variation", each, family) for each in experiments)
            for experiments in (high, low)
        )
        holds &= after > before
        parts.append(f"{before:.2f}<{after:.2f}")
    return CheckResult(holds, " ".join(parts))


def _apart_beats_together(found: Found) -> CheckResult:
    _run(found, 22, 30)
    return _lower(found, (22,), (30,), SMALL, 1)


TARGETS: tuple[Target, ...] = (
    Target(
        "R1",
        "The part of rack-local maps falls with the number of maps, whatever the settings",
        "6.1, 6.6, 6.7, 6.13, 6.17",
        _locality,
    ),
    Target(
        "R2",
        "A minimum user limit of 25 % lowers the response ratio of small jobs, by 3 or more",
        "6.3",
        _small_gain,
    ),
    Target("R3", "It lowers that of long jobs", "6.2", _long_gain),
    Target(
        "R4",
        "Without caps and with a user limit factor of 1, maps of type 4 begin early",
        "6.2",
        _delayed_maps,
    ),
    Target("R5", "With 50-50 the makespan is the same, within 5 %", "6.5", _same_makespan),
    Target(
        "R6",
        "With 70-30 it is, too; with caps the second queue takes 1.4 times as long",
        "6.12",
        _capped_makespan,
    ),
    Target(
        "R7",
        "With 25 %, caps help small jobs of the queue of 70 % and harm those of 30 %",
        "6.8, 6.9",
        _stolen_slots,
    ),
    Target(
        "R8",
        "Capped, small jobs fare 1.9 times as badly in the queue of 30 %",
        "6.8, 6.9",
        _smaller_queue,
    ),
    Target(
        "R9",
        "Interleaved, 25 % lowers the response ratio of late types, and the makespan a little",
        "6.14, 6.16",
        _interleaved,
    ),
    Target(
        "R10",
        "With queues of their own, caps help small jobs by 5 and more, their makespan by 2",
        "6.18, 6.20",
        _caps_apart,
    ),
    Target("R11", "Caps and 25 % are best for them, and help type 4", "6.18", _best_apart),
    Target(
        "R12",
        "Without caps, a user limit factor of 2 helps small jobs and harms type 4",
        "6.18",
        _factor_apart,
    ),
    Target(
        "R13", "Caps do not move the makespan of long queues, within 5 %", "6.20", _long_makespan
    ),
    Target("R14", "25 % makes execution times of types 6 and 7 vary more", "6.4", _variation),
    Target(
        "R15",
        "Queues of their own, caps and 25 % beat one queue and 25 % for small jobs",
        "6.14, 6.18",
        _apart_beats_together,
    ),
)
"""What the tables of makespans, ratios and locality say."""


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

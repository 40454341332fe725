"""What is published of MapReduce jobs with deadlines, held against our figures, cell by cell.

Lim, PhD thesis, Carleton University. Runs here are shorter than his, so that most of this is by
shape: where bounds are wide, they say so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reproductions.deadlines.cells import (
    DeadlinePart,
    average_cell,
    decision_time_part,
    distance_of,
    half_as_much_less,
    trend_cell,
)
from reproductions.deadlines.running import (
    BUDGETS,
    COMPARED_RATES,
    CONSTRAINTS,
    EARLIEST,
    FACEBOOK_RATES,
    HANDLING,
    MINIMUM,
    PRODUCT,
    PROGRAMMED,
    SEARCHED,
    WORD_COUNT_INTERVALS,
    Figures,
    FoundDeadlines,
    compared_name,
    earliest_name,
    error_name,
    facebook_name,
    hadoop_name,
    published_deadlines,
    sweep_name,
    word_count_name,
)
from reproductions.framework import Checked


def deadline_parts(found: FoundDeadlines) -> tuple[DeadlinePart, ...]:
    """Compare all that has been run; parts of which nothing was run are left out."""
    every = (
        DeadlinePart(
            "MRCP-RM, one factor at a time (sections 4.5, 4.6, Figures 4.5 to 4.16)",
            f"P within {_POINT:g} point or a half of what is printed; trends from the first to the "
            "last level, where as much does not count, and flat is within 10 %; O by T as "
            "published, by the wall clock of another machine",
            tuple(_sweeps(found)),
        ),
        DeadlinePart(
            "MRCP-RM and MinEDF-WC, jobs like those at Facebook (section 4.5)",
            "P less with MRCP-RM, and by half as much as published on average; T within 10 % of "
            "each other",
            tuple(_facebook(found)),
        ),
        DeadlinePart(
            "MRCP-RM and WFBB-RM (section 7.6, appendix D.IV)",
            "which of the two is less; O by half as much as published on average; T within 10 % of "
            "each other",
            tuple(_budgets(found)),
        ),
        DeadlinePart(
            "HCP-RM and EDF on Hadoop (sections 5.6, 5.8, Figures 5.5 to 5.12)",
            "less or more with HCP-RM, as published, and by half as much as published on average; "
            "trends from the first to the last level, where as much does not count, and flat is "
            "within 10 %",
            tuple(_earliest(found)),
        ),
        DeadlinePart(
            "Errors of estimates: HCP-RM without (H) and with (EH) PSEH (Tables 6.1, 6.2)",
            f"P within {_POINTS:g} points or a half; T, by the T of its column where nobody is "
            "wrong, within a fourth",
            tuple(_tables(found)),
        ),
        DeadlinePart(
            "What these tables and section 6.3 say by shape",
            "as it is said: as much does not count as less, half as much less is enough, and P as "
            "with H is within 2 points",
            tuple(_shapes(found)),
        ),
        DeadlinePart(
            "Errors of estimates by charts (Figures 5.13 to 5.15 and 6.1 to 6.3)",
            "trends of HCP-RM from the first to the last error, where as much does not count; less "
            "with PSEH by half as much as published on average",
            tuple(_charts(found)),
        ),
        decision_time_part(found),
        DeadlinePart(
            "Closed problems: constraint programming and integer programme (section 3.7)",
            "as many late jobs; the other figures greater or less, as published; where it is said "
            "by how much, half to twice that, and more than 100 times is more than 100 times",
            tuple(_batches(found)),
        ),
    )
    return tuple(each for each in every if each.cells)


_POINT, _POINTS, _SAME = 1.0, 5.0, 2.0
_LATE, _TURNAROUND, _PROCESSING = "P %", "T s", "O s"
_LESS = 0.005  # of a ratio, to be less by rounding


def _sweeps(found: FoundDeadlines) -> Iterator[Checked]:
    others = published_deadlines()["others"]
    seen = set()
    for sweep in published_deadlines()["sweeps"]:
        factor, title = sweep["factor"], sweep["title"]
        ran = [level for level in sweep["levels"] if sweep_name(factor, level) in found]
        for level in ran:
            name = sweep_name(factor, level)
            if name in seen:
                continue
            seen.add(name)
            ours = found[name][CONSTRAINTS].late
            printed = sweep["late"].get(f"{level:g}")
            what = f"{title} {level:g}: {_LATE}"
            if printed is None:
                yield Checked(what, f"< {others}", f"{ours:.2f}", ours <= others + _POINT)
            else:
                near = _near(ours, printed, _POINT)
                far = distance_of("P", ours, printed)
                yield Checked(what, f"{printed}", f"{ours:.2f}", near, far)
        ends = [found[sweep_name(factor, level)][CONSTRAINTS] for level in ran]
        if len(ends) > 1:
            first, last = ends[0], ends[-1]
            yield trend_cell(f"{title}: {_LATE}", sweep["trends"]["late"], first.late, last.late)
            times = first.turnaround, last.turnaround
            yield trend_cell(f"{title}: {_TURNAROUND}", sweep["trends"]["turnaround"], *times)
            yield _time_trend(f"{title}: {_PROCESSING}", sweep["trends"]["processing"], ends)
            shares = [100 * each.processing / each.turnaround for each in ends]
            most, printed = max(shares), sweep["overhead"]
            words = f"{most:.3f}"
            yield Checked(f"{title}: most O/T %", f"< {printed}", words, most < printed)


def _facebook(found: FoundDeadlines) -> Iterator[Checked]:
    pairs: list[tuple[float, float]] = []
    for rate in FACEBOOK_RATES:
        if facebook_name(rate) not in found:
            continue
        mine, theirs = (found[facebook_name(rate)][each] for each in (CONSTRAINTS, MINIMUM))
        ours = f"{mine.late:.1f}, MinEDF-WC {theirs.late:.1f}"
        pairs.append((mine.late, theirs.late))
        yield Checked(f"rate {rate:g}: {_LATE}", "lower", ours, mine.late < theirs.late)
        ours = f"{mine.turnaround:.0f}, MinEDF-WC {theirs.turnaround:.0f}"
        near = _alike(mine.turnaround, theirs.turnaround)
        yield Checked(f"rate {rate:g}: {_TURNAROUND}", "similar", ours, near)
    yield from _averages(_LATE, "82 % lower", 82, pairs)


def _averages(
    what: str, published: str, percent: float, pairs: Sequence[tuple[float, float]]
) -> Iterator[Checked]:
    cell = average_cell(what, published, percent, pairs)
    if cell is not None:
        yield cell


def _alike(mine: float, theirs: float) -> bool:
    return abs(mine - theirs) <= 0.1 * theirs


def _time_trend(what: str, direction: str, ends: Sequence[Figures]) -> Checked:
    """Compare what decisions take at the first and the last level, to a tenth of a millisecond."""
    first, last = (each.processing for each in (ends[0], ends[-1]))
    cell = trend_cell(what, direction, first, last)
    return replace(cell, ours=f"{first:.4f} to {last:.4f}")


def _budgets(found: FoundDeadlines) -> Iterator[Checked]:
    said = {
        ("rate", 0.025): (BUDGETS, "37 % lower with WFBB-RM"),
        ("count", 25): (CONSTRAINTS, "29 % lower with MRCP-RM"),
    }
    points = [("rate", "rate", rate) for rate in COMPARED_RATES]
    points += [
        (each["factor"], each["title"], level)
        for each in published_deadlines()["budgets"]
        for level in each["levels"]
    ]
    seen = set()
    times_of: list[tuple[float, float]] = []
    for factor, title, level in points:
        name = compared_name(factor, level)
        if name not in found or name in seen:
            continue
        seen.add(name)
        what = f"{title} {level:g}"
        searched, budgets = found[name][CONSTRAINTS], found[name][BUDGETS]
        lower, words = said.get((factor, level), (CONSTRAINTS, "lower with MRCP-RM"))
        pair = searched.late, budgets.late
        least, other = pair if lower == CONSTRAINTS else pair[::-1]
        ours = f"{searched.late:.2f}, WFBB-RM {budgets.late:.2f}"
        yield Checked(f"{what}: {_LATE}", words, ours, least < other)
        times = searched.turnaround, budgets.turnaround
        ours = f"{times[0]:.0f}, WFBB-RM {times[1]:.0f}"
        near = _alike(*times)
        yield Checked(f"{what}: {_TURNAROUND}", "similar", ours, near)
        ours = f"{searched.processing:.4f}, WFBB-RM {budgets.processing:.4f}"
        less = budgets.processing < searched.processing
        times_of.append((budgets.processing, searched.processing))
        yield Checked(f"{what}: {_PROCESSING}", "lower with WFBB-RM", ours, less)
    yield from _averages(f"{_PROCESSING} with WFBB-RM", "77 to 85 % lower", 77, times_of)


def _earliest(found: FoundDeadlines) -> Iterator[Checked]:
    seen: set[str] = set()
    for factor in published_deadlines()["earliest"]:
        names = {level: earliest_name(factor["factor"], level) for level in factor["levels"]}
        ran = {level: name for level, name in names.items() if name in found}
        for level, name in ran.items():
            if name not in seen:
                yield from _against_earliest(found, factor, level, name)
            seen.add(name)
        yield from _earliest_averages(found, factor, list(ran.values()))
        if len(ran) > 1:
            yield from _earliest_trends(found, factor, list(ran.values()))
    words = {"title": "WordCount, a job in s", "late": 72, "turnaround": 52}
    ran = {each: word_count_name(each) for each in WORD_COUNT_INTERVALS}
    ran = {each: name for each, name in ran.items() if name in found}
    for interval, name in ran.items():
        yield from _against_earliest(found, words, interval, name)
    yield from _earliest_averages(found, words, list(ran.values()))


def _late_of(each: Figures) -> float:
    return each.late


def _turnaround_of(each: Figures) -> float:
    return each.turnaround


_COMPARED: Mapping[str, tuple[str, Callable[[Figures], float]]] = {
    "late": (_LATE, _late_of),
    "turnaround": (_TURNAROUND, _turnaround_of),
}
"""What is compared with EDF, and with and without PSEH: how it is called in `published.toml`."""


def _against_earliest(
    found: FoundDeadlines, factor: Mapping[str, Any], level: float, name: str
) -> Iterator[Checked]:
    """Compare HCP-RM with EDF at one level of a factor."""
    mine, theirs = found[name][PRODUCT], found[name][EARLIEST]
    worse = factor.get("worse", {}).get(f"{level:g}")
    for figure, (heading, of) in _COMPARED.items():
        what = f"{factor['title']} {level:g}: {heading}"
        ours = f"{of(mine):.1f}, EDF {of(theirs):.1f}"
        if worse is None:
            yield Checked(what, "lower", ours, of(mine) < of(theirs))
        elif figure == "late":
            far = distance_of("P", mine.late, worse[0])
            said = f"{worse[0]}, EDF {worse[1]}"
            yield Checked(what, said, ours, mine.late > theirs.late, far)


def _earliest_averages(
    found: FoundDeadlines, factor: Mapping[str, Any], names: Sequence[str]
) -> Iterator[Checked]:
    """Compare by how much HCP-RM has less than EDF on average, where that is published."""
    for figure, (heading, of) in _COMPARED.items():
        if figure in factor:
            percent, what = factor[figure], f"{factor['title']}: {heading}"
            pairs = [(of(found[name][PRODUCT]), of(found[name][EARLIEST])) for name in names]
            yield from _averages(what, f"{percent} % lower", percent, pairs)


def _earliest_trends(
    found: FoundDeadlines, factor: Mapping[str, Any], names: Sequence[str]
) -> Iterator[Checked]:
    """Compare the trends of HCP-RM along a factor; what EDF takes is not measured on Hadoop."""
    ends = [found[name][PRODUCT] for name in names]
    title, trends = factor["title"], factor["trends"]
    if "late" in trends:
        yield trend_cell(f"{title}: {_LATE}", trends["late"], ends[0].late, ends[-1].late)
    if "turnaround" in trends:
        times = ends[0].turnaround, ends[-1].turnaround
        yield trend_cell(f"{title}: {_TURNAROUND}", trends["turnaround"], *times)
    yield _time_trend(f"{title}: {_PROCESSING}", trends["processing"], ends)


_MANAGERS = {"H": PRODUCT, "EH": HANDLING}


def _tables(found: FoundDeadlines) -> Iterator[Checked]:
    tables = published_deadlines()["tables"]
    base = tables["errors"].index(0.0)
    for interval in tables["intervals"]:
        for short, manager in _MANAGERS.items():
            column = f"{interval} {short}"
            for place, error in enumerate(tables["errors"]):
                if hadoop_name(interval, error) not in found:
                    continue
                ours = found[hadoop_name(interval, error)][manager]
                what = f"1/{interval} {short}, f = {error:g}"
                printed = tables["late"][column][place]
                near = _near(ours.late, printed, _POINTS)
                far = distance_of("P", ours.late, printed)
                yield Checked(f"{what}: {_LATE}", f"{printed}", f"{ours.late:.1f}", near, far)
                times = tables["turnaround"][column]
                if place == base:
                    continue
                printed = times[place] / times[base]
                right = found[hadoop_name(interval, 0.0)][manager].turnaround
                ratio = ours.turnaround / right
                near = abs(ratio / printed - 1) <= 0.25
                yield Checked(
                    f"{what}: T by that of f = 0",
                    f"{printed:.2f} of {times[base]} s",
                    f"{ratio:.2f} of {right:.0f} s",
                    near,
                    distance_of("T", ours.turnaround, times[place]),
                )


def _shapes(found: FoundDeadlines) -> Iterator[Checked]:
    tables = published_deadlines()["tables"]
    for interval in tables["intervals"]:
        errors = [each for each in tables["errors"] if hadoop_name(interval, each) in found]
        if not errors:
            continue
        columns = {
            short: [found[hadoop_name(interval, each)][manager] for each in errors]
            for short, manager in _MANAGERS.items()
        }
        for error, plain, handled in zip(errors, *columns.values(), strict=True):
            ours = f"{handled.late:.1f}, H {plain.late:.1f}"
            what = f"1/{interval}, f = {error:g}: {_LATE} of EH"
            place = tables["errors"].index(error)
            printed = [tables["late"][f"{interval} {short}"][place] for short in _MANAGERS]
            if printed[0] == printed[1]:
                yield Checked(what, "as with H", ours, _same_late(handled.late, plain.late))
            else:
                yield Checked(what, "less than H", ours, handled.late < plain.late)
        plain, handled = columns["H"], columns["EH"]
        yield trend_cell(f"1/{interval} H by f: {_LATE}", "down", plain[0].late, plain[-1].late)
        spread = [each.turnaround for each in handled]
        share = max(spread) / min(spread) - 1
        words = f"{min(spread):.0f} to {max(spread):.0f}"
        yield Checked(f"1/{interval} EH by f: {_TURNAROUND}", "flat", words, share <= 0.2)
        yield from _models(found, interval)


def _same_late(mine: float, other: float) -> bool:
    return abs(mine - other) <= _SAME


def _charts(found: FoundDeadlines) -> Iterator[Checked]:
    """Compare what charts show at every rate, of two of which there are tables too."""
    said, errors = published_deadlines()["errors"], published_deadlines()["tables"]["errors"]
    lines = {
        interval: [
            found[error_name(interval, each)]
            for each in errors
            if error_name(interval, each) in found
        ]
        for interval in said["intervals"]
    }
    for interval, line in lines.items():
        if len(line) < 2:
            continue
        ends = [each[PRODUCT] for each in (line[0], line[-1])]
        what = f"1/{interval} H by f"
        if interval not in published_deadlines()["tables"]["intervals"]:
            shares = ends[0].late, ends[1].late
            yield trend_cell(f"{what}: {_LATE}", said["trends"]["late"], *shares)
            yield _time_trend(f"{what}: {_PROCESSING}", said["trends"]["processing"], ends)
        times = ends[0].turnaround, ends[1].turnaround
        yield trend_cell(f"{what}: {_TURNAROUND}", said["trends"]["turnaround"], *times)
    handled = [line for interval in said["handled"] for line in lines[interval]]
    for figure, percent in said["less"].items():
        heading, of = _COMPARED[figure]
        pairs = [(of(each[HANDLING]), of(each[PRODUCT])) for each in handled]
        yield from _averages(f"EH by H: {heading}", f"{percent} % lower", percent, pairs)
    for interval in said["handled"][:-1]:
        name = error_name(interval, errors[-1])
        if name in found:
            late = found[name][HANDLING].late
            what = f"1/{interval}, f = {errors[-1]:g}: {_LATE} of EH"
            yield Checked(what, "0", f"{late:.1f}", late < _LESS)


def _models(found: FoundDeadlines, interval: int) -> Iterator[Checked]:
    said: dict[str, tuple[str, Callable[[float, float], bool]]] = {
        "feitelson": ("as with H", _same_late),
        "variable": (
            "54 % less than H on average",
            lambda mine, other: half_as_much_less(mine, other, 54),
        ),
    }
    for model, (words, holds) in said.items():
        pair = found.get(hadoop_name(interval, model))
        if pair is None:
            continue
        mine, other = pair[HANDLING], pair[PRODUCT]
        ours = f"{mine.late:.1f}, H {other.late:.1f}"
        what = f"1/{interval} {model}: {_LATE} of EH"
        yield Checked(what, words, ours, holds(mine.late, other.late))


_FAR_MORE = 100
_Times = tuple[str, float, float]
"""What is published, and between what MILP has it so many times."""


def _batches(found: FoundDeadlines) -> Iterator[Checked]:
    much = ">100 times with LINGO", _FAR_MORE, math.inf
    said: dict[str, tuple[_Times, _Times | None]] = {
        "small_1": (much, None),
        "small_2": (much, ("81 % more with CP", 1 / 2.62, 1 / 1.405)),
        "medium": (
            ("375 % more with LINGO", 2.875, 8.5),
            ("13 % more with CP", 1 / 1.26, 1 / 1.065),
        ),
        "large_1": (("more with LINGO", 1, math.inf), ("3 times with LINGO", 2, 5)),
    }
    for name, (time, completion) in said.items():
        if f"batch_{name}" not in found:
            continue
        searched = found[f"batch_{name}"][SEARCHED]
        programmed = found[f"batch_{name}"][PROGRAMMED]
        ours = f"{searched.late:.1f}, MILP {programmed.late:.1f}"
        same = abs(searched.late - programmed.late) < _LESS
        yield Checked(f"{name}: {_LATE}", "as many", ours, same)
        ours = f"{searched.batch:.2f}, MILP {programmed.batch:.2f}"
        yield _times_cell(f"{name}: PO s", time, ours, programmed.batch / searched.batch)
        if completion is not None:
            ours = f"{searched.completion:.0f}, MILP {programmed.completion:.0f}"
            ratio = programmed.completion / searched.completion
            yield _times_cell(f"{name}: C s", completion, ours, ratio)
    if "batch_large_2" in found:
        limited = found["batch_large_2"][SEARCHED].limited
        what, words = "large_2: CP ends at its limit", "never, and not with LINGO at all"
        yield Checked(what, words, f"{limited:g} a job", limited == 0)


def _times_cell(what: str, said: _Times, ours: str, ratio: float) -> Checked:
    """Compare how many times as much MILP has as the search, between two bounds of their own."""
    published, least, most = said
    holds = least < ratio < math.inf if most == math.inf else least <= ratio <= most
    return Checked(what, published, ours, holds)


def _near(ours: float, printed: float, points: float) -> bool:
    return abs(ours - printed) <= max(points, printed / 2)

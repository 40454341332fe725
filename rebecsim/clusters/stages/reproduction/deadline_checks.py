"""What is published of MapReduce jobs with deadlines, held against our figures, cell by cell.

Lim, PhD thesis, Carleton University. Runs here are shorter than his, so that most of this is by
shape: where bounds are wide, they say so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from rebecsim.clusters.stages.reproduction.deadline_cells import (
    DeadlineCell,
    DeadlinePart,
    average_cell,
    distance_of,
    half_as_much_less,
    trend_cell,
)
from rebecsim.clusters.stages.reproduction.deadline_runs import (
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
    SYNTHETIC_INTERVALS,
    WORD_COUNT_INTERVALS,
    Figures,
    FoundDeadlines,
    compared_name,
    facebook_name,
    hadoop_name,
    published_deadlines,
    sweep_name,
    word_count_name,
)
from rebecsim.clusters.stages.reproduction.decision_time_checks import decision_time_part


def deadline_parts(found: FoundDeadlines) -> tuple[DeadlinePart, ...]:
    """Compare all that has been run."""
    return (
        DeadlinePart(
            "MRCP-RM, one factor at a time (sections 4.5, 4.6)",
            f"P within {_POINT:g} point or a half of what is printed; trends from the first to the "
            "last level, where as much does not count, and flat is within 10 %",
            tuple(_sweeps(found)),
        ),
        DeadlinePart(
            "MRCP-RM and MinEDF-WC, jobs like those at Facebook (section 4.5)",
            "P less with MRCP-RM, and by half as much as published on average; T within 10 % of "
            "each other",
            tuple(_facebook(found)),
        ),
        DeadlinePart(
            "MRCP-RM and WFBB-RM (section 7.6)",
            "which of the two is less; O by half as much as published on average; T within 10 % of "
            "each other",
            tuple(_budgets(found)),
        ),
        DeadlinePart(
            "HCP-RM and EDF on Hadoop (sections 5.6, 5.8)",
            "less with HCP-RM, and by half as much as published on average",
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
        decision_time_part(found),
        DeadlinePart(
            "Closed problems: constraint programming and integer programme (section 3.7)",
            "as many late jobs; the other figures greater or less, as published; where it is said "
            "by how much, half to twice that, and more than 100 times is more than 100 times",
            tuple(_batches(found)),
        ),
    )


_POINT, _POINTS, _SAME = 1.0, 5.0, 2.0
_LATE, _TURNAROUND = "P %", "T s"
_LESS = 0.005  # of a ratio, to be less by rounding


def _sweeps(found: FoundDeadlines) -> Iterator[DeadlineCell]:
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
                yield DeadlineCell(what, f"< {others}", f"{ours:.2f}", ours <= others + _POINT)
            else:
                near = _near(ours, printed, _POINT)
                far = distance_of("P", ours, printed)
                yield DeadlineCell(what, f"{printed}", f"{ours:.2f}", near, far)
        ends = [found[sweep_name(factor, level)][CONSTRAINTS] for level in ran]
        if len(ends) > 1:
            first, last = ends[0], ends[-1]
            yield trend_cell(f"{title}: {_LATE}", sweep["trends"]["late"], first.late, last.late)
            times = first.turnaround, last.turnaround
            yield trend_cell(f"{title}: {_TURNAROUND}", sweep["trends"]["turnaround"], *times)


def _facebook(found: FoundDeadlines) -> Iterator[DeadlineCell]:
    pairs: list[tuple[float, float]] = []
    for rate in FACEBOOK_RATES:
        if facebook_name(rate) not in found:
            continue
        mine, theirs = (found[facebook_name(rate)][each] for each in (CONSTRAINTS, MINIMUM))
        ours = f"{mine.late:.1f}, MinEDF-WC {theirs.late:.1f}"
        pairs.append((mine.late, theirs.late))
        yield DeadlineCell(f"rate {rate:g}: {_LATE}", "lower", ours, mine.late < theirs.late)
        ours = f"{mine.turnaround:.0f}, MinEDF-WC {theirs.turnaround:.0f}"
        near = _alike(mine.turnaround, theirs.turnaround)
        yield DeadlineCell(f"rate {rate:g}: {_TURNAROUND}", "similar", ours, near)
    yield from _averages(_LATE, "82 % lower", 82, pairs)


def _averages(
    what: str, published: str, percent: float, pairs: Sequence[tuple[float, float]]
) -> Iterator[DeadlineCell]:
    cell = average_cell(what, published, percent, pairs)
    if cell is not None:
        yield cell


def _alike(mine: float, theirs: float) -> bool:
    return abs(mine - theirs) <= 0.1 * theirs


def _budgets(found: FoundDeadlines) -> Iterator[DeadlineCell]:
    said = {0.025: (BUDGETS, "37 % lower with WFBB-RM")}
    names = {f"rate {rate:g}": (compared_name(rate), rate) for rate in COMPARED_RATES}
    names["25 resources"] = "budgets_count_25", 0.0
    times_of: list[tuple[float, float]] = []
    for title, (name, rate) in names.items():
        if name not in found:
            continue
        searched, budgets = found[name][CONSTRAINTS], found[name][BUDGETS]
        lower, words = said.get(rate, (CONSTRAINTS, "lower with MRCP-RM"))
        if name == "budgets_count_25":
            words = "29 % lower with MRCP-RM"
        pair = searched.late, budgets.late
        least, other = pair if lower == CONSTRAINTS else pair[::-1]
        ours = f"{searched.late:.2f}, WFBB-RM {budgets.late:.2f}"
        yield DeadlineCell(f"{title}: {_LATE}", words, ours, least < other)
        times = searched.turnaround, budgets.turnaround
        ours = f"{times[0]:.0f}, WFBB-RM {times[1]:.0f}"
        near = _alike(*times)
        yield DeadlineCell(f"{title}: {_TURNAROUND}", "similar", ours, near)
        ours = f"{searched.processing:.4f}, WFBB-RM {budgets.processing:.4f}"
        less = budgets.processing < searched.processing
        times_of.append((budgets.processing, searched.processing))
        yield DeadlineCell(f"{title}: O s", "lower with WFBB-RM", ours, less)
    yield from _averages("O s with WFBB-RM", "77 to 85 % lower", 77, times_of)


def _earliest(found: FoundDeadlines) -> Iterator[DeadlineCell]:
    synthetic = [(f"synthetic, 1/{each:g}", hadoop_name(each)) for each in SYNTHETIC_INTERVALS]
    words = [(f"WordCount, 1/{each}", word_count_name(each)) for each in WORD_COUNT_INTERVALS]
    for what, names, late, turnaround in (
        ("synthetic", synthetic, 77, 65),
        ("WordCount", words, 72, 52),
    ):
        for figure, percent, of in (
            (_LATE, late, _late_of),
            (_TURNAROUND, turnaround, _turnaround_of),
        ):
            pairs = []
            for title, name in names:
                if name not in found:
                    continue
                mine, theirs = of(found[name][PRODUCT]), of(found[name][EARLIEST])
                pairs.append((mine, theirs))
                ours = f"{mine:.1f}, EDF {theirs:.1f}"
                yield DeadlineCell(f"{title}: {figure}", "lower", ours, mine < theirs)
            yield from _averages(f"{what}: {figure}", f"{percent} % lower", percent, pairs)


def _late_of(each: Figures) -> float:
    return each.late


def _turnaround_of(each: Figures) -> float:
    return each.turnaround


_MANAGERS = {"H": PRODUCT, "EH": HANDLING}


def _tables(found: FoundDeadlines) -> Iterator[DeadlineCell]:
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
                yield DeadlineCell(f"{what}: {_LATE}", f"{printed}", f"{ours.late:.1f}", near, far)
                times = tables["turnaround"][column]
                if place == base:
                    continue
                printed = times[place] / times[base]
                right = found[hadoop_name(interval, 0.0)][manager].turnaround
                ratio = ours.turnaround / right
                near = abs(ratio / printed - 1) <= 0.25
                yield DeadlineCell(
                    f"{what}: T by that of f = 0",
                    f"{printed:.2f} of {times[base]} s",
                    f"{ratio:.2f} of {right:.0f} s",
                    near,
                    distance_of("T", ours.turnaround, times[place]),
                )


def _shapes(found: FoundDeadlines) -> Iterator[DeadlineCell]:
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
                yield DeadlineCell(what, "as with H", ours, _same_late(handled.late, plain.late))
            else:
                yield DeadlineCell(what, "less than H", ours, handled.late < plain.late)
        plain, handled = columns["H"], columns["EH"]
        yield trend_cell(f"1/{interval} H by f: {_LATE}", "down", plain[0].late, plain[-1].late)
        spread = [each.turnaround for each in handled]
        share = max(spread) / min(spread) - 1
        words = f"{min(spread):.0f} to {max(spread):.0f}"
        yield DeadlineCell(f"1/{interval} EH by f: {_TURNAROUND}", "flat", words, share <= 0.2)
        yield from _models(found, interval)


def _same_late(mine: float, other: float) -> bool:
    return abs(mine - other) <= _SAME


def _models(found: FoundDeadlines, interval: int) -> Iterator[DeadlineCell]:
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
        yield DeadlineCell(what, words, ours, holds(mine.late, other.late))


_FAR_MORE = 100
_Times = tuple[str, float, float]
"""What is published, and between what MILP has it so many times."""


def _batches(found: FoundDeadlines) -> Iterator[DeadlineCell]:
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
        yield DeadlineCell(f"{name}: {_LATE}", "as many", ours, same)
        ours = f"{searched.batch:.2f}, MILP {programmed.batch:.2f}"
        yield _times_cell(f"{name}: PO s", time, ours, programmed.batch / searched.batch)
        if completion is not None:
            ours = f"{searched.completion:.0f}, MILP {programmed.completion:.0f}"
            ratio = programmed.completion / searched.completion
            yield _times_cell(f"{name}: C s", completion, ours, ratio)
    if "batch_large_2" in found:
        limited = found["batch_large_2"][SEARCHED].limited
        what, words = "large_2: CP ends at its limit", "never, and not with LINGO at all"
        yield DeadlineCell(what, words, f"{limited:g} a job", limited == 0)


def _times_cell(what: str, said: _Times, ours: str, ratio: float) -> DeadlineCell:
    """Compare how many times as much MILP has as the search, between two bounds of their own."""
    published, least, most = said
    holds = least < ratio < math.inf if most == math.inf else least <= ratio <= most
    return DeadlineCell(what, published, ours, holds)


def _near(ours: float, printed: float, points: float) -> bool:
    return abs(ours - printed) <= max(points, printed / 2)


def within_count(parts: Sequence[DeadlinePart]) -> tuple[int, int]:
    """Give how many cells of how many are within the bounds."""
    cells = [cell for part in parts for cell in part.cells]
    return sum(cell.holds for cell in cells), len(cells)

"""Published figures of MapReduce jobs with deadlines beside ours, as cells and parts of them.

Table 6.3 of the thesis says what decisions take under errors of estimates, by shape.

Lim, PhD thesis, Carleton University, section 6.3. Both times are by the wall clock, of other
solvers on other machines, so that only ratios are compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from reproductions.deadlines.running import (
    HANDLING,
    PRODUCT,
    FoundDeadlines,
    hadoop_name,
    published_deadlines,
)
from reproductions.framework import Checked, relative_distance


@dataclass(frozen=True, slots=True)
class DeadlinePart:
    """Cells of one part of the thesis.

    Attributes:
        title: of the part, with its sections.
        bounds: what ours have to be, in words.
        cells: that were run.
    """

    title: str
    bounds: str
    cells: tuple[Checked, ...]


def trend_cell(what: str, direction: str, first: float, last: float) -> Checked:
    """Compare the first and the last level of a factor: `up`, `down`, or `flat`, within 10 %."""
    if direction == "flat":
        holds = abs(last - first) <= 0.1 * first
    else:
        holds = last > first if direction == "up" else last < first
    return Checked(what, direction, f"{first:.2f} to {last:.2f}", holds)


def distance_of(figure: str, ours: float, published: float) -> tuple[str, float] | None:
    """Give how far a figure is from the published one, with what it is."""
    found = relative_distance(ours, published)
    return None if found is None else (figure, found)


def average_cell(
    what: str, published: str, percent: float, pairs: Sequence[tuple[float, float]]
) -> Checked | None:
    """Compare by how much the first of two figures is lower on average, which is published.

    Half of that is enough. None where there is no pair whose second figure is not 0.
    """
    shares = [1 - mine / other for mine, other in pairs if other]
    if not shares:
        return None
    lower = 100 * fmean(shares)
    ours = f"{abs(lower):.0f} % {'lower' if lower > 0 else 'higher'}"
    return Checked(f"{what} on average", published, ours, lower >= percent / 2)


def half_as_much_less(mine: float, other: float, percent: float) -> bool:
    """Whether a figure is less than another one by half of a published percentage or more."""
    return mine < other and mine <= other * (1 - percent / 200)


_WITHIN = 2.0
"""Of a ratio of times, by which it may be more or less than the published one."""

_FLAT = 2.1
"""The most of a column that is called nearly flat by its least, as in Table 6.3 itself."""

_SHORT = {PRODUCT: "H", HANDLING: "EH"}


def decision_time_part(found: FoundDeadlines) -> DeadlinePart:
    """Compare what decisions take for each job."""
    return DeadlinePart(
        "Time of decisions under errors of estimates (Table 6.3, section 6.3)",
        f"by that of f = 0 of its column within a factor of {_WITHIN:g}; EH more or less than H as "
        "published, and where it is said by how much, by half of that; nearly flat is up to "
        f"{_FLAT:g} times, as in the published columns",
        tuple(_cells(found)),
    )


def _cells(found: FoundDeadlines) -> Iterator[Checked]:
    tables = published_deadlines()["tables"]
    for interval in tables["intervals"]:
        places = [
            place
            for place, error in enumerate(tables["errors"])
            if hadoop_name(interval, error) in found
        ]
        if places:
            yield from _columns(found, interval, places)
            yield from _models(found, interval)


def _columns(found: FoundDeadlines, interval: int, places: list[int]) -> Iterator[Checked]:
    tables = published_deadlines()["tables"]
    errors, base = tables["errors"], tables["errors"].index(0.0)
    printed = {
        manager: tables["processing"][f"{interval} {short}"] for manager, short in _SHORT.items()
    }
    ours = {
        manager: {
            place: found[hadoop_name(interval, errors[place])][manager].processing
            for place in places
        }
        for manager in _SHORT
    }
    for manager, short in _SHORT.items():
        for place in places:
            if place != base:
                yield _by_base(
                    f"1/{interval} {short}, f = {errors[place]:g}: O by that of f = 0",
                    (printed[manager][place], printed[manager][base]),
                    (ours[manager][place], ours[manager][base]),
                )
    for place in places:
        plain, handled = (ours[manager][place] for manager in _SHORT)
        is_more = printed[HANDLING][place] > printed[PRODUCT][place]
        yield Checked(
            f"1/{interval}, f = {errors[place]:g}: O s of EH",
            "more than H" if is_more else "less than H",
            f"{handled:.3f}, H {plain:.3f}",
            handled > plain if is_more else handled < plain,
        )
    first, last = (ours[PRODUCT][place] for place in (places[0], places[-1]))
    yield trend_cell(f"1/{interval} H by f: O s", "up", first, last)
    least, most = min(ours[HANDLING].values()), max(ours[HANDLING].values())
    what, words = f"1/{interval} EH by f: O s", f"{least:.3f} to {most:.3f}"
    yield Checked(what, "nearly flat", words, most <= _FLAT * least)


def _by_base(what: str, printed: tuple[float, float], ours: tuple[float, float]) -> Checked:
    """Compare a time with another of its column, both of them (s)."""
    theirs, mine = printed[0] / printed[1], ours[0] / ours[1]
    return Checked(
        what,
        f"{theirs:.2f} of {printed[1]:g} s",
        f"{mine:.2f} of {ours[1]:.3f} s",
        theirs / _WITHIN <= mine <= theirs * _WITHIN,
    )


def _models(found: FoundDeadlines, interval: int) -> Iterator[Checked]:
    for model, percent in (("feitelson", 72), ("variable", 35)):
        pair = found.get(hadoop_name(interval, model))
        if pair is None:
            continue
        plain, handled = (pair[manager].processing for manager in _SHORT)
        yield Checked(
            f"1/{interval} {model}: O s of EH",
            f"{percent} % less than H on average",
            f"{handled:.3f}, H {plain:.3f}",
            half_as_much_less(handled, plain, percent),
        )

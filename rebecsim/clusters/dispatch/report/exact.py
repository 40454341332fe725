"""Exact orders of the cells of a scenario: computed beside a comparison, stored and reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

from rich.console import Group
from rich.text import Text

from rebecsim.clusters.dispatch.configuration import ClusterConfiguration, Configuration
from rebecsim.clusters.dispatch.orders.results import Bounds, ClusterValues, Counted, Extreme
from rebecsim.clusters.dispatch.scenario import Scenario
from rebecsim.exploration.orders import GOALS, Goal
from rebecsim.files import RECORD, LimitError, read_json, write_json, write_text
from rebecsim.report.numbers import text_of
from rebecsim.report.tables import text_table
from rebecsim.studies.cells import Cell, Condition, Section, TextTable, grouped
from rebecsim.studies.estimates import Estimate, estimate
from rebecsim.studies.executors import Executor
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import Plan
from rebecsim.studies.record import ResultsError
from rebecsim.studies.results import Results
from rebecsim.studies.study import PlannedCell
from rebecsim.wording import counted

_FILE = "exact.json"
_FOLDER = "exact"
_WIDE = 0.1
_EXTREMES: Mapping[str, Extreme] = {"least": "minimum", "most": "maximum"}
"""Runs that are written: of the least and of the most deadline misses."""

_TITLES: Mapping[Counted, str] = {
    "deadline_misses": "Deadline misses",
    "completions": "Completed jobs",
    "energy": "Energy",
}
_UNITS: Mapping[Counted, str] = {
    "deadline_misses": "jobs per run",
    "completions": "jobs per run",
    "energy": "joules per run",
}

_NOTES = (
    "Least and Most: what whoever picks the messages of a time unit can bring about on average, "
    "knowing all but what is still to be drawn. Random: the expected value in random order. a..b: "
    "the value lies between them for certain. Exact: up to how many ticks every "
    "state was looked at; exact.csv has the values of these.",
)


def require_exact(plan: Plan) -> None:
    """Raise UserError if exact orders of a plan are not known how to reckon."""
    from rebecsim.clusters.dispatch.orders.states import cluster_of, is_known_by_ticks

    scenario: Scenario = plan.scenario
    for cell in plan.cells:
        configuration = _configuration(cell)
        if is_known_by_ticks(configuration):
            cluster_of(configuration, scenario.ticks, scenario.choice_law, scenario.power)


def reckon(plan: Plan, results: Results, executor: Executor, most_states: int) -> None:
    """Find what all orders of each cell come to, and keep it beside the results."""
    require_exact(plan)
    scenario: Scenario = plan.scenario
    one = partial(_reckoned, scenario=scenario, most_states=most_states)
    found = executor.map(one, [_configuration(cell) for cell in plan.cells])
    kept = dict[str, Any]()
    folder = results.directory / _FOLDER
    for cell, (values, runs) in zip(plan.cells, found, strict=True):
        kept[cell.name] = values
        if runs:
            folder.mkdir(exist_ok=True)
            write_text(folder / f"{cell.name}.rebeca", cell.setup.model_text)
        for name, run in runs.items():
            write_json(folder / f"{cell.name}_{name}.json", run)
    write_json(results.directory / _FILE, {"cells": kept})


def _reckoned(
    configuration: ClusterConfiguration, scenario: Scenario, most_states: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give the values of a cell, and runs of the least and the most misses where these differ."""
    # Reports need no compiled code.
    from rebecsim.clusters.dispatch.orders.states import is_known_by_ticks

    if is_known_by_ticks(configuration):
        values, run_of = _by_ticks(configuration, scenario, most_states)
    else:
        values, run_of = _by_messages(configuration, scenario, most_states)
    runs = {name: run_of(goal) for name, goal in _EXTREMES.items() if _differs(values)}
    return values.to_json(), {name: run for name, run in runs.items() if run is not None}


def _differs(values: ClusterValues) -> bool:
    """Whether orders come to different deadline misses, as far as all is known."""
    if not values.known_ticks:
        return False
    misses = values.at(values.known_ticks)["deadline_misses"]
    return misses["minimum"].low < misses["maximum"].high


def _by_ticks(
    configuration: Configuration, scenario: Scenario, most_states: int
) -> tuple[ClusterValues, Callable[[Extreme], dict[str, Any] | None]]:
    """Give the values of a cluster whose policy is known, and what gives runs."""
    from rebecsim.clusters.dispatch.orders.replaying import extreme_run
    from rebecsim.clusters.dispatch.orders.solving import states_of, values_over

    law, power = scenario.choice_law, scenario.power
    found = states_of(configuration, scenario.ticks, law, power, most_states)

    def run_of(goal: Extreme) -> dict[str, Any] | None:
        run = extreme_run(found, configuration, goal, law=law, seed=scenario.seed)
        return None if run is None else run.run.to_json()

    return values_over(found), run_of


def _by_messages(
    configuration: ClusterConfiguration, scenario: Scenario, most_states: int
) -> tuple[ClusterValues, Callable[[Extreme], dict[str, Any] | None]]:
    """Give the values of any other cluster, and what gives runs."""
    from rebecsim.clusters.dispatch.orders.messages import MessageCluster, message_orders
    from rebecsim.clusters.dispatch.study import model_source

    source = model_source(configuration, asserting=False)
    law, power = scenario.choice_law, scenario.power
    cluster = MessageCluster(configuration, source, scenario.ticks, law, power)
    found = message_orders(cluster, most_states)
    return found.values(), partial(found.run, seed=scenario.seed)


def _configuration(cell: PlannedCell) -> ClusterConfiguration:
    configuration = cell.setup.configuration
    assert isinstance(configuration, ClusterConfiguration)
    return configuration


def stored_exact(plan: Plan, results: Results) -> dict[Cell, ClusterValues]:
    """Read what was reckoned; nothing where nothing was. Raises ResultsError if it is damaged."""
    file = results.directory / _FILE
    try:
        cells = read_json(file, limit=RECORD, plain=True)["cells"]
        return {each.cell: ClusterValues.from_json(cells[each.name]) for each in plan.cells}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, LimitError) as error:
        raise ResultsError(
            f"{file} is damaged; `rebecsim compare` with --resume --exact computes it again"
        ) from error


def exact_sections(
    plan: Plan, results: Results, moments: Sequence[CellMoments]
) -> Iterator[Section]:
    """Show the values over all orders beside the sampled ones, where they were computed."""
    exact = stored_exact(plan, results)
    if not exact:
        return
    names = _names(plan)
    misses = plan.study.measures(plan.scenario)[0]
    sampled = {each.cell: estimate(misses, [each]) for each in moments}
    sentences = answers_in_words(exact, names)
    tables = [_table(exact, names, each, sampled) for each in next(iter(exact.values())).values]
    check = _check(plan, exact, sampled)
    notes = (*_NOTES, *([check] if check else []))
    yield Section(
        name="exact",
        title="All orders of messages",
        sentences=sentences,
        tables=tuple(tables),
        notes=notes,
        files={"exact.csv": _csv(exact)},
        terminal=Group(
            *map(Text, sentences),
            text_table(tables[0]),
            *(Text(note, style="dim") for note in notes),
        ),
    )


def _names(plan: Plan) -> dict[Condition, str]:
    """Call conditions by what they differ in."""
    conditions = list(dict.fromkeys(cell.cell.condition for cell in plan.cells))
    varying = [
        name
        for name, _ in conditions[0].coordinates
        if name != "app_masters" and len({each[name] for each in conditions}) > 1
    ]
    return {each: _name(each, varying) for each in conditions}


def _name(condition: Condition, varying: Sequence[str]) -> str:
    count = condition["app_masters"]
    text = f"at {count} AppMaster{'' if count == 1 else 's'}"
    return ", ".join([text, *(f"{name} {condition[name]}" for name in varying)])


def _table(
    exact: Mapping[Cell, ClusterValues],
    names: Mapping[Condition, str],
    counted: Counted,
    sampled: Mapping[Cell, Estimate],
) -> TextTable:
    """A row for each cell, those of one condition together."""
    rows = []
    with_samples = counted == "deadline_misses"
    for cell in sorted(exact, key=lambda each: list(names).index(each.condition)):
        worth = exact[cell].values[counted]
        texts = [_bounds(worth[goal]) for goal in GOALS]
        if with_samples:
            texts.append(shown(sampled[cell].value, 2))
        where = names[cell.condition].removeprefix("at ").replace("AppMaster", "AM")
        known = "all" if exact[cell].is_exact else str(exact[cell].known_ticks)
        rows.append((where, (cell.policy, *texts, known)))
    headings = ("", "Policy", "Least", "Random", "Most")
    last = ("Sampled", "Exact") if with_samples else ("Exact",)
    title = f"{_TITLES[counted]} over all orders, {_UNITS[counted]}"
    return TextTable(title, (*headings, *last), tuple(rows))


def _bounds(bounds: Bounds) -> str:
    low, high = shown(bounds.low, 2), shown(bounds.high, 2)
    if low == high:
        return low
    decimals = 2 if bounds.high - bounds.low < _WIDE else 1  # so that 80 columns are enough
    return f"{shown(bounds.low, decimals)}..{shown(bounds.high, decimals)}"


def _check(
    plan: Plan, exact: Mapping[Cell, ClusterValues], sampled: Mapping[Cell, Estimate]
) -> str:
    """Say in how many cells the sampled interval has the exact value."""
    if plan.scenario.order != "random":
        return ""
    cells = [cell for cell, each in exact.items() if each.is_exact]
    known = [(cell, sampled[cell].half_width) for cell in cells]
    inside = 0
    tested = 0
    for cell, half_width in known:
        if half_width is None:
            continue
        value = exact[cell].values["deadline_misses"]["expected"].low
        tested += 1
        inside += abs(sampled[cell].value - value) <= half_width + 1e-9
    if not tested:
        return ""
    return (
        f"The sampled 95 % interval has the exact expected value in {inside} of {tested} cells; in "
        "one of twenty it has not, by chance."
    )


def _csv(exact: Mapping[Cell, ClusterValues]) -> str:
    """One line for each cell, number of ticks and figure.

    Columns: `policy`, the coordinates, `ticks`, `figure`, and for each goal its lower and upper
    bound, which are equal where the value is exact.
    """
    coordinates = [name for name, _ in next(iter(exact)).condition.coordinates]
    bounds = [f"{goal}_{side}" for goal in GOALS for side in ("low", "high")]
    rows = list[list[str]]()
    for cell, values in exact.items():
        where = [str(value) for _, value in cell.condition.coordinates]
        for ticks in (*values.by_ticks, values.ticks):
            for name, goals in values.at(ticks).items():
                ends = [repr(end) for goal in GOALS for end in _ends(goals, goal)]
                rows.append([cell.policy, *where, str(ticks), name, *ends])
    return text_of(["policy", *coordinates, "ticks", "figure", *bounds], rows)


def _ends(goals: Mapping[Goal, Bounds], goal: Goal) -> tuple[float, float]:
    return goals[goal].low, goals[goal].high


_ROUNDING = 1e-9
"""By how much values that are the same may differ, for each unit of them."""

_MOST_DECIMALS = 9


@dataclass(frozen=True)
class _Kind:
    """How policies are compared by a figure.

    Attributes:
        more_is_better: whether the policy with more of it is the better one.
        claim: what no order lets the worse policy do, with a place for the better one.
        by: what the comparison is by.
        unit: behind the values.
    """

    more_is_better: bool
    claim: str
    by: str
    unit: str = ""


_KINDS: Mapping[Counted, _Kind] = {
    "deadline_misses": _Kind(False, "miss fewer deadlines than {}", "deadline misses"),
    "completions": _Kind(True, "complete more jobs than {}", "completed jobs"),
    "energy": _Kind(False, "take less energy than {}", "energy", " J"),
}


@dataclass(frozen=True)
class _Decided:
    """One policy is better than another by a figure in every order, up to a tick.

    Attributes:
        policies: the better one first; `spans` are theirs, from the least to the most.
        ticks: the last one, where it is not that of the runs.
        is_exact: whether the spans are; else they hold the true ones.
    """

    policies: tuple[str, str]
    spans: tuple[Bounds, Bounds]
    condition: Condition
    ticks: int | None
    is_exact: bool


def answers_in_words(
    exact: Mapping[Cell, ClusterValues], names: Mapping[Condition, str]
) -> tuple[str, ...]:
    """Say which policy is better than which in every order, by each figure where that is decided.

    Policies are compared up to the last tick, or if that does not decide, up to the last one up to
    which both are known exactly. `names` are what conditions are called.
    """
    pairs = list(_pairs(exact))
    if not pairs:
        return ()
    sentences, decided = list[str](), dict[Counted, int]()
    for figure in next(iter(exact.values())).values:
        tried = (_decided(first, second, exact, figure) for first, second in pairs)
        found = [each for each in tried if each]
        kind = _KINDS[figure]
        for policies, places in grouped(found, lambda each: each.policies).items():
            sentences.append(_sentence(policies, places, names, kind))
        decided[figure] = len(found)
    return (*sentences, _count(decided, len(pairs)))


def _pairs(exact: Mapping[Cell, ClusterValues]) -> Iterator[tuple[Cell, Cell]]:
    for cells in grouped(exact, lambda cell: cell.condition).values():
        yield from combinations(cells, 2)


def _decided(
    first: Cell, second: Cell, exact: Mapping[Cell, ClusterValues], figure: Counted
) -> _Decided | None:
    both = exact[first], exact[second]
    shared = set(both[0].by_ticks) & set(both[1].by_ticks)
    last = both[0].ticks
    for ticks in (last, *([max(shared)] if shared else [])):
        known = [each.at(ticks) for each in both]
        if not all(figure in each for each in known):
            continue
        worth = [each[figure] for each in known]
        spans = [Bounds(each["minimum"].low, each["maximum"].high) for each in worth]
        for less, more in ((0, 1), (1, 0)):
            if not _is_less(spans[less].high, spans[more].low):
                continue
            better, worse = (more, less) if _KINDS[figure].more_is_better else (less, more)
            return _Decided(
                policies=((first, second)[better].policy, (first, second)[worse].policy),
                spans=(spans[better], spans[worse]),
                condition=first.condition,
                ticks=None if ticks == last else ticks,
                is_exact=all(_is_exact(each) for each in worth),
            )
    return None


def _is_less(value: float, other: float) -> bool:
    return other - value > _ROUNDING * max(1.0, abs(value), abs(other))


def _is_exact(worth: Mapping[Goal, Bounds]) -> bool:
    return worth["minimum"].is_exact and worth["maximum"].is_exact


def shown(value: float, decimals: int) -> str:
    """Write a number with so many decimals, 0 without a sign."""
    return f"{value + 0.0:,.{decimals}f}".replace("-0." + "0" * decimals, "0." + "0" * decimals)


def _sentence(
    policies: tuple[str, str],
    places: Sequence[_Decided],
    names: Mapping[Condition, str],
    kind: _Kind,
) -> str:
    better, worse = policies
    where = "; ".join(_place(each, names[each.condition], kind.unit) for each in places)
    return f"In no order of messages does {worse} {kind.claim.format(better)} {where}."


def _place(decided: _Decided, name: str, unit: str) -> str:
    decimals = _separating(decided.spans)
    better, worse = (
        f"{policy} {_span(span, decimals)}{unit}"
        for policy, span in zip(decided.policies, decided.spans, strict=True)
    )
    ticks = f" in the first {decided.ticks} ticks" if decided.ticks else ""
    known = "exact" if decided.is_exact else "up to bounds"
    return f"{name}{ticks}: {better}, {worse} ({known})"


def _separating(spans: tuple[Bounds, Bounds]) -> int:
    """Give with how many decimals one can see that two spans have nothing in common."""
    less, more = sorted(spans, key=lambda each: each.low)
    return next(
        (
            decimals
            for decimals in range(1, _MOST_DECIMALS)
            if round(less.high, decimals) < round(more.low, decimals)
        ),
        _MOST_DECIMALS,
    )


def _span(span: Bounds, decimals: int) -> str:
    low, high = shown(span.low, decimals), shown(span.high, decimals)
    return low if low == high else f"{low} to {high}"


def _count(decided: Mapping[Counted, int], compared: int) -> str:
    if all(number == compared for number in decided.values()):
        return "So all comparisons of two policies are decided, whatever the order."
    of = counted(compared, "comparison")
    numbers = [f"{number or 'none'} by {_KINDS[each].by}" for each, number in decided.items()]
    return (
        f"Of {of} of two policies, these are decided whatever the order: {', '.join(numbers)}. In "
        "the others some order may favour either, both come to the same, or too little is known."
    )

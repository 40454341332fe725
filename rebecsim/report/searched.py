"""Show what a search has found: the best candidate, or which parameters matter."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from rebecsim.metrics import Metric
from rebecsim.report.figures import BLUE, GREY, legend_below, new_figure, plain_axes
from rebecsim.report.numbers import column_heading, display_scale, level_text, text_of
from rebecsim.report.tables import text_table
from rebecsim.search.sensitivity import (
    Effect,
    Ranged,
    Screening,
    Sensitivity,
    explain,
)
from rebecsim.search.space import Candidate, Space, StoredCounts
from rebecsim.search.tuning import FEWEST, Choice, Standing, choose
from rebecsim.studies.cells import Answered, Picture, Section, TextTable
from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results
from rebecsim.studies.running import PlannedRun, StudyRunner
from rebecsim.studies.study import PlannedCell
from rebecsim.studies.sweeps import shown_value
from rebecsim.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_ROWS = 12
"""Candidates that a terminal and a picture show."""

_MOST_NAMED = 4
_MOST_COLUMNS = 4
"""Parameters that have columns of their own."""


def search(run: PlannedRun, runner: StudyRunner) -> None:
    """Make the runs that a plan's question asks for. Raises as `choose` and `run_plans`."""
    plan = run.plan
    if plan.search["what"] != "tune":
        runner.run([run])
        return

    def rounds(do: Callable[[PlannedRun], None]) -> Choice:
        def more(cells: Sequence[PlannedCell], runs: int) -> None:
            do(replace(run, plan=replace(plan, cells=tuple(cells)), replications=runs))

        return choose(plan, plan.search, StoredCounts(run.results), more)

    runner.run_in_steps(run, rounds)


def search_section(plan: Plan, results: Results) -> Section:
    """Show the answer to a plan's question; all runs must be there. Raises ResultsError."""
    if plan.search["what"] != "tune":
        found = explain(plan, plan.search, StoredCounts(results))
        if isinstance(found, Sensitivity):
            return _sensitivity_section(found)
        return _screening_section(found)
    return _choice_section(choose(plan, plan.search, StoredCounts(results)))


def _figure(metric: Metric, value: float, decimals: int, sign: str = "") -> str:
    if math.isnan(value):
        return "undefined"
    percent = " %" if metric.is_share else ""
    return f"{display_scale(metric) * value:{sign},.{decimals}f}{percent}"


def _pooled_note(space: Space) -> tuple[str, ...]:
    if not space.pooled:
        return ()
    names = ", ".join(each.replace("_", " ") for each in space.pooled)
    return (f"Figures are averages over {names}, each value with the same weight.",)


# --- the best candidate --------------------------------------------------------------------------


def choice_lines(choice: Choice) -> Answered:
    """Say which candidate is best, how sure that is, and what was not told apart."""
    metric, first = choice.metric, choice.standings[0]
    how = "lowest" if choice.question["better"] == "lower" else "highest"
    value = _figure(metric, first.value, _places(choice.metric))
    unit = "" if metric.is_share or not metric.unit else f" {metric.unit}"
    about = f"Best of {len(choice.standings)}: {first.candidate.name}"
    if choice.tied:
        about += f", tied with {len(choice.tied)}"
    lines = [f"{how.capitalize()} {_in_a_sentence(metric)}: {value}{unit}."]
    alike, total = choice.not_told_apart, len(choice.standings)
    if choice.tied:
        lines.append(_tie(choice))
    if not choice.space.is_random:
        lines.append("Nothing in these runs is random, so the figures are exact for this input.")
    elif not alike:
        lines.append(
            f"With at least {level_text(choice.level)} confidence, it is the best of all {total}."
        )
    else:
        lines.append(
            f"With at least {level_text(choice.level)} confidence, the best is one of "
            f"{len(alike) + 1} of the {total}."
        )
    others = [each for each in alike if each not in choice.tied]
    if others:
        lines.append(f"Not told apart from it: {_named(others)}.")
    lines.append(f"{choice.used:,} of {choice.question['budget']:,} runs were made.")
    return Answered(about, tuple(lines))


def _tie(choice: Choice) -> str:
    """Say in which runs others were the same as the best; those dropped early had fewer runs."""
    most, fewest = choice.standings[0].runs, min(e.runs for e in choice.standings if e.is_tied)
    if fewest == most:
        return f"The same in every run: {_named(choice.tied)}. Choose by another measure."
    return (
        f"The same in the first {fewest:,} runs: {_named(choice.tied)}. Choose by another measure, "
        "or search again with a larger budget."
    )


def _named(candidates: Sequence[Candidate]) -> str:
    named = "; ".join(each.name for each in candidates[:_MOST_NAMED])
    more = len(candidates) - _MOST_NAMED
    return f"{named}; and {more} more" if more > 0 else named


def choice_table(choice: Choice, most: int | None = None) -> TextTable:
    """A row for each candidate, the best one first; of many, the first `most`."""
    shown = choice.standings[:most]
    decimals, metric = _places(choice.metric), choice.metric
    names = tuple(choice.space.levels)
    apart = len(names) <= _MOST_COLUMNS
    rows = tuple(
        (
            shown_value(each.candidate.values[names[0]]) if apart else each.candidate.name,
            (
                *(map(shown_value, list(each.candidate.values.values())[1:]) if apart else ()),
                f"{each.runs:,}",
                _figure(metric, each.value, decimals),
                _difference(each, metric, decimals),
                "tied" if each.is_tied else each.verdict,
            ),
        )
        for each in shown
    )
    title = f"{column_heading(metric)} of candidates"
    if len(shown) < len(choice.standings):
        title += f" ({len(shown)} of {len(choice.standings):,})"
    headings = names if apart else ("Candidate",)
    return TextTable(title, (*headings, "Runs", metric.title, "To the best", "Verdict"), rows)


def _difference(each: Standing, metric: Metric, decimals: int) -> str:
    if each.verdict == "best":
        return "-"
    text = _figure(metric, each.difference, decimals, "+").removesuffix(" %")
    if not each.half_width:
        return text
    half = _figure(metric, each.half_width, decimals).removesuffix(" %")
    return f"{text}\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{half}"


def _choice_notes(choice: Choice) -> tuple[str, ...]:
    notes = list(_pooled_note(choice.space))
    if not choice.space.is_random:
        return tuple(notes)
    return (
        *notes,
        "Runs were given out by successive rejects (Audibert, Bubeck, Munos 2010): after each "
        "round the worst candidates got no more. All candidates had the same random numbers.",
        f"A candidate is ruled out where Student's one-sided paired test, from {FEWEST} runs on, "
        "finds it worse than the leader of a round. The tests share the risk of "
        f"{100 * (1 - choice.level):g} % (Bonferroni). The ± after a difference is what such a "
        "test needs; a difference without it has too few runs, or none that differ.",
        "The figure of the best candidate is from the runs that chose it, so it tends to be a "
        "little too good. `rebecsim compare` with another --seed gives a fair one.",
    )


def _choice_section(choice: Choice) -> Section:
    answer, notes = choice_lines(choice), _choice_notes(choice)
    metric = choice.metric
    header = ["candidate", *choice.space.levels, "runs", metric.name, "difference", "verdict"]
    rows = [
        [e.candidate.name, *e.candidate.values.values(), e.runs, e.value, e.difference, e.verdict]
        for e in choice.standings
    ]
    picture = Picture(
        "candidates",
        f"{metric.title}: which candidate is {'lowest' if _is_lower(choice) else 'highest'}?",
        "Filled: the best. Hatched: not told apart from it. Empty: ruled out.",
        partial(candidates_figure, choice),
    )
    return Section(
        name="search",
        title="Search",
        answer=(answer,),
        tables=(choice_table(choice),),
        pictures=(picture,),
        notes=notes,
        files={"candidates.csv": text_of(header, rows)},
        terminal=_terminal(answer, choice_table(choice, _MOST_ROWS), notes),
    )


def _is_lower(choice: Choice) -> bool:
    return choice.question["better"] == "lower"


def _terminal(answer: Answered, table: TextTable, notes: Sequence[str]) -> Group:
    lines = (Text(f"  {each}") for each in answer.lines)
    quiet = (Text(each, style="dim") for each in notes[:2])
    return Group(Text(answer.about, style="bold"), *lines, "", text_table(table), *quiet)


def candidates_figure(choice: Choice) -> Figure:
    """Draw a bar for each of the first candidates, as black and white shows it, too."""
    shown = [each for each in choice.standings[:_MOST_ROWS] if not math.isnan(each.value)]
    scale = display_scale(choice.metric)
    figure = new_figure(6.4, 1.2 + 0.34 * len(shown))
    axes = figure.subplots()
    looks: dict[str, dict[str, Any]] = {
        "best": {"color": BLUE},
        "not told apart": {"facecolor": "#ffffff", "edgecolor": BLUE, "hatch": "///"},
        "ruled out": {"facecolor": "#ffffff", "edgecolor": GREY},
    }
    for place, each in enumerate(shown):
        bar = axes.barh(place, scale * each.value, 0.7, **looks[each.verdict])
        text = f"{scale * each.value:,.{_places(choice.metric)}f}"
        axes.bar_label(bar, labels=[text], padding=3, fontsize=8)
    plain_axes(axes, "", column_heading(choice.metric), "")
    axes.set_yticks(range(len(shown)), [each.candidate.name for each in shown], parse_math=False)
    axes.grid(axis="y", visible=False)
    axes.margins(x=0.12)
    axes.invert_yaxis()
    return figure


# --- which parameters matter ---------------------------------------------------------------------


def _percent(share: Ranged) -> str:
    """Give an interval in words: "60 to 70 %", "at most 3 %", "nothing"."""
    low, high = round(100 * share.low), math.ceil(100 * share.high)
    if share.high == 0:
        return "nothing"
    return f"{low} to {high} %" if low > 0 else f"at most {high} %"


def effect_sentence(effect: Effect, metric: Metric) -> str:
    """Say what a parameter explains: "policy explains 60 to 70 % of the variance of misses"."""
    figure = _in_a_sentence(metric)
    if effect.is_none:
        return f"{effect.name} has no effect on {figure}: it is the same at all values."
    explains = f"{effect.name} explains {_percent(effect.alone)} of the variance of {figure}"
    if effect.total.value - effect.alone.value > _TOGETHER:
        return f"{explains}; together with the others, {_percent(effect.total)}."
    return f"{explains}."


_TOGETHER = 0.02
"""Difference of total and first-order index from which on a sentence names the total."""


def _in_a_sentence(metric: Metric) -> str:
    return f"{metric.title[:1].lower()}{metric.title[1:]}"


def _parameters_note(space: Space) -> str:
    kinds = ", ".join(
        f"{name} ({counted(len(values), 'value')}"
        + (")" if not isinstance(values[0], str) else ", as categories)")
        for name, values in space.levels.items()
    )
    return (
        f"Parameters: {kinds}. Each value is equally likely. Numbers are levels in ascending "
        "order; names are categories, and their order does not matter."
    )


def _ranges_note(found: Sensitivity | Screening, sample: str) -> str:
    ranges = f"Ranges are {level_text(found.level)} intervals, each for itself."
    if found.runs == 1:
        return f"{ranges} They cover chance in {sample}; each cell was run once."
    return (
        f"{ranges} They cover chance in the runs (a jackknife over {found.runs:,} runs of each "
        f"cell) and in {sample}."
    )


def _sensitivity_section(found: Sensitivity) -> Section:
    metric = found.metric
    sentences = tuple(effect_sentence(each, metric) for each in found.effects)
    if not found.deviation:
        sentences = (f"{metric.title}: the same in all cells, so no parameter has an effect.",)
    answer = Answered(f"What matters for {_in_a_sentence(metric)}", sentences)
    level = level_text(found.level)
    notes = (
        _parameters_note(found.space),
        _ranges_note(found, "SALib's sample (a bootstrap)"),
        "Alone: Sobol's first-order index. In all: the total index, which adds what the parameter "
        "does together with others.",
        *_pooled_note(found.space),
    )
    table = TextTable(
        f"Shares of the variance of {_in_a_sentence(metric)}",
        ("Parameter", "Alone", "Range", "In all", "Range"),
        tuple((each.name, (*_cells(each.alone), *_cells(each.total))) for each in found.effects),
    )
    header = ["parameter", "alone", "alone_low", "alone_high", "total", "total_low", "total_high"]
    rows = [
        [e.name, *(getattr(of, end) for of in (e.alone, e.total) for end in _ENDS)]
        for e in found.effects
    ]
    picture = Picture(
        "sensitivity",
        f"{metric.title}: what explains its variance?",
        "Filled: what a parameter explains alone. Hatched: in all, with what it does together with "
        f"others. Lines: {level} intervals.",
        partial(sensitivity_figure, found),
    )
    return Section(
        name="search",
        title="Sensitivity",
        answer=(answer,),
        tables=(table,),
        pictures=(picture,),
        notes=notes,
        files={"sensitivity.csv": text_of(header, rows)},
        terminal=_terminal(answer, table, notes),
    )


def _cells(share: Ranged) -> tuple[str, str]:
    value, low, high = (f"{100 * each:.1f}" for each in (share.value, share.low, share.high))
    return f"{value} %", f"{low} to {high}"


def sensitivity_figure(found: Sensitivity) -> Figure:
    """Draw two bars for each parameter, with their intervals."""
    bars = {"alone": [e.alone for e in found.effects], "in all": [e.total for e in found.effects]}
    figure, axes = _paired_bars([each.name for each in found.effects], bars, 100)
    plain_axes(axes, "", "share of the variance (%)", "")
    axes.set_xlim(0, 100)
    legend_below(figure, axes)
    return figure


def _paired_bars(
    names: Sequence[str], bars: Mapping[str, Sequence[Ranged]], scale: float
) -> tuple[Figure, Any]:
    """Draw two bars with intervals for each name, as black and white shows them, too."""
    figure = new_figure(6.4, 1.4 + 0.55 * len(names))
    axes = figure.subplots()
    looks: tuple[dict[str, Any], ...] = (
        {"color": BLUE},
        {"facecolor": "#ffffff", "edgecolor": BLUE, "hatch": "///"},
    )
    for number, ((label, each), look) in enumerate(zip(bars.items(), looks, strict=True)):
        at = [place + 0.38 * (number - 0.5) for place in range(len(names))]
        axes.barh(at, [scale * one.value for one in each], 0.34, label=label, **look)
        low, high = ([scale * getattr(one, end) for one in each] for end in ("low", "high"))
        axes.hlines(at, low, high, color="#000000", linewidth=1.2)
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.grid(axis="y", visible=False)
    axes.invert_yaxis()
    return figure, axes


def screening_lines(found: Screening) -> tuple[str, ...]:
    """Rank the parameters in words, and say what Morris's method cannot tell."""
    metric, first = found.metric, found.effects[0]
    figure, total = _in_a_sentence(metric), len(found.space.candidates)
    run = f"{found.candidates:,} of {total:,} combinations"
    if first.is_none:
        return (f"{metric.title}: the same in all runs of {run}, so no effect was seen.",)
    unit = "" if metric.is_share or not metric.unit else f" {metric.unit}"
    lines = []
    for each in found.effects:
        low, value, high = (
            _figure(metric, one, _places(metric))
            for one in (each.size.low, each.size.value, each.size.high)
        )
        if each.is_none:
            lines.append(f"{each.name} had no effect in any run.")
        elif found.is_unimportant(each):
            lines.append(
                f"{each.name} is unimportant: at most {high}{unit}, below a tenth of {first.name}."
            )
        else:
            size = f"{value}{unit} on average ({low.removesuffix(' %')} to {high})"
            open_one = f"Whether {each.name} matters was not decided: it changes it by {size}."
            sure = f"{each.name} changes {figure} by {size}."
            lines.append(sure if each.size.low > 0 else open_one)
    said = f"Morris's method ranks the parameters. It ran {run}."
    return (*lines, f"{said} For shares of the variance, run all by Sobol's method.")


def _places(metric: Metric) -> int:
    return metric.decimals if metric.decimals is not None else 1 if metric.is_share else 2


def _screening_section(found: Screening) -> Section:
    metric, level = found.metric, level_text(found.level)
    answer = Answered(f"What matters for {_in_a_sentence(metric)}", screening_lines(found))
    notes = (
        _parameters_note(found.space),
        f"{_ranges_note(found, 'the trajectories (a jackknife)')} Where they overlap, the order "
        "may be chance.",
        "Mean change: Morris's mu*, how much the figure changes on average when the parameter "
        "alone goes to another value, at least half of its levels away. Spread: sigma, the "
        "standard deviation of these changes with their signs. A spread as large as the mean says "
        "that the change depends on the other parameters, or on the value it starts from. "
        "Unimportant: the mean is surely below a tenth of the largest one.",
        *_pooled_note(found.space),
    )
    scale, decimals = display_scale(metric), _places(metric)

    def cells(one: Ranged) -> tuple[str, str]:
        value, low, high = (
            f"{scale * each:,.{decimals}f}" for each in (one.value, one.low, one.high)
        )
        return value, f"{low} to {high}"

    table = TextTable(
        f"Changes of {_in_a_sentence(metric)}",
        ("Parameter", "Mean change", "Range", "Spread", "Range"),
        tuple((e.name, (*cells(e.size), *cells(e.spread))) for e in found.effects),
    )
    header = ["parameter", "size", "size_low", "size_high", "spread", "spread_low", "spread_high"]
    rows = [
        [e.name, *(getattr(of, end) for of in (e.size, e.spread) for end in _ENDS)]
        for e in found.effects
    ]
    picture = Picture(
        "sensitivity",
        f"{metric.title}: what changes it?",
        f"Filled: mean change. Hatched: spread of the changes. Lines: {level} intervals.",
        partial(screening_figure, found),
    )
    return Section(
        name="search",
        title="Sensitivity",
        answer=(answer,),
        tables=(table,),
        pictures=(picture,),
        notes=notes,
        files={"sensitivity.csv": text_of(header, rows)},
        terminal=_terminal(answer, table, notes),
    )


_ENDS = "value", "low", "high"


def screening_figure(found: Screening) -> Figure:
    """Draw the mean change and the spread of each parameter, with their intervals."""
    bars = {
        "mean change": [each.size for each in found.effects],
        "spread of the changes": [each.spread for each in found.effects],
    }
    scale = display_scale(found.metric)
    figure, axes = _paired_bars([each.name for each in found.effects], bars, scale)
    plain_axes(axes, "", f"change: {column_heading(found.metric)}", "")
    axes.set_xlim(left=0)
    legend_below(figure, axes)
    return figure

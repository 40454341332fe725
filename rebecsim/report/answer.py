"""The answer of a comparison in words, a table of who leads, and how to read the figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from rebecsim.metrics import Metric
from rebecsim.report.numbers import (
    DASH,
    MOST_COLUMNS,
    column_heading,
    decimals_for,
    display_scale,
    level_text,
)
from rebecsim.studies.cells import POLICIES, Compared, Condition, TextTable, Value, grouped
from rebecsim.studies.estimates import SAFE_DISTANCE, Estimate, rests_on_rare_events
from rebecsim.studies.precision import Precision, Reached
from rebecsim.studies.study import Axis
from rebecsim.studies.summary import Answer, Standing, Summary

if TYPE_CHECKING:
    from rebecsim.report.comparison import ReportInput

_MOST_NAMED = 3
"""Conditions of several coordinates that a sentence names; of more it gives the number."""

_MOST_TOGETHER = 3
"""Policies with the same figure that a sentence names; of more it gives the number."""

_MOST_RIVALS = 2
"""Groups of policies of which a sentence says where the difference to them is shown."""


def answer_text(report: ReportInput) -> str:
    """Give the answer of a report, with what must be known before it is read."""
    answer = report.answer
    if len(answer.policies) == len(answer.standings) == 1:
        (row,) = report.summary.rows
        sentence = _estimated(answer.metric, row.estimates[0], report.has_chance)
    else:
        sentence = answer_sentence(answer, report.compared, report.axis)
    return f"{report.caution} {sentence}" if report.caution else sentence


def _estimated(metric: Metric, estimate: Estimate, has_chance: bool) -> str:
    """Say a figure that there is nothing to compare with."""
    if not estimate.is_defined:
        return f"{metric.title}: undefined."
    decimals = decimals_for(metric, [estimate])
    ends = [estimate.value, *(each for each in (estimate.low, estimate.high) if each is not None)]
    value, *interval = (f"{display_scale(metric) * each:,.{decimals}f}" for each in ends)
    percent = " %" if metric.is_share else ""
    unit = percent or (f" {metric.unit}" if metric.unit else "")
    sure = f" ({level_text(estimate.level)} interval {' to '.join(interval)}{percent})"
    return f"{metric.title}: {value}{unit}{sure if interval and has_chance else ''}."


def answer_sentence(answer: Answer, compared: Compared = POLICIES, axis: Axis | None = None) -> str:
    """Say who has the best figure, where, and which differences to others are shown.

    What a difference is not said to be shown of is only what these runs happened to give.
    """
    metric, standings = answer.metric, answer.standings
    if len(answer.policies) == 1:
        named = "conditions" if axis is None else f"values of {axis.name.replace('_', ' ')}"
        return f"{answer.policies[0]} is the only {compared.one}; compare the {named} below."
    places = _Places(tuple(each.condition for each in standings), axis)
    every = places.all_of
    if not any(each.leaders for each in standings):
        return f"{metric.title}: undefined for all {compared.many}{every}."
    if not any(each.others for each in standings if each.leaders):
        return f"{metric.title}: the same for all {compared.many}{every}."
    return f"{_leaders(answer, places, compared)}{_shown(answer, places, compared)}."


def answer_table(answer: Answer, axis: Axis | None = None) -> TextTable:
    """A row for each condition: the figures of all policies, and what is shown of the lead.

    Of many policies, only the best are named.
    """
    metric, policies = answer.metric, answer.policies
    places = _Places(tuple(each.condition for each in answer.standings), axis)
    decimals = metric.decimals if metric.decimals is not None else 1 if metric.is_share else 2
    are_few = len(policies) <= MOST_COLUMNS
    rows = []
    for each in answer.standings:
        texts = [_figure(metric, each, policy, decimals) for policy in each.figures]
        if not are_few:
            best = (_figure(metric, each, p, decimals) for p in each.leaders[:1])
            texts = [", ".join(each.leaders) or DASH, *(best if each.leaders else (DASH,))]
        rows.append((places.label(each.condition), (*texts, _lead(each))))
    columns = policies if are_few else ("Best", column_heading(metric))
    heading = places.noun.capitalize() if places.noun else "Condition"
    title = f"{column_heading(metric)} by {places.noun or 'condition'}"
    return TextTable(title, (heading, *columns, "Significantly better than"), tuple(rows))


def answer_notes(answer: Answer, compared: Compared = POLICIES) -> list[str]:
    """How to read the sentence and the table."""
    tested = [pair for each in answer.standings for pair in each.differences if not pair.is_certain]
    if len(answer.standings) < 2 or not tested:
        return []
    risk = f"{100 * (1 - tested[0].estimate.level):g} %"
    return [
        f"The first sentence tests all {len(tested)} pairs of {compared.many} and conditions "
        f"together (Holm's procedure). The risk of any false claim in it is at most {risk}."
    ]


# --- where ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Places:
    """The conditions that policies are compared under, and their names in sentences."""

    conditions: tuple[Condition, ...]
    axis: Axis | None

    @property
    def _varying(self) -> tuple[str, ...]:
        """The coordinates that conditions differ by."""
        values = grouped(
            (pair for each in self.conditions for pair in each.coordinates), lambda pair: pair[0]
        )
        return tuple(name for name, pairs in values.items() if len(set(pairs)) > 1)

    @property
    def noun(self) -> str:
        """What the conditions are values of; empty where that is several things."""
        names = self._varying
        return self._words(names[0]) if len(names) == 1 else ""

    @property
    def all_of(self) -> str:
        """How to say that something holds everywhere."""
        if len(self.conditions) == 1:
            return ""
        return f" at every {self.noun}" if self._are_numbers else " under every condition"

    @property
    def _are_numbers(self) -> bool:
        varying = self._varying
        return len(varying) == 1 and not any(
            isinstance(each[varying[0]], str) for each in self.conditions
        )

    @property
    def any_of(self) -> str:
        """How to deny that something holds somewhere."""
        return self.all_of.replace(" every ", " any ")

    def of(self, conditions: Sequence[Condition]) -> str:
        """How to say that something holds there."""
        if len(conditions) == len(self.conditions):
            return self.all_of
        if not self.noun:
            if len(conditions) > _MOST_NAMED:
                return f" under {len(conditions)} of {len(self.conditions)} conditions"
            return f" with {_listed([self.label(each) for each in conditions], '; and ', '; ')}"
        if not self._are_numbers:
            return f" with {self.noun} {_listed([self.label(each) for each in conditions])}"
        plural = "" if len(conditions) == 1 else "s"
        return f" at {self.noun}{plural} {_listed(self._runs(conditions))}"

    def label(self, condition: Condition) -> str:
        """Name a condition by what it differs in from others."""
        varying = self._varying
        if len(varying) == 1:
            return _text(condition[varying[0]])
        values = condition.only(varying).coordinates
        return ", ".join(f"{self._words(name)} {_text(value)}" for name, value in values)

    def _runs(self, conditions: Sequence[Condition]) -> list[str]:
        """Name conditions, three and more that follow each other by the first and the last."""
        numbered = ((self.conditions.index(each), each) for each in conditions)
        texts = []
        for _, group in groupby(enumerate(numbered), key=lambda each: each[1][0] - each[0]):
            labels = [self.label(condition) for _, (_, condition) in group]
            texts += [f"{labels[0]} to {labels[-1]}"] if len(labels) > 2 else labels
        return texts

    def _words(self, name: str) -> str:
        along = self.axis is not None and self.axis.coordinate == name
        return (self.axis.name if along and self.axis else name).replace("_", " ")


def _text(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _listed(texts: Sequence[str], last: str = " and ", between: str = ", ") -> str:
    *first, final = texts
    return f"{between.join(first)}{last}{final}" if first else final


# --- who -----------------------------------------------------------------------------------------


def _leaders(answer: Answer, places: _Places, compared: Compared) -> str:
    """The policies with the best figure, by condition."""
    metric, champions = answer.metric, answer.champions
    if champions:
        text = _best(metric, champions, compared) + places.all_of
        shared = [each.condition for each in answer.standings if each.leaders != champions]
        return f"{text}, together with others{places.of(shared)}" if shared else text
    groups = grouped(answer.standings, lambda each: each.leaders if each.others else None)
    # Those without a tie first, in the order of conditions; what has no lead last.
    ranked = sorted(groups.items(), key=lambda each: len(each[0]) if each[0] else math.inf)
    first = ranked[0][0] or ()
    parts: list[str] = []
    for leaders, group in ranked:
        if leaders is None:
            text = "all are equal"
        elif not leaders:
            text = "undefined"
        elif parts:
            short = bool(metric.best) and len(first) == 1
            text = f"{'' if short or len(leaders) > 1 else 'with '}{_together(leaders, compared)}"
        else:
            text = _best(metric, leaders, compared)
        parts.append(text + places.of([each.condition for each in group]))
    return ("; " if any("," in part for part in parts) else ", ").join(parts)


def _best(metric: Metric, leaders: Sequence[str], compared: Compared) -> str:
    if metric.best and len(leaders) == 1:
        return f"{leaders[0]} {metric.best}"
    extreme = "lowest" if metric.better == "lower" else "highest"
    if len(leaders) > 1:
        return f"{metric.title}: {_together(leaders, compared)} for the {extreme}"
    return f"{metric.title}: {extreme} with {leaders[0]}"


def _together(leaders: Sequence[str], compared: Compared) -> str:
    if len(leaders) > _MOST_TOGETHER:
        return f"{len(leaders)} {compared.many} tie"
    return f"{_listed(leaders)} tie" if len(leaders) > 1 else leaders[0]


# --- what is shown -------------------------------------------------------------------------------


def _shown(answer: Answer, places: _Places, compared: Compared) -> str:
    """Say how sure the lead is; follows who has it."""
    standings = [each for each in answer.standings if each.leaders and each.others]
    if not any(each.differences for each in standings):
        return " in these runs, but no difference could be tested"
    if answer.is_certain:
        return ". Nothing is random in the runs, so the differences are exact"
    are_partly_tested = answer.baseline is not None and any(
        each.differences and each.tested != each.others for each in standings
    )
    if answer.champions:
        return _of_rivals(answer, places, "; no other was tested" if are_partly_tested else "")
    end = f", where only differences to {answer.baseline} are tested" if are_partly_tested else ""
    over = "" if are_partly_tested else " over all others"
    if not any(each.behind for each in standings):
        return (
            f" in these runs. No significant difference to another {compared.one} was found"
            f"{places.any_of}{end}"
        )
    shown = [each.condition for each in standings if each.is_shown]
    if len(shown) == len(standings):
        return f". Every lead{over} is significant{end}"
    if not shown:
        return f". No lead{over} is significant{places.any_of}{end}"
    return f". The lead{over} is significant{places.of(shown)} only{end}"


def _of_rivals(answer: Answer, places: _Places, only: str) -> str:
    """Where the differences between who leads and the others are shown, exceptions by name."""
    champions, standings = answer.champions, answer.standings
    rivals = [
        policy
        for policy in answer.policies
        if policy not in champions and any(each.tests(policy, champions) for each in standings)
    ]
    where = {
        rival: tuple(each.condition for each in standings if each.shows(rival, champions))
        for rival in rivals
    }
    if not any(where.values()):
        to, end = (rivals[0], only) if len(rivals) == 1 else ("the others", "")
        return f" in these runs. No significant difference to {to} was found{places.any_of}{end}"
    by_place = grouped(rivals, lambda rival: where[rival])
    if len(by_place) == 1:
        return f". {_one_difference(rivals, only, places, next(iter(by_place)))}"
    everywhere = by_place.pop(tuple(each.condition for each in standings), [])
    nowhere = by_place.pop((), [])
    groups = [(everywhere, places.all_of)] if everywhere else []
    if len(by_place) > _MOST_RIVALS:
        some = [rival for group in by_place.values() for rival in group]
        groups += [(some, " at some of them")]
    else:
        groups += [(group, places.of(conditions)) for conditions, group in by_place.items()]
    first, *others = groups
    texts = [f"The lead over {_listed(first[0])} is significant{first[1]}"]
    texts += [f"over {_listed(group)}{end}" for group, end in others]
    if nowhere:
        texts.append(f"over {_listed(nowhere)} {'nowhere' if places.all_of else 'not'}")
    return f". {', '.join(texts)}"


def _one_difference(
    rivals: Sequence[str], only: str, places: _Places, shown: Sequence[Condition]
) -> str:
    """Say that the differences to some rivals are significant under the same conditions."""
    end = f"significant{places.of(shown)}{'' if len(shown) == len(places.conditions) else ' only'}"
    if len(rivals) == 1:
        return f"The difference to {rivals[0]} is {end}{only}"
    if len(shown) == len(places.conditions):
        return f"Every difference is {end}"
    return f"The differences to {_listed(rivals)} are {end}"


# --- the table -----------------------------------------------------------------------------------


def _figure(metric: Metric, standing: Standing, policy: str, decimals: int) -> str:
    value = standing.figures[policy]
    if math.isnan(value):
        return DASH
    mark = "*" if policy in standing.leaders and standing.others else " "
    return f"{display_scale(metric) * value:,.{decimals}f} {mark}"


def _lead(standing: Standing) -> str:
    """Give the policies that the leaders are significantly better than."""
    others, behind = standing.others, standing.behind
    if not standing.tested:
        return DASH
    if behind == others:
        return "all others"
    if not behind:
        return "none"
    missing = [policy for policy in standing.tested if policy not in behind]
    if standing.tested == others and len(missing) <= len(behind):
        return f"all others but {', '.join(missing)}"
    return ", ".join(behind)


def reading_notes(summary: Summary, has_chance: bool = True) -> list[str]:
    """How to read the table: what the mark means, and what an interval and a dash stand for."""
    estimates = [estimate for row in summary.rows for estimate in row.estimates]
    notes = []
    if len(summary.rows) > 1 and any(each.better != "neither" for each in summary.metrics):
        notes.append(
            "* marks the best value. The differences below say which leads are significant; "
            "overlapping intervals do not."
            if has_chance
            else "* marks the best value."
        )
    notes += [
        f"{row.policy} is not marked: {row.unearned}, 0." for row in summary.rows if row.unearned
    ]
    if not has_chance:
        notes.append("Nothing is random in these models: every run gives the same figures.")
    elif any(e.half_width is not None for e in estimates):
        notes.append(f"± gives the half-width of the {level_text(summary.level)} interval.")
    if has_chance and any(e.half_width == 0 for e in estimates):
        notes.append("± 0: all runs of each cell gave the same figure.")
    notes += rare_notes(summary.metrics, [(row.policy, row.estimates) for row in summary.rows])
    if has_chance and any(e.half_width is None and e.is_defined for e in estimates):
        notes.append("No interval: some model was run fewer than two times.")
    if any(not e.is_defined for e in estimates):
        notes.append(f"{DASH} means undefined: nothing of the kind that is counted happened.")
    return notes


def rare_notes(
    metrics: Sequence[Metric], figures: Sequence[tuple[str, Sequence[Estimate]]]
) -> list[str]:
    """A warning for each metric with intervals that rest on rare events; empty without any.

    `figures` are names with one estimate for each metric.
    """
    notes = []
    for column, metric in enumerate(metrics):
        names = [name for name, e in figures if rests_on_rare_events(metric, e[column])]
        if names:
            notes.append(
                f"Rare events: few cases decide {metric.title} of {', '.join(names)}. Such figures "
                "are skewed, and their intervals cover the truth less often than they say; more "
                "runs help."
            )
    return notes


def abnormal_notes(summary: Summary) -> list[str]:
    """A warning per policy some of whose runs did not end as they should; empty when all did."""
    notes = []
    for row in summary.rows:
        if row.abnormal:
            ends = ", ".join(f"{end}: {n}" for end, n in row.abnormal.items())
            notes.append(
                f"{row.policy}: {sum(row.abnormal.values())} of {row.replications} runs did not "
                f"reach the time limit ({ends}). Their counters stop where the run stopped."
            )
    return notes


def interval_notes(summary: Summary) -> list[str]:
    """How the intervals are computed, with the sources of the formulas."""
    level = level_text(summary.level)
    return [
        f"All intervals are two-sided {level} intervals from Student's t. Every cell is a "
        "stratum of independent runs, and all strata weigh the same.",
        "A mean is the average of the strata's means; its variance is the sum of the strata's "
        "s²/n divided by the square of their number (Cochran, Sampling Techniques, 1977, "
        "chapter 5).",
        "A success rate is the ratio of two pooled sums, not the mean of the rates of single "
        "runs; its variance comes from linearising the ratio (the delta method; Cochran, "
        "chapter 6). Its interval is cut off at 0 % and 100 %.",
        "Degrees of freedom follow Satterthwaite (1946). An interval of zero width says that all "
        "runs agreed, not that the value is certain.",
        "A count that is mostly 0, or a share near 0 % or 100 %, is skewed, and its interval "
        f"covers the truth less often than in {level} of cases. Figures less than "
        f"{SAFE_DISTANCE:g} standard errors from such an end are named as resting on rare events.",
    ]


def precision_notes(
    reached: Sequence[tuple[Precision, Sequence[Reached]]], compared: Compared = POLICIES
) -> list[str]:
    """Say which policies reached each target, after how many runs, and what the others have."""
    return [note for target, each in reached for note in _notes_of(target, each, compared)]


def _notes_of(target: Precision, reached: Sequence[Reached], compared: Compared) -> list[str]:
    replications = min((each.replications for each in reached), default=0)
    after = f"{replications:,} runs of each cell"
    missing = [each for each in reached if not each.is_reached]
    if not missing:
        notes = [f"Precision: {target.text}, reached by every {compared.one} after {after}."]
    else:
        found = ", ".join(f"{each.policy} ({_amount(target, each)})" for each in missing)
        others = len(reached) - len(missing)
        notes = [
            f"Precision: {target.text} was NOT reached by {found}, as {after} were the limit"
            + (f"; {others} of {len(reached)} {compared.many} reached it." if others else ".")
            + " A higher --max-replications goes further."
        ]
    notes += [_without_case(target, each) for each in reached if each.without_case]
    return notes


def _without_case(target: Precision, each: Reached) -> str:
    return (
        f"{each.policy}: {target.metric.title} are 0 in all {each.runs:,} runs, so there is no "
        f"relative precision. With {level_text(target.level)} confidence fewer than "
        f"{_percent(each.half_width)} of runs have any; {100 * target.half_width:g} % is enough "
        "to stop."
    )


def _amount(target: Precision, each: Reached) -> str:
    if math.isinf(each.half_width):
        return "not known at all"
    if each.without_case:
        return "0 in all runs"
    unit = " %" if target.is_relative else " percentage points"
    return f"{_upwards(100 * each.half_width)}{unit}"


def _percent(share: float) -> str:
    return f"{_upwards(100 * share)} %"


def _upwards(value: float) -> str:
    """Two significant digits, rounded up: a precision is never said to be better than it is."""
    digits = 1 - math.floor(math.log10(value))
    return f"{math.ceil(round(value * 10**digits, 6)) / 10**digits:.{max(digits, 0)}f}"

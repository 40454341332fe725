"""Notes below a table: what its figures mean, and where they mislead."""

from __future__ import annotations

from collections.abc import Sequence

from rebecsim.metrics import Metric
from rebecsim.report.numbers import DASH, level_text
from rebecsim.studies.statistics.estimates import Estimate
from rebecsim.studies.statistics.rare import SAFE_DISTANCE, rests_on_rare_events
from rebecsim.studies.statistics.summary import Summary


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

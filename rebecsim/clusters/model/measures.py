"""The columns stored of each run, and the figures made of them that variants are compared by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from rebecsim.clusters.model.observing import ALL, MEASURED
from rebecsim.clusters.model.scenario import ModelScenario, Observe
from rebecsim.metrics import Metric
from rebecsim.studies.cells import REPLICATION
from rebecsim.studies.simulated import OUTCOME

MESSAGES = "messages"
"""The column that says how many messages were served."""

END = "end"
"""The column that says when the run was over: the last time, or that of its last message."""

BASE = (REPLICATION, MESSAGES, END, OUTCOME)
"""The columns that every run has."""

WAITS, CURVES, ENDINGS = "waits", "curves", "endings"

TABLES: Mapping[str, Mapping[str, str]] = {
    WAITS: {
        REPLICATION: "int64",
        "name": "string",
        "rebec": "string",
        "arrival": "int64",
        "wait": "int64",
    },
    CURVES: {REPLICATION: "int64", "name": "string", "time": "int64", "value": "float64"},
    ENDINGS: {
        REPLICATION: "int64",
        "ending": "string",
        "time": "int64",
        "detail": "string",
    },
}
"""A row for each wait; for each point of a curve; for each run that ended before its time."""


def columns_of(scenario: ModelScenario, whole: frozenset[str]) -> dict[str, str]:
    """Give the columns of parts with their types; `whole` are those of values without fractions."""
    columns = {MESSAGES: "int64", END: "int64"}
    for each in scenario.observe:
        columns |= own_columns(each, "int64" if each.column in whole else "float64")
    return {**columns, OUTCOME: "words"}


def own_columns(each: Observe, kind: str = "float64") -> dict[str, str]:
    """Give the columns of an observation; `kind` is that of its values."""
    return dict(_columns(each, kind))


def _columns(each: Observe, kind: str) -> Iterator[tuple[str, str]]:
    column = each.column
    match each.what:
        case "value":
            yield column, kind
            if each.is_followed:
                yield f"{column}_area", kind
        case "served" | "misses":
            yield column, "int64"
        case "waits":
            yield f"{column}_count", "int64"
            yield f"{column}_sum", "int64"
        case "first":
            yield f"{column}_held", "int64"
            yield f"{column}_never", "int64"
            yield f"{column}_time", "int64"
        case "outcome":
            yield column, "int64"
            yield f"{column}_not", "int64"
        case "measure":
            yield from ((f"{column}_{part}", "float64") for part in MEASURED)


def tables_of(scenario: ModelScenario) -> dict[str, Mapping[str, str]]:
    """Give the further tables that a scenario has."""
    wanted = {ENDINGS}
    if any(each.what == "waits" for each in scenario.observe):
        wanted.add(WAITS)
    if any(each.is_followed for each in scenario.observe):
        wanted.add(CURVES)
    return {name: columns for name, columns in TABLES.items() if name in wanted}


_SPAN = "end"
_MESSAGES_SERVED = Metric(
    name="messages_served",
    title="Messages",
    unit="messages per run",
    better="neither",
    numerator={MESSAGES: 1},
    note="All messages served, mean per run.",
)


def measures_of(scenario: ModelScenario) -> tuple[Metric, ...]:
    """Give the figures in the order of the scenario; of one that observes nothing, the messages."""
    found = tuple(metric for each in scenario.observe for metric in _measures(each))
    return found or (_MESSAGES_SERVED,)


def _measures(each: Observe) -> Iterator[Metric]:
    match each.what:
        case "value":
            yield from _of_value(each)
        case "waits":
            yield _of_waits(each)
        case "first":
            yield from _of_first(each)
        case "outcome":
            yield _of_outcome(each)
        case "measure":
            yield from _of_measured(each)
        case _:
            yield _of_count(each)


def _better(
    each: Observe, usual: Literal["lower", "neither"]
) -> Literal["lower", "higher", "neither"]:
    return each.better or usual


def _of_value(each: Observe) -> Iterator[Metric]:
    title = each.title or each.text
    yield Metric(
        name=each.column,
        title=f"{title} at the end" if each.is_followed else title,
        unit="",
        better=_better(each, "neither"),
        numerator={each.column: 1},
        measured=True,
        least=None,
        note=f"{each.text} when a run ends, mean over runs.",
        advantage="" if each.better else _higher(f"{title} at the end"),
    )
    if each.is_followed:
        yield Metric(
            name=f"{each.column}_average",
            title=f"{title} over time",
            unit="",
            better=_better(each, "neither"),
            numerator={f"{each.column}_area": 1},
            denominator={_SPAN: 1},
            measured=True,
            least=None,
            note=f"{each.text}, averaged over the time of all runs.",
            advantage="" if each.better else _higher(f"{title} over time"),
        )


def _higher(what: str) -> str:
    """Say a difference of which neither side is better, for names that may be placeholders."""
    plain = what.replace("{", "(").replace("}", ")")
    return plain + " is higher with {better} than with {worse} by {amount}"


def _of_count(each: Observe) -> Metric:
    what = "messages" if each.text == ALL else each.text
    late = each.what == "misses"
    return Metric(
        name=each.column,
        title=each.title or (f"Late {what}" if late else f"{what} served"),
        unit="messages per run",
        better=_better(each, "lower" if late else "neither"),
        numerator={each.column: 1},
        note=f"Messages of {what} that were served"
        f"{', or were to be, after their deadline' if late else ''}, mean per run.",
    )


def _of_waits(each: Observe) -> Metric:
    return Metric(
        name=each.column,
        title=each.title or f"Wait of {each.text}",
        unit="time units",
        better=_better(each, "lower"),
        numerator={f"{each.column}_sum": 1},
        denominator={f"{each.column}_count": 1},
        measured=True,
        note=f"From the arrival of a message of {each.text} until it began to be served, mean over "
        "all messages of all runs. Messages that were never served are left out.",
    )


def _of_first(each: Observe) -> Iterator[Metric]:
    title = each.title or each.text
    yield Metric(
        name=each.column,
        title=f"First {title}",
        unit="time",
        better=_better(each, "neither"),
        numerator={f"{each.column}_time": 1},
        denominator={f"{each.column}_held": 1},
        measured=True,
        note=f"When {each.text} held for the first time, mean over the runs in which it did.",
    )
    yield Metric(
        name=f"{each.column}_share",
        title=f"Ever {title}",
        unit="runs",
        better="neither",
        numerator={f"{each.column}_held": 1},
        denominator={f"{each.column}_held": 1, f"{each.column}_never": 1},
        note=f"Runs in which {each.text} held at any time.",
    )


def _of_outcome(each: Observe) -> Metric:
    return Metric(
        name=each.column,
        title=each.title or f"Runs: {each.text}",
        unit="runs",
        better=_better(each, "neither"),
        numerator={each.column: 1},
        denominator={each.column: 1, f"{each.column}_not": 1},
        note=f"Runs that ended so: {each.text}.",
    )


_Figure = tuple[str, str, Literal["lower", "neither"], str, str, str]


def _of_measured(each: Observe) -> Iterator[Metric]:
    waiting, busy, used, ended = (f"{each.column}_{part}" for part in MEASURED)
    figures: tuple[_Figure, ...] = (
        ("wait", "time units", "lower", waiting, ended, "Mean wait, by Little's law"),
        ("service", "time units", "neither", busy, ended, "Mean service time, by Little's law"),
        ("queue", "on average", "lower", waiting, _SPAN, "How many wait, mean over time"),
        ("utilisation", "server time", "neither", used, _SPAN, "The share of servers at work"),
        ("throughput", "per time unit", "neither", ended, _SPAN, "How many are done"),
    )
    for name, unit, better, above, below, note in figures:
        title = f"{name.capitalize()} of {each.title or each.text}"
        yield Metric(
            name=f"{each.column}_{name}",
            title=title,
            unit=unit,
            better=better,
            numerator={above: 1},
            denominator={below: 1},
            measured=name != "utilisation",
            note=f"{note}, from the start of each run on.",
            advantage="" if better == "lower" else _higher(title),
        )

"""The figures that variants are compared by: what a scenario observes, as means over runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from rebecsim.clusters.model.columns import MESSAGES
from rebecsim.clusters.model.scenario import ModelScenario, Observe
from rebecsim.clusters.model.servers import ALL
from rebecsim.metrics import Metric

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

"""Stored columns of each run, and further tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rebecsim.clusters.model.scenario import ModelScenario, Observe
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


def tables_of(scenario: ModelScenario) -> dict[str, Mapping[str, str]]:
    """Give the further tables that a scenario has."""
    wanted = {ENDINGS}
    if any(each.what == "waits" for each in scenario.observe):
        wanted.add(WAITS)
    if any(each.is_followed for each in scenario.observe):
        wanted.add(CURVES)
    return {name: columns for name, columns in TABLES.items() if name in wanted}

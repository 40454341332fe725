"""Results as comma-separated values, with all digits."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from rebecsim.files import write_atomically
from rebecsim.report.report_input import ReportInput
from rebecsim.studies.cells import Coded, Column, Condition
from rebecsim.studies.differences import PairDifference
from rebecsim.studies.estimates import Estimate
from rebecsim.studies.study import Axis
from rebecsim.studies.summary import OrderEnvelope, Summary

ESTIMATE_FIELDS = ("", "_standard_error", "_low", "_high", "_degrees_of_freedom")
"""What follows the name of a figure in the columns of its estimate."""


def table_csv(comparisons: Mapping[Condition, ReportInput]) -> str:
    """One line per policy, pooled over what is not compared apart.

    Columns: the coordinates that are compared apart, `policy`, `replications`, and for each metric
    its name, `_standard_error`, `_low`, `_high` and `_degrees_of_freedom`. Shares are fractions of
    1. What is undefined is empty.
    """
    first = next(iter(comparisons.values())).summary
    header = [*_apart(comparisons), "policy", "replications", *_estimate_columns(first)]
    rows = (
        [*_values(condition), r.policy, str(r.replications), *estimate_fields(r.estimates)]
        for condition, each in comparisons.items()
        for r in each.summary.rows
    )
    return text_of(header, rows)


def by_axis_csv(by_axis: Mapping[Condition, Summary], axis: Axis) -> str:
    """One line per condition, policy and place of the axis; columns as in `table_csv`."""
    first = next(iter(by_axis.values()))
    header = [*_apart(by_axis), "policy", axis.coordinate, "replications"]
    rows = (
        [
            *(*_values(condition), p.policy, str(p.at), str(p.replications)),
            *estimate_fields(p.estimates),
        ]
        for condition, summary in by_axis.items()
        for p in summary.points
    )
    header += _estimate_columns(first)
    return text_of(header, rows)


def pairs_csv(comparisons: Mapping[Condition, ReportInput]) -> str | None:
    """One line per metric and pair of policies; None when nothing was compared.

    Columns: the coordinates that are compared apart, `metric`, `first`, `second`, `replications`
    (per cell), `difference` (first minus second) with `_standard_error`, `_low`, `_high` and
    `_degrees_of_freedom`, `p_value`, `holm_p_value`, `shown` ("yes" or "no"), `better`,
    `detectable` (the difference that these runs would show with 80 % power) and
    `replications_needed` (to show one as large as observed).
    What is undefined, and the last two where the difference is shown, is empty.
    """
    header = [
        *_apart(comparisons),
        *("metric", "first", "second", "replications"),
        *("difference" + field for field in ESTIMATE_FIELDS),
        *("p_value", "holm_p_value", "shown", "better", "detectable", "replications_needed"),
    ]
    rows = [
        [
            *_values(condition),
            *(pair.metric.name, pair.first, pair.second, str(pair.runs)),
            *estimate_fields([pair.estimate]),
            *(_number(pair.p_value), _number(pair.adjusted_p_value)),
            *("yes" if pair.is_shown else "no", pair.better or ""),
            *_power_fields(pair),
        ]
        for condition, each in comparisons.items()
        for pair in each.differences
    ]
    return text_of(header, rows) if rows else None


def orders_csv(comparisons: Mapping[Condition, ReportInput]) -> str:
    """One line per metric and policy, and condition that is compared apart.

    Columns: the coordinates that are compared apart, `metric`, `policy`, `lowest`, `lowest_order`,
    `highest`, `highest_order`, then for each message order its figure (under its name),
    `_standard_error`, `_low`, `_high` and `_degrees_of_freedom`.
    """
    envelopes = [
        (condition, found) for condition, each in comparisons.items() for found in each.envelopes
    ]
    orders = list(envelopes[0][1].by_order) if envelopes else []
    header = [
        *_apart(comparisons),
        *("metric", "policy", "lowest", "lowest_order", "highest", "highest_order"),
        *(order + field for order in orders for field in ESTIMATE_FIELDS),
    ]
    rows = (
        [
            *_values(condition),
            *(each.metric.name, each.policy),
            *_extreme(each, each.lowest),
            *_extreme(each, each.highest),
            *estimate_fields([each.by_order[order] for order in orders]),
        ]
        for condition, each in envelopes
    )
    return text_of(header, rows)


def _power_fields(pair: PairDifference) -> tuple[str, str]:
    if pair.power is None:
        return "", ""
    return _number(pair.power.detectable), _number(pair.power.runs_needed)


def _extreme(envelope: OrderEnvelope, order: str | None) -> tuple[str, str]:
    return ("", "") if order is None else (_number(envelope.by_order[order].value), order)


def _estimate_columns(summary: Summary) -> list[str]:
    return [metric.name + field for metric in summary.metrics for field in ESTIMATE_FIELDS]


def estimate_fields(estimates: Sequence[Estimate]) -> list[str]:
    """Give estimates as fields: those of `ESTIMATE_FIELDS` for each."""
    return [
        _number(number)
        for e in estimates
        for number in (e.value, e.standard_error, e.low, e.high, e.degrees_of_freedom)
    ]


def _number(number: float | None) -> str:
    return "" if number is None or math.isnan(number) else repr(number)


def _apart(conditions: Iterable[Condition]) -> list[str]:
    return [name for name, _ in next(iter(conditions)).coordinates]


def _values(condition: Condition) -> list[str]:
    return [str(value) for _, value in condition.coordinates]


def text_of(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Give a table as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()


def write_stacked(
    heading: str, runs: Mapping[str, Mapping[str, Mapping[str, Column]]], folder: Path
) -> None:
    """Write the tables of some runs, each a CSV file with the name of the run in the first column.

    `heading` is that of this column; of each run there are columns by table. The folder is made
    if it is not there. Raises OSError when that, or a file, cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for table, columns in next(iter(runs.values())).items():
        rows = (
            [name, *row]
            for name, tables in runs.items()
            for row in zip(*map(_plain, tables[table].values()), strict=True)
        )
        write_atomically(folder / f"{table}.csv", text_of([heading, *columns], rows).encode())


def _plain(column: Column) -> list[object]:
    if isinstance(column, Coded):
        return [column.words[code] for code in column.codes]
    found: list[object] = np.asarray(column, dtype=object).tolist()
    return ["" if each is None else each for each in found]

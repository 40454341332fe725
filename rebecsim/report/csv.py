"""Results as comma-separated values, with all digits."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence

from rebecsim.experiments.statistics import Estimate
from rebecsim.experiments.summary import Summary

__all__ = ["by_cluster_size_csv", "table_csv"]

_FIELDS = ("", "_standard_error", "_low", "_high", "_degrees_of_freedom")


def table_csv(summary: Summary) -> str:
    """One line per policy, pooled over cluster sizes and workloads.

    Columns: `policy`, `replications`, and for each metric its name, `_standard_error`, `_low`,
    `_high` and `_degrees_of_freedom`. Shares are fractions of 1. What is undefined is empty.
    """
    header = ["policy", "replications", *_estimate_columns(summary)]
    rows = ([r.policy, str(r.replications), *_fields(r.estimates)] for r in summary.rows)
    return _text(header, rows)


def by_cluster_size_csv(summary: Summary) -> str:
    """One line per policy and cluster size, pooled over workloads; columns as in `table_csv`."""
    header = ["policy", "app_masters", "replications", *_estimate_columns(summary)]
    rows = (
        [p.policy, str(p.app_masters), str(p.replications), *_fields(p.estimates)]
        for p in summary.points
    )
    return _text(header, rows)


def _estimate_columns(summary: Summary) -> list[str]:
    return [metric.name + field for metric in summary.metrics for field in _FIELDS]


def _fields(estimates: Sequence[Estimate]) -> list[str]:
    return [
        "" if number is None or math.isnan(number) else repr(number)
        for e in estimates
        for number in (e.value, e.standard_error, e.low, e.high, e.degrees_of_freedom)
    ]


def _text(header: list[str], rows: Iterable[list[str]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()

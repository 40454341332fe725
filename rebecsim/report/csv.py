"""Results as comma-separated values, with all digits."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence

from rebecsim.experiments.differences import PairDifference
from rebecsim.experiments.energy import HardwareFigures
from rebecsim.experiments.order_sensitivity import OrderEnvelope
from rebecsim.experiments.statistics import Estimate
from rebecsim.experiments.summary import Summary

__all__ = ["by_cluster_size_csv", "energy_csv", "orders_csv", "pairs_csv", "table_csv"]

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


def pairs_csv(differences: Sequence[PairDifference]) -> str:
    """One line per metric and pair of policies.

    Columns: `metric`, `first`, `second`, `replications` (per cell), `difference` (first minus
    second) with `_standard_error`, `_low`, `_high` and `_degrees_of_freedom`, `p_value`,
    `holm_p_value`, `shown` ("yes" or "no"), `better`, `detectable` (the difference that these
    runs would show with 80 % power) and `replications_needed` (to show one as large as observed).
    What is undefined, and the last two where the difference is shown, is empty.
    """
    header = [
        *("metric", "first", "second", "replications"),
        *("difference" + field for field in _FIELDS),
        *("p_value", "holm_p_value", "shown", "better", "detectable", "replications_needed"),
    ]
    rows = (
        [
            *(pair.metric.name, pair.first, pair.second, str(pair.runs)),
            *_fields([pair.estimate]),
            *(_number(pair.p_value), _number(pair.adjusted_p_value)),
            *("yes" if pair.is_shown else "no", pair.better or ""),
            *_power_fields(pair),
        ]
        for pair in differences
    )
    return _text(header, rows)


def orders_csv(envelopes: Sequence[OrderEnvelope]) -> str:
    """One line per metric and policy.

    Columns: `metric`, `policy`, `lowest`, `lowest_order`, `highest`, `highest_order`, then for
    each message order its figure (under its name), `_standard_error`, `_low`, `_high` and
    `_degrees_of_freedom`.
    """
    orders = list(envelopes[0].by_order) if envelopes else []
    header = [
        *("metric", "policy", "lowest", "lowest_order", "highest", "highest_order"),
        *(order + field for order in orders for field in _FIELDS),
    ]
    rows = (
        [
            *(each.metric.name, each.policy),
            *_extreme(each, each.lowest),
            *_extreme(each, each.highest),
            *_fields([each.by_order[order] for order in orders]),
        ]
        for each in envelopes
    )
    return _text(header, rows)


def energy_csv(figures: Sequence[HardwareFigures]) -> str:
    """One line for each cell's cluster as a whole, then one for each of its AppMasters.

    Columns: `policy`, `arrivals`, `lengths`, `app_masters`, `app_master` ("am1", ...; empty for the
    cluster), `replications`, then `utilisation` (a fraction of 1; of the cluster, the mean over its
    AppMasters) and `energy` (joules per run; empty when the power draw is not given), each with
    `_standard_error`, `_low`, `_high` and `_degrees_of_freedom`.
    """
    header = [
        *("policy", "arrivals", "lengths", "app_masters", "app_master", "replications"),
        *(name + field for name in ("utilisation", "energy") for field in _FIELDS),
    ]
    rows = (
        [
            *(cell.policy, arrivals, lengths, str(cell.app_masters)),
            *(f"am{place}" if place else "", str(cell.replications)),
            *_fields([usage.utilisation]),
            *(_fields([usage.energy]) if usage.energy else [""] * len(_FIELDS)),
        ]
        for cell in figures
        for arrivals, lengths in cell.workloads
        for place, usage in enumerate((cell.cluster, *cell.each))
    )
    return _text(header, rows)


def _power_fields(pair: PairDifference) -> tuple[str, str]:
    if pair.power is None:
        return "", ""
    return _number(pair.power.detectable), _number(pair.power.runs_needed)


def _extreme(envelope: OrderEnvelope, order: str | None) -> tuple[str, str]:
    return ("", "") if order is None else (_number(envelope.by_order[order].value), order)


def _estimate_columns(summary: Summary) -> list[str]:
    return [metric.name + field for metric in summary.metrics for field in _FIELDS]


def _fields(estimates: Sequence[Estimate]) -> list[str]:
    return [
        _number(number)
        for e in estimates
        for number in (e.value, e.standard_error, e.low, e.high, e.degrees_of_freedom)
    ]


def _number(number: float | None) -> str:
    return "" if number is None or math.isnan(number) else repr(number)


def _text(header: list[str], rows: Iterable[list[str]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()

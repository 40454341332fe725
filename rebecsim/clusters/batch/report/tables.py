"""What differs between two schedules, in words and for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from rebecsim.clusters.batch.difference import ScheduleDifference
from rebecsim.clusters.batch.report.text import figures_table
from rebecsim.report.tables import duration_text

_SHOWN_USERS = 12


def difference_table(difference: ScheduleDifference) -> Group:
    """How jobs and users fare in the second schedule, as seen from the first."""
    change, jobs = difference.change, len(difference.job)
    lines = [
        f"{difference.second} instead of {difference.first}: of {jobs:,} jobs "
        f"{difference.earlier:,} wait for less time, {difference.later:,} for more, "
        f"{jobs - difference.earlier - difference.later:,} for as long",
        f"change of the wait: mean {_signed(float(change.mean()))}, "
        f"from {_signed(float(change.min()))} to {_signed(float(change.max()))}",
    ]
    for name, count in (
        (difference.first, difference.only_first),
        (difference.second, difference.only_second),
    ):
        if count:
            lines.append(f"{count:,} jobs only in {name}")
    return Group(*map(Text, lines), _users(difference))


def _users(difference: ScheduleDifference) -> RenderableType:
    each = difference.users
    values = each.wait * each.jobs if each.weighted_tardiness is None else each.weighted_tardiness
    order = np.argsort(-np.abs(values), kind="stable")[:_SHOWN_USERS]
    order = order[values[order] != 0]
    if not len(order):
        return Text("Nothing changes for any user.")
    titles = ["User", "Jobs", "Wait less", "Wait more", "Mean wait"]
    columns = [
        [each.labels[row] for row in order],
        [f"{each.jobs[row]:,}" for row in order],
        [f"{each.earlier[row]:,}" for row in order],
        [f"{each.later[row]:,}" for row in order],
        [_signed(float(each.wait[row])) for row in order],
    ]
    if each.weighted_tardiness is not None:
        titles.append("WT (h)")
        columns.append([f"{each.weighted_tardiness[row]:+,.1f}" for row in order])
    table = figures_table(titles, zip(*columns, strict=True))
    hidden = len(each.user) - len(order)
    if hidden:
        return Group(table, Text(f"The other {hidden} users change less, or not at all."))
    return table


def _signed(seconds: float) -> str:
    if seconds == 0:
        return "0s"
    return ("+" if seconds > 0 else "\u2212") + duration_text(abs(seconds))


def difference_summary(differences: Sequence[ScheduleDifference]) -> list[str]:
    """One line for each policy other than the baseline."""
    return [
        f"{each.second} instead of {each.first}: {each.earlier:,} jobs wait for less time, "
        f"{each.later:,} for more, mean wait {_signed(float(each.change.mean()))}"
        for each in differences
    ]

"""Tables for the terminal."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from rebecsim.experiments.summary import Summary
from rebecsim.report.notes import abnormal_notes, reading_notes
from rebecsim.report.numbers import best_rows, decimals_for, format_estimate

__all__ = ["policy_table", "summary_view"]


def policy_table(summary: Summary, title: str | None = None) -> Table:
    """One row per policy with every metric and its interval.

    The best value of a column is bold and carries an asterisk, so that it stands out without
    colour too.
    """
    # Titles and names are text, not markup: "[bold]" in a title is to be shown as it is written.
    table = Table(title=None if title is None else Text(title, style="table.title"))
    table.add_column("Policy")
    for metric in summary.metrics:
        table.add_column(Text(metric.title), justify="right")
    columns = range(len(summary.metrics))
    decimals = [
        decimals_for(metric, [row.estimates[c] for row in summary.rows])
        for c, metric in enumerate(summary.metrics)
    ]
    best = [best_rows(summary, c) for c in columns]
    for row in summary.rows:
        cells = [Text(row.policy)]
        for c in columns:
            text = format_estimate(summary.metrics[c], row.estimates[c], decimals[c])
            is_best = row.policy in best[c]
            # Both marks have one width, so the digits of a column stay in line.
            cells.append(Text(f"{text} {'*' if is_best else ' '}", style="bold" if is_best else ""))
        table.add_row(*cells)
    return table


def summary_view(summary: Summary, title: str | None = None) -> Group:
    """The table of policies with the notes that a reader needs, ready for `console.print`."""
    notes = [Text(note, style="dim") for note in reading_notes(summary)]
    warnings = [Text(f"Warning: {note}", style="yellow") for note in abnormal_notes(summary)]
    return Group(policy_table(summary, title), *notes, *warnings)

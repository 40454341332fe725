"""Reports of comparisons: terminal tables, CSV, charts and a self-contained HTML page.

* `ReportInput`: results with all that a reader needs to judge and repeat them.
* `write_report`: write the page, the CSV files and the charts to a directory.
* `WrittenReport`: where they are.
* `summary_view`: the table of policies with its notes, for the terminal.
* `report_view`: the same with the differences between policies and the effect of message order.
* `policy_table`: the table alone.
* `DRAWING_MODULES`: what processes that draw charts may load beforehand.

They are loaded when they are asked for: drawing a counterexample needs none of what reports of
comparisons do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebecsim.lazy_names import names_of

if TYPE_CHECKING:
    from rebecsim.report.report_input import ReportInput
    from rebecsim.report.tables import policy_table, report_view, summary_view
    from rebecsim.report.write import WrittenReport, write_report

__all__ = [
    "DRAWING_MODULES",
    "ReportInput",
    "WrittenReport",
    "policy_table",
    "report_view",
    "summary_view",
    "write_report",
]

DRAWING_MODULES = (
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
)

_MODULES = {
    "ReportInput": "report_input",
    "WrittenReport": "write",
    "policy_table": "tables",
    "report_view": "tables",
    "summary_view": "tables",
    "write_report": "write",
}

__getattr__, __dir__ = names_of(__name__, _MODULES)

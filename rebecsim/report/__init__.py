"""Reports of comparisons: terminal tables, CSV, charts and a self-contained HTML page.

* `ReportInput`: results with all that a reader needs to judge and repeat them.
* `write_report`: write the page, the CSV files and the charts to a directory.
* `WrittenReport`: where they are.
* `summary_view`: the table of policies with its notes, for the terminal.
* `report_view`: the same with the differences between policies and the effect of message order.
* `policy_table`: the table alone.
* `reproduce_figure`: compare a published figure with our runs.
* `ReproductionRow`: the result of such a comparison.
* `reproduction_table`: these results as a table for the terminal.
* `read_workload_report`: what to report of a run of a workload scenario, a `WorkloadReport`.
* `write_workload_report`: write its page, CSV files and pictures to a directory.
* `DRAWING_MODULES`: what processes that draw charts may load beforehand.

They are loaded when they are asked for: drawing a counterexample needs none of what reports of
comparisons do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebecsim.lazy_names import names_of

if TYPE_CHECKING:
    from rebecsim.report.report_input import ReportInput
    from rebecsim.report.reproduction import (
        ReproductionRow,
        reproduce_figure,
        reproduction_table,
    )
    from rebecsim.report.tables import policy_table, report_view, summary_view
    from rebecsim.report.workload_report import (
        WorkloadReport,
        read_workload_report,
        write_workload_report,
    )
    from rebecsim.report.write import WrittenReport, write_report

__all__ = [
    "DRAWING_MODULES",
    "ReportInput",
    "ReproductionRow",
    "WorkloadReport",
    "WrittenReport",
    "policy_table",
    "read_workload_report",
    "report_view",
    "reproduce_figure",
    "reproduction_table",
    "summary_view",
    "write_report",
    "write_workload_report",
]

DRAWING_MODULES = (
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
)

_MODULES = {
    "ReportInput": "report_input",
    "ReproductionRow": "reproduction",
    "WrittenReport": "write",
    "policy_table": "tables",
    "report_view": "tables",
    "reproduce_figure": "reproduction",
    "reproduction_table": "reproduction",
    "summary_view": "tables",
    "write_report": "write",
    "WorkloadReport": "workload_report",
    "read_workload_report": "workload_report",
    "write_workload_report": "workload_report",
}

__getattr__ = names_of(__name__, _MODULES)

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
"""

from rebecsim.report.report_input import ReportInput
from rebecsim.report.reproduction import (
    ReproductionRow,
    reproduce_figure,
    reproduction_table,
)
from rebecsim.report.tables import policy_table, report_view, summary_view
from rebecsim.report.write import WrittenReport, write_report

__all__ = [
    "ReportInput",
    "ReproductionRow",
    "WrittenReport",
    "policy_table",
    "report_view",
    "reproduce_figure",
    "reproduction_table",
    "summary_view",
    "write_report",
]

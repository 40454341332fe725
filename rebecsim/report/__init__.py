"""Reports of comparisons: terminal tables, CSV, charts and a self-contained HTML page.

* `ReportInput`: results with all that a reader needs to judge and repeat them.
* `write_report`: write the page, the CSV files and the charts to a directory.
* `WrittenReport`: where they are.
* `summary_view`: the table of policies with its notes, for the terminal.
* `report_view`: the same with the differences between policies and the effect of message order.
* `policy_table`: the table alone.

They are loaded when they are asked for: drawing a counterexample needs none of what reports of
comparisons do.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

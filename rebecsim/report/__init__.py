"""Reports of comparisons: terminal tables, CSV, charts and a self-contained HTML page.

* `ReportInput`: results with all that a reader needs to judge and repeat them.
* `write_report`: write the page, the CSV files and the charts to a directory.
* `WrittenReport`: where they are.
* `report_view`: the answer with the tables, differences and effects of message order behind it.
* `policy_table`: the table alone.

They are loaded when they are asked for: drawing a counterexample needs none of what reports of
comparisons do.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

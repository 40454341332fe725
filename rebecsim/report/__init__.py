"""Reports of studies and models: sentences, tables and charts.

Of studies: `write_report` writes the page, CSV files and charts of a `ReportInput`; `report_view`
gives the same for the terminal; `GroupAnswer` answers by queue or user. Of models: `result_parts`
says what an exploration found, `race_lines` which races there are. Figures are made by
`new_figure`, and get their colours and marks from `line_styles`.

Names are loaded when they are asked for: drawing a counterexample needs none of what reports of
comparisons do.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

from .page import WrittenReport as WrittenReport, write_report as write_report
from .report_input import ReportInput as ReportInput
from .tables import (
    policy_table as policy_table,
    report_view as report_view,
)

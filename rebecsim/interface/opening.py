"""Opening stored results."""

from __future__ import annotations

from pathlib import Path

from rebecsim.clusters.model.study import STUDY
from rebecsim.clusters.scenarios import open_run, plan_of_run
from rebecsim.interface.comparing import Comparison
from rebecsim.interface.running import ManyRuns
from rebecsim.report.comparison import report_input
from rebecsim.studies.running.comparing import stored_companions


def open(directory: str | Path) -> Comparison:
    """Open the results that `compare` or `run` kept in a directory; nothing is simulated.

    Gives ManyRuns for the runs of one model. Raises UserError where there are no results, or they
    are damaged, incomplete, or of a plug-in's kind while the plug-in is not loaded.

    >>> kept = rs.run("ticket_service.rebeca", runs=20, until=12, out="kept", progress=False)
    >>> rs.open("kept")
    <ManyRuns ticket_service: 20 runs>
    """
    stored = open_run(Path(directory))
    plan = plan_of_run(stored)
    report = report_input(plan, stored.results, stored_companions(plan, stored.results))
    kind = ManyRuns if plan.study is STUDY else Comparison
    return kind(report, Path(directory))

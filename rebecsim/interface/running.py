"""Many runs of one model, and opening stored results."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rebecsim.clusters.model.scenario import Swept
from rebecsim.clusters.model.study import STUDY, short_scenario
from rebecsim.clusters.scenarios import open_run, plan_of_run
from rebecsim.interface.comparing import Comparison, Running, compare_loaded
from rebecsim.interface.loading import AnyModel, LoadedModel, Texts, as_loaded, texts
from rebecsim.native.engines import Engine
from rebecsim.report.comparison import report_input
from rebecsim.studies.running import stored_companions

if TYPE_CHECKING:
    import pyarrow as pa


class ManyRuns(Comparison):
    """Many runs of a model, or of variants of it, and what was observed in them.

    >>> many = rs.run("ticket_service.rebeca", runs=20, until=12, progress=False)
    >>> many.summary.rows[0].replications
    20
    """

    def to_arrow(self) -> pa.Table:
        """Give a row for each run: what was observed, and the values of what was varied."""
        return self.query("SELECT * EXCLUDE (run, cell) FROM replications")

    def __repr__(self) -> str:
        runs = sum(each.replications for each in self.report.moments)
        return f"<ManyRuns {self.report.title}: {runs} runs>"


def run(
    model: AnyModel,
    *,
    runs: int = 1000,
    until: int | None = None,
    seed: int = 0,
    observe: Texts = (),
    sweep: Mapping[str, Swept | Sequence[Swept]] | None = None,
    every: int | None = None,
    steps: int | None = None,
    out: str | Path | None = None,
    workers: int = 1,
    engine: Engine = "auto",
    progress: bool = True,
) -> ManyRuns:
    """Run a model many times, and observe it.

    Args:
        model: a loaded model, one in Python, or the path of one. One that your program made
            itself has no text: it takes one worker, and stored results cannot run it again.
        runs: of the model, or of each variant.
        until: the last time, in model time units, at which messages are served.
        seed: of everything that is drawn.
        observe: what is observed in each run: a state variable at the end, such as "office.left";
            "served=", "waits=" or "misses=" and a message server such as "office.buy";
            "first=" and a condition; "outcome=" and how a run ends, such as "ended".
        sweep: env constants, "FRESH", and constructor arguments, "east.phase", with the values
            that they take; each combination is a variant.
        every: follow the state variables over time, by so many time units.
        steps: the most messages of a run.
        out, workers, engine, progress: as for `rebecsim.compare`, which runs scenarios that say
            more.

    Raises UserError, naming the argument, for what does not fit the model.

    >>> rs.run("ticket_service.rebeca", runs=20, until=12, observe="office.left", progress=False)
    <ManyRuns ticket_service: 20 runs>
    """
    loaded = as_loaded(model)
    given = {name: _listed(values) for name, values in (sweep or {}).items()}
    how = Running(out=out, orders=False, workers=workers, engine=engine)
    with _file(loaded, workers) as file:
        scenario = short_scenario(
            file,
            texts(observe),
            sweep=given,
            every=every,
            dashes="",
            until=until,
            steps=steps,
            replications=runs,
            seed=seed,
            core=loaded.model.core,
        )
        return compare_loaded(scenario, how, ManyRuns, progress=progress)


def _listed(values: Swept | Sequence[Swept]) -> Sequence[Swept]:
    return values if isinstance(values, Sequence) else [values]


@contextmanager
def _file(loaded: LoadedModel, workers: int) -> Iterator[Path]:
    """Give a file that holds the model, for as long as it is run."""
    source = loaded.source(workers)
    with tempfile.TemporaryDirectory(prefix="rebecsim-") as folder:
        file = Path(folder) / Path(source.file).name
        file.write_text(source.text, "utf-8")
        yield file


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

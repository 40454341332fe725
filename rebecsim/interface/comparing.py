"""Comparisons of the policies, or other variants, of a scenario."""

from __future__ import annotations

import logging
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, TypeVar, Unpack

from rebecsim.clusters.kinds import dask_with_plugins, executor_with_plugins
from rebecsim.clusters.scenarios import LoadedScenario, load, open_run
from rebecsim.files import Size
from rebecsim.interface.shown import Shown, Tabular, shown_figure
from rebecsim.native.engines import Engine
from rebecsim.report.comparison import ReportInput, compared
from rebecsim.studies.differences import PairDifference
from rebecsim.studies.executors import Executor
from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results
from rebecsim.studies.running import Bar, PlannedRun, StudyRunner, comparison_size
from rebecsim.studies.scenario_files import ScenarioText, read_scenario_text
from rebecsim.studies.study import MOST_STATES, How, exact_orders_of, modules_of
from rebecsim.studies.summary import Summary
from rebecsim.trust import refuse_programs, run_programs

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure
    from rich.console import RenderableType

_log = logging.getLogger(__name__)

AnyScenario = str | Path | Mapping[str, object]
"""The name of a built-in scenario, the path of a file, or what would stand in the file."""


@dataclass(frozen=True)
class Comparison(Shown, Tabular):
    """What a comparison has found.

    Attributes:
        report: the figures, and what a reader needs to judge and repeat them.
        directory: where the results are.

    >>> found = rs.compare("for_edf", replications=2, orders=False, progress=False)
    >>> found.summary.policies
    ('EDF', 'FIFO', 'MDF', 'PRIORITY')
    """

    report: ReportInput
    directory: Path

    @property
    def summary(self) -> Summary:
        """Every measure of every policy, with intervals."""
        return self.report.summary

    @property
    def differences(self) -> tuple[PairDifference, ...]:
        """The policies in pairs, run by run."""
        return self.report.differences

    def query(self, sql: str) -> pa.Table:
        """Answer SQL over the views of the run; `rebecsim query` says which there are.

        Raises QueryError for a statement that is wrong.
        """
        from rebecsim.report.stored import answer_to_arrow
        from rebecsim.studies.query import query

        return answer_to_arrow(query(sql, [open_run(self.directory, self.directory.name)]))

    def to_arrow(self) -> pa.Table:
        """Give a row for each cell: its coordinates, and every measure with its interval."""
        return self.query("SELECT * EXCLUDE (run, cell, bytes) FROM cells")

    def plot(self, measure: str | None = None) -> Figure:
        """Draw a chart of the report, the first one unless another is named.

        Raises KeyError, with the names of all charts, for one that there is not.
        """
        from rebecsim.report.page import report_pictures

        pictures = {picture.name: picture for picture in report_pictures(self.report)}
        name = measure or next(iter(pictures), "")
        if name not in pictures:
            raise KeyError(f"there is no chart {name!r}; there are {', '.join(pictures) or 'none'}")
        return shown_figure(pictures[name].draw())

    def write(self, directory: str | Path) -> Path:
        """Write the report, its charts and its data, and give the path of the page.

        Raises OSError.
        """
        from rebecsim.report.page import write_report

        return write_report(self.report, Path(directory)).html

    def __rich__(self) -> RenderableType:
        """Give what `rebecsim compare` prints."""
        from rebecsim.report.tables import report_view

        return report_view(self.report)

    def __repr__(self) -> str:
        return f"<Comparison {self.report.title}: {', '.join(self.summary.policies)}>"


class Changes(TypedDict, total=False):
    """What a scenario has otherwise for one comparison; None leaves it as it is.

    Attributes:
        replications: runs of each cell.
        seed: where the random numbers start.
        precision: run until the first measure is known so well, for example "1%".
        sweep: keys of the scenario, such as "workload.rate", with the values that they take in
            turn; every combination is run.
    """

    replications: int | None
    seed: int | None
    precision: str | None
    sweep: Mapping[str, object] | None


def compare(
    scenario: AnyScenario,
    *,
    out: str | Path | None = None,
    orders: bool | Literal["exact"] = True,
    resume: bool = False,
    trace: bool = False,
    workers: int = 1,
    dask: str | None = None,
    engine: Engine = "auto",
    progress: bool = True,
    trust: bool = False,
    **changes: Unpack[Changes],
) -> Comparison:
    """Run a scenario, and compare what it compares.

    Args:
        scenario: the name of a built-in one, the path of a file, or a mapping of its fields.
        out: a directory for the results, which are thrown away unless it is given.
        orders: whether to run other orders of messages too, where the scenario has such. "exact":
            also compute the values over all orders, as `rebecsim compare --exact`.
        resume: whether to go on with the run in `out`.
        trace: whether to keep every message served, where the scenario has such.
        workers: processes. With more than one, a script must do its work below
            `if __name__ == "__main__":`, because every process reads it anew.
        dask: the address of a Dask scheduler that has the workers, as "tcp://host:8786", or "local"
            for so many `workers` on this machine, for which the same holds.
        engine: "python", "native", or "auto" for the faster one.
        progress: whether to say how large the runs are before more than a minute of them, and
            to show how far they are, in a terminal or a notebook.
        trust: whether a model in Python may be run that the file of the scenario names; one that
            your own mapping names is.
        changes: `replications`, `seed`, `precision` and `sweep`, instead of the scenario's.

    Results do not depend on `workers`, `dask`, `engine` and `resume`. Raises UserError for a
    scenario that is wrong, or needs `trust`, or a directory that holds other results, and
    `concurrent.futures.BrokenExecutor` when workers or their scheduler are killed, after which
    `resume` goes on. What a user should know and need not act on is a warning.

    >>> found = rs.compare("for_edf", replications=2, orders=False, progress=False)
    >>> found.summary.policies
    ('EDF', 'FIFO', 'MDF', 'PRIORITY')
    """
    loaded = _loaded(scenario, changes.pop("sweep", None) or {}, trust)
    most = MOST_STATES if orders == "exact" else None
    how = Running(out, bool(orders), resume, trace, workers, engine, dask, most)
    return compare_loaded(loaded, how, Comparison, progress=progress, **changes)


def size(
    scenario: AnyScenario,
    *,
    orders: bool = True,
    workers: int = 1,
    trust: bool = False,
    **changes: Unpack[Changes],
) -> Size | None:
    """Estimate how large the runs of `compare` are, and make none.

    `text` of the answer says it in a line; `seconds` are of wall time. The parameters are those of
    `compare`. None if that is not known, as of a kind from a plug-in that does not say it. Raises
    UserError for a scenario that is wrong.

    >>> rs.size("for_edf", replications=10).runs
    960
    """
    plan = _loaded(scenario, changes.pop("sweep", None) or {}, trust).plan(**changes)
    return comparison_size(plan, orders, workers)


C = TypeVar("C", bound=Comparison)


@dataclass(frozen=True)
class Running:
    """How a scenario is run; see `compare`. With `exact_states`, all orders are reckoned, too."""

    out: str | Path | None = None
    orders: bool = True
    resume: bool = False
    trace: bool = False
    workers: int = 1
    engine: Engine = "auto"
    dask: str | None = None
    exact_states: int | None = None


@dataclass(frozen=True)
class Telling:
    """How a user is told of runs.

    Attributes:
        showing: shows the progress of some runs while a block does them.
        tell: is told how large runs are, and where they are done.
        warn: is told what a user should know and need not act on.
    """

    showing: Callable[[Sequence[PlannedRun]], AbstractContextManager[Bar]]
    tell: Callable[[str], None]
    warn: Callable[[str], None]


@dataclass(frozen=True)
class Performed:
    """What a comparison has found, while its workers are still there."""

    report: ReportInput
    directory: Path
    executor: Executor


@contextmanager
def performed(plan: Plan, how: Running, telling: Telling) -> Iterator[Performed]:
    """Run a plan, and keep its workers for the block. What is wrong shows before it is written."""
    plan.prepare(How(how.engine, how.trace), telling.warn)
    if how.exact_states is not None:
        exact_orders_of(plan.study).require(plan)
    with _directory(how.out) as directory, _executor(how, plan, telling.tell) as executor:
        run = PlannedRun(plan, Results.open(directory, plan, how.resume), how.trace)
        runner = StudyRunner(executor, how.engine, telling.showing, telling.warn)
        report = compared(run, runner, how.orders, how.exact_states)
        yield Performed(report, directory, executor)


def compare_loaded(
    loaded: LoadedScenario, how: Running, result: type[C], *, progress: bool, **changes: object
) -> C:
    """Run a scenario that has been read, with some of its fields changed; else as `compare`."""
    plan = loaded.plan(**changes)
    how_large = comparison_size(plan, how.orders, how.workers)
    tell = _print if progress else _log.info
    if how_large is not None:
        how_large.require_bounded()
        if how_large.is_large:
            tell(how_large.text)
    telling = Telling(partial(_bar, is_wanted=progress), tell, _warn)
    with performed(plan, how, telling) as done:
        found = result(done.report, done.directory)
    if how.out is None:
        weakref.finalize(found, shutil.rmtree, done.directory.parent, ignore_errors=True)
    return found


def _print(text: str) -> None:
    from rich import get_console

    get_console().print(text, highlight=False, markup=False)


def _executor(
    how: Running, plan: Plan, tell: Callable[[str], None]
) -> AbstractContextManager[Executor]:
    if how.dask is None:
        return executor_with_plugins(how.workers, modules_of(plan.study, how.engine))
    return dask_with_plugins(how.dask, how.workers, plan, tell)


@contextmanager
def _directory(out: str | Path | None) -> Iterator[Path]:
    """Give the directory for results; without one, a new one that is removed if the block fails."""
    if out is not None:
        yield Path(out)
        return
    folder = Path(tempfile.mkdtemp(prefix="rebecsim-"))
    try:
        yield folder / "run"
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=3)


def _loaded(scenario: AnyScenario, sweep: Mapping[str, object], trust: bool) -> LoadedScenario:
    if isinstance(scenario, Mapping):
        own = ScenarioText("the scenario", dict(scenario), {}, Path())
        return load(own.with_sweep(sweep), run_programs)
    text = read_scenario_text(scenario).with_sweep(sweep)
    return load(text, run_programs if trust else refuse_programs)


@contextmanager
def _bar(runs: Sequence[PlannedRun], is_wanted: bool) -> Iterator[Bar]:
    from rich import get_console

    from rebecsim.report.comparison import progress_bar

    with progress_bar(runs, get_console(), is_wanted) as bar:
        yield bar

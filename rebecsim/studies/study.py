"""The contract between a kind of cluster and the pipeline that plans, runs, keeps and reports.

A kind is a subclass of `Study`. It says what its scenario files hold, which cells a scenario has,
how some replications of a cell are run, and which figures are computed from them. The pipeline
does the rest: run directory, worker processes, resuming, statistics, SQL, report, differences.

Clusters cut small, as models: what is compared on a log, explored for what it promises.

A kind whose rebecs own their state says how to cut a cell of a scenario to a few jobs and nodes
(`Study.small`). What comes of it is a model like any other: it can be explored, searched for races,
stepped, drawn and run live.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from rebecsim.actors import Instance, Model, Rebec
from rebecsim.actors.randomness import key_of
from rebecsim.actors.rebec import LOWEST_PRIORITY
from rebecsim.errors import UserError
from rebecsim.files import RunSize
from rebecsim.metrics import Metric
from rebecsim.native.engines import RUNS_COMPILE, Engine, usable
from rebecsim.studies.cells import POLICIES, Cell, Compared, Condition, Rows, Value
from rebecsim.studies.executors import Executor, simulation_modules
from rebecsim.studies.scenario import StudyScenario
from rebecsim.studies.scenario_files import FieldPath
from rebecsim.wording import suggestion

if TYPE_CHECKING:
    from rebecsim.studies.cells import Section
    from rebecsim.studies.moments import CellMoments
    from rebecsim.studies.plan import Plan
    from rebecsim.studies.results import Results
    from rebecsim.studies.stored_runs import StoredRun


@dataclass(frozen=True)
class Cut:
    """How small a cluster is made.

    Attributes:
        jobs: how many jobs are left, the first ones submitted.
        nodes: how many nodes are left, or processors where they are pooled.
    """

    jobs: int = 3
    nodes: int = 2


@dataclass(frozen=True)
class SmallCluster:
    """A cluster of a few jobs and nodes.

    Attributes:
        model: its rebecs; messages of one time come in any order.
        starts: the variable that holds when each job started, or has ended, as in
            `manager.starts`; -1: it has not.
        done: a condition that holds where every job has.
        jobs: what the jobs are called, in the order of `starts`.
        unit: of its time.
        promises: what a message server asserts, a sentence each.
        what: what was cut, as in "3 jobs on 2 processors".
        event: what happens to jobs at those times: they "start", or "end".
        terms: what conditions may say, as `queue("a")`, and how the variables of the model that
            are meant begin: `queue("a").used` is `manager.a_used`, where this is `manager.a`.
    """

    model: Model
    starts: str
    done: str
    jobs: tuple[str, ...]
    unit: str
    promises: tuple[str, ...]
    what: str
    event: str = "start"
    terms: Mapping[str, str] = field(default_factory=dict)

    def written(self, text: str) -> str:
        """Give a condition, or the text of a property file, with variables in place of terms.

        Raises UserError, naming the terms there are, for one that does not exist.
        """

        def variable(found: re.Match[str]) -> str:
            term = f'{found[1]}("{found[3]}")'
            if term not in self.terms:
                hint = suggestion(term, self.terms, f"there are {', '.join(self.terms)}")
                raise UserError(f"there is no {term}" + (f"; {hint}" if self.terms else " here"))
            return f"{self.terms[term]}_{found[4]}"

        return re.sub(r"""(\w+)\(\s*(["'])(.*?)\2\s*\)\.(\w+)""", variable, text)


class Cutter(Protocol):
    """What cuts a cell of a scenario small."""

    def __call__(self, cell: PlannedCell, cut: Cut) -> SmallCluster:
        """Give the cluster. Raises UserError for a cell that cannot be cut so."""


@runtime_checkable
class KeepsPromises(Protocol):
    """A rebec that has promised something, and says when it breaks its word."""

    def check_promises(self) -> None:
        """Raise AssertionFailedError if a promise is broken; called after each message."""


def in_any_order(model: Model, ordered: Collection[str] = ()) -> Model:
    """Give the model without priorities: messages of one time are served in any order.

    A simulation needs an order of what happens at one time; a cluster does not keep to it. Only
    `ordered` message servers keep their priorities, and so come before all others. What rebecs
    promise is checked after each of their messages.
    """
    classes: dict[type[Rebec], type[Rebec]] = {}
    instances: list[Instance] = []
    for each in model.instances:
        reactive_class = each.reactive_class
        if reactive_class not in classes:
            classes[reactive_class] = _without_priorities(reactive_class, ordered)
        instances.append(
            replace(each, reactive_class=classes[reactive_class], priority=LOWEST_PRIORITY)
        )
    return replace(model, instances=tuple(instances), globally_ordered=False)


def _without_priorities(reactive_class: type[Rebec], ordered: Collection[str]) -> type[Rebec]:
    own = {"__module__": reactive_class.__module__, "__qualname__": reactive_class.__qualname__}
    derived: Any = type(reactive_class.__name__, (reactive_class,), own)
    checks = issubclass(reactive_class, KeepsPromises)
    derived.__servers__ = {
        name: replace(
            server,
            handler=_checked(server.handler) if checks else server.handler,
            priority=server.priority if name in ordered else LOWEST_PRIORITY,
            global_priority=server.global_priority if name in ordered else LOWEST_PRIORITY,
        )
        for name, server in reactive_class.__servers__.items()
    }
    return derived  # type: ignore[no-any-return]


def _checked(handler: Callable[..., None]) -> Callable[..., None]:
    @wraps(handler)
    def served(self: Any, *arguments: Any) -> None:
        handler(self, *arguments)
        self.check_promises()

    return served


@dataclass(frozen=True, slots=True)
class Axis:
    """The coordinate that charts go by.

    Attributes:
        coordinate: its name in cells; the values are numbers.
        name: what files and sentences call it, an identifier such as `cluster_size`.
        title: what stands at the axis, as in "Cluster size (number of AppMasters)".
        by: how headings name it, as in "number of AppMasters".
        unit: what a value counts, as in "AppMasters".
        words: the values in their order, where they are no numbers; charts group by them.
    """

    coordinate: str
    name: str
    title: str
    by: str
    unit: str = ""
    words: tuple[str, ...] = ()


LOAD_AXIS = Axis(
    *("load_factor", "load_factor", "Load factor (times the submission rate)", "load factor"),
    unit="times the submission rate",
)
"""How many times as fast jobs are submitted."""


@dataclass(frozen=True)
class PlannedCell:
    """A cell of a plan.

    Attributes:
        cell: its policy and condition.
        name: the stem of its files.
        columns: what each replication gives: column -> type. Types are those of Arrow by name
            (`int32`, `float64`, ...), and `words` for a column of few words. None where that is
            not known, of cells read from a record.
        setup: what `Study.run` needs to know beside the cell; it is pickled.
        key: of its random numbers, the same for all policies under one condition.
        most: how many replications make sense, where that is fewer than the scenario asks for.
        is_random: whether anything is drawn in it.
        parameters: what the policy consists of, where it is a choice of several values: they are
            columns of SQL.
    """

    cell: Cell
    name: str
    columns: Mapping[str, str] | None = field(default=None, hash=False, compare=False)
    setup: Any = field(default=None, hash=False, compare=False)
    key: tuple[int, ...] = ()
    most: int | None = None
    is_random: bool = True
    parameters: Mapping[str, Value] = field(default_factory=dict, hash=False, compare=False)

    def replications(self, wanted: int) -> int:
        """Give how many replications it gets when so many are wanted."""
        return wanted if self.most is None else min(wanted, self.most)

    def generator(self, replication: int) -> np.random.Generator:
        """Give the random numbers of a replication: those that all policies see."""
        sequence = np.random.SeedSequence(entropy=list(self.key), spawn_key=(replication,))
        return np.random.default_rng(sequence)


MOST_STATES = 300_000
"""States of a cell that are looked at for exact orders, unless the user says otherwise: some
hundreds of megabytes."""


@dataclass(frozen=True, slots=True)
class How:
    """How runs are to be made.

    Attributes:
        engine: what runs models, where a kind has several engines.
        trace: whether every message served is kept.
        total: replications that are missing in all cells together.
    """

    engine: Engine = "auto"
    trace: bool = False
    total: int = 0


@dataclass(frozen=True, slots=True)
class ComparisonRules:
    """How the cells of a scenario are compared, beside the measures.

    Attributes:
        baseline: the policy that all others are compared with; None: every two are compared.
        separate: coordinates whose values are compared separately; others are pooled.
        charted: the figures of charts and of tables by the axis; empty: the measures.
        kept: all figures that can be computed from the rows, for SQL; empty: measures and charted.
        orders: the orders of messages that show, run beside it, how much hangs on them.
        caution: what must be known before the answer is read, such as that it is not fair.
    """

    baseline: str | None = None
    separate: tuple[str, ...] = ()
    charted: tuple[Metric, ...] = ()
    kept: tuple[Metric, ...] = ()
    orders: tuple[str, ...] = ()
    caution: str = ""


class ExactOrders(Protocol):
    """Finds the results of all message orders of each cell."""

    def require(self, plan: Plan) -> None:
        """Raise UserError for a plan whose message orders cannot all be computed."""

    def reckon(self, plan: Plan, results: Results, executor: Executor, most_states: int) -> None:
        """Find them, and keep them for `Study.sections`."""


class Study(ABC):
    """A kind of cluster. Instances have no state and are pickled."""

    kind: ClassVar[str]
    """Its name in scenario files."""

    question: ClassVar[str] = ""
    """What its scenarios ask, as the heading of a list of them; empty: its name is the heading."""

    scenario: ClassVar[type[StudyScenario]]
    """The class of its scenarios."""

    compared: ClassVar[Compared] = POLICIES
    """What cells are compared by, as reports call it."""

    order_notes: ClassVar[tuple[str, ...]] = ()
    """What the orders of messages are, where it has several: see `ComparisonRules.orders`."""

    earned_by: ClassVar[Metric | None] = None
    """A policy with 0 of this figure is not marked as the best of anything."""

    normal_outcomes: ClassVar[frozenset[str]] = frozenset()
    """How runs end that are not worth a warning, in the column `outcome`."""

    options: ClassVar[frozenset[str]] = frozenset()
    """Settings of the command line beyond replications, seed and precision that have a meaning."""

    replications_per_task: ClassVar[int] = 1_000
    """How many replications a worker process is given at a time."""

    counted: ClassVar[str] = "runs"
    """What replications are called in progress bars."""

    later_columns: ClassVar[frozenset[str]] = frozenset()
    """Columns of further tables that runs of earlier versions lack."""

    modules: ClassVar[tuple[str, ...]] = ()
    """What worker processes import beforehand."""

    exact: ClassVar[ExactOrders | None] = None
    """What computes all message orders; None: the kind cannot."""

    small: ClassVar[Cutter | None] = None
    """What cuts a cell to a cluster of a few jobs and nodes, which can be explored; None: nothing
    does, as its rebecs do not own their state."""

    changes: ClassVar[tuple[Callable[[StoredRun, StoredRun], Iterable[Any]], ...]] = ()
    """What differences of two runs show beyond cells: each gives things that `rich` can print."""

    # --- what every kind defines ---------------------------------------------------------------

    @abstractmethod
    def cells(self, scenario: Any, folder: Path) -> Iterable[PlannedCell]:
        """Lay out a scenario; paths in it start from `folder`."""

    @abstractmethod
    def run(self, cell: PlannedCell, replications: range) -> Rows:
        """Run some replications of a cell: the same ones give the same rows in every process."""

    @abstractmethod
    def measures(self, scenario: Any) -> tuple[Metric, ...]:
        """Give the figures that policies are compared by, the most important one first."""

    # --- what some kinds define ----------------------------------------------------------------

    def comparison(self, scenario: Any) -> ComparisonRules:
        """Say how cells are compared; every two policies, pooled, without this."""
        return ComparisonRules()

    def axis(self, scenario: Any) -> Axis | None:
        """Give the coordinate that charts go by; None: there are no charts."""
        return None

    def tables(self, scenario: Any, trace: bool) -> Mapping[str, Mapping[str, str]]:
        """Give the further tables of each cell: name -> column -> type, `?` for nullable ones.

        The column of replications may be left out here.
        """
        return {}

    def size(self, cell: PlannedCell, replications: int) -> RunSize | None:
        """Estimate a run of a cell in the mean of so many, at once and before anything is run.

        None: it is not known.
        Raises what `run` raises for files that are wrong.
        """
        return None

    def files(self, scenario: Any) -> Mapping[FieldPath, str]:
        """Give the files that a scenario names: the key that does -> the path from its folder."""
        return {}

    def prepare(self, plan: Plan, how: How, tell: Callable[[str], None]) -> None:  # noqa: B027
        """Raise now what would go wrong later; tell what a user should know."""

    def sections(
        self, plan: Plan, results: Results, moments: Sequence[CellMoments]
    ) -> Sequence[Section]:
        """Give what reports show beyond what all kinds have."""
        return ()


def comparison_of(study: Study, scenario: Any) -> ComparisonRules:
    """Give how cells are compared, with the figures that go without saying."""
    found, measures = study.comparison(scenario), study.measures(scenario)
    charted = found.charted or measures
    return replace(
        found, charted=charted, kept=found.kept or tuple(dict.fromkeys((*measures, *charted)))
    )


def exact_orders_of(study: Study) -> ExactOrders:
    """Give what computes all message orders. Raises UserError for a kind that cannot."""
    if study.exact is None:
        raise UserError(f"there are no exact orders for scenarios of the kind {study.kind}")
    return study.exact


def condition_key(seed: int, condition: Condition) -> tuple[int, int]:
    """Give a key for the random numbers of cells under a condition, whatever their policies."""
    return key_of(seed_sequence(seed, str(condition)))


def seed_sequence(seed: int, name: str, *numbers: int, size: int = 16) -> np.random.SeedSequence:
    """Give a child of a seed that depends on nothing but a name and numbers.

    So what has this name is the same in whichever scenario it stands. `size` is that of the digest
    of the name, in bytes.
    """
    digest = hashlib.blake2b(name.encode(), digest_size=size).digest()
    words = (int(word) for word in np.frombuffer(digest, dtype="<u4"))
    return np.random.SeedSequence(seed, spawn_key=(*words, *numbers))


def seed_of(seed: int, name: str, *numbers: int) -> int:
    """Give such a child of a seed as one number of 64 bits."""
    return int(seed_sequence(seed, name, *numbers, size=8).generate_state(1, np.uint64)[0])


class SimulatedStudy(Study):
    """A kind that simulates models, in the order of messages that a scenario names."""

    options: ClassVar[frozenset[str]] = frozenset({"law", "order", "orders", "trace", "engine"})
    traced_per_task: ClassVar[int] = 50
    """Fewer replications for a worker process where each is kept with its messages."""

    @abstractmethod
    def task(
        self, cell: PlannedCell, replications: range, how: How
    ) -> tuple[str, Callable[[], Rows]]:
        """Send the text of the model, which is all that a worker needs."""

    def run(self, cell: PlannedCell, replications: range) -> Rows:
        """Simulate some replications."""
        return self.task(cell, replications, How())[1]()


def task_of(
    study: Study, cell: PlannedCell, replications: range, how: How
) -> tuple[str, Callable[[], Rows]]:
    """Give what a worker process is sent, and the name of what it may keep between tasks."""
    if isinstance(study, SimulatedStudy):
        return study.task(cell, replications, how)
    return cell.name, partial(study.run, cell, replications)


def per_task(study: Study, trace: bool) -> int:
    """Give how many replications a worker process is given at a time, with messages or without."""
    if trace and isinstance(study, SimulatedStudy):
        return study.traced_per_task
    return study.replications_per_task


def modules_of(study: Study, engine: Engine) -> tuple[str, ...]:
    """Name what worker processes import beforehand."""
    simulating = simulation_modules(engine) if isinstance(study, SimulatedStudy) else ()
    return (*simulating, *study.modules)


_COMPILED_SECONDS = 4e-7
"""Of a time unit in compiled code: 2e-7 in `resource_manager_edf3`, 4e-7 with eviction."""


def seconds_of_runs(
    units: int, replications: int, in_python: float, *, is_compiled: bool = True
) -> float:
    """Estimate a run of so many time units, in the mean of so many replications.

    `in_python` is how long a unit takes there (s). To make compiled code takes as long as Python
    takes until that is worth while.
    """
    every = units * replications
    compiles = is_compiled and usable("auto") == "auto"
    first = min(every, RUNS_COMPILE) if compiles else every
    return (first * in_python + (every - first) * _COMPILED_SECONDS) / max(replications, 1)

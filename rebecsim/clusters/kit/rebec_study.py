"""The base class of kinds whose clusters are systems of rebecs: a kind says how to make one.

A cell is a system under a policy, which runs until no message is left. The counters of its figures
are state variables of one of its rebecs. What is drawn, the order of messages and choices, is drawn
from the random numbers of the cell.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

from rebecsim.actors import Model, RandomScheduler, Streams, System
from rebecsim.errors import UserError
from rebecsim.files import read_json
from rebecsim.metrics import Metric
from rebecsim.simulation import simulate
from rebecsim.studies.cells import Cell, Rows
from rebecsim.studies.plan import Plan
from rebecsim.studies.scenario_files import FieldPath
from rebecsim.studies.study import How, PlannedCell, Study, condition_key

Entry = TypeVar("Entry")


class RebecSetup(NamedTuple):
    """What a cell is made from; paths in its scenario start from `folder`."""

    study: RebecStudy
    scenario: Any
    folder: Path
    policy: str

    def model(self) -> Model:
        """Make the system, which also `rebecsim step` takes. Raises UserError and OSError."""
        return self.study.model(self.scenario, self.folder, self.policy)


class RebecStudy(Study):
    """A kind whose cells are systems of rebecs."""

    figures: ClassVar[tuple[Metric, ...]]
    """What policies are compared by; their counters are variables of the rebec `counted`."""

    counted: ClassVar[str]
    """The rebec that counts. Of a list, the sum is taken."""

    paths: ClassVar[tuple[str, ...]] = ()
    """The keys of the scenario that name files."""

    @abstractmethod
    def model(self, scenario: Any, folder: Path, policy: str) -> Model:
        """Make the system of a policy; paths start from `folder`. Raises UserError and OSError."""

    def cells(self, scenario: Any, folder: Path) -> Iterator[PlannedCell]:
        """Lay out a cell for each policy."""
        counters = sorted({name for each in self.figures for name in each.counters})
        for policy in scenario.policies:
            cell = Cell.of(policy)
            yield PlannedCell(
                cell=cell,
                name=policy.lower(),
                columns=dict.fromkeys(counters, "int64"),
                setup=RebecSetup(self, scenario, folder, policy),
                key=condition_key(scenario.seed, cell.condition),
            )

    def run(self, cell: PlannedCell, replications: range) -> Rows:
        """Run the system. Raises UserError for a run that ends in a violation."""
        model, rows = cell.setup.model(), []
        first, second = cell.key
        for replication in replications:
            result = simulate(model, RandomScheduler(Streams((first, second), replication)))
            if result.is_violation or result.system is None:
                where = f"{cell.cell}, run {replication}, time {result.time}"
                raise UserError(f"{where}: {result.outcome}: {result.detail}")
            rows.append(self._counts(result.system, cell.columns or {}))
        return Rows({name: [row[name] for row in rows] for name in rows[0]})

    def _counts(self, system: System, names: Mapping[str, str]) -> dict[str, int]:
        values = vars(system.rebec(self.counted))
        found = {name: values[name] for name in names}
        return {name: sum(v) if isinstance(v, list) else int(v) for name, v in found.items()}

    def measures(self, scenario: Any) -> tuple[Metric, ...]:
        """Give the figures."""
        return self.figures

    def files(self, scenario: Any) -> Mapping[FieldPath, str]:
        """Name the files."""
        return {(key,): getattr(scenario, key) for key in self.paths}

    def prepare(self, plan: Plan, how: How, tell: Callable[[str], None]) -> None:
        """Make the system of every cell once. Raises UserError and OSError."""
        for cell in plan.cells:
            cell.setup.model()


def read_entries(path: Path, key: str, make: Callable[[Any], Entry]) -> list[Entry]:
    """Read the list under a key of a JSON file, each entry as `make` makes it.

    Raises UserError, which names the entry, and OSError.
    """
    try:
        entries = read_json(path)[key]
    except json.JSONDecodeError as error:
        raise UserError(f"{path}:{error.lineno}:{error.colno}: is not JSON: {error.msg}") from error
    except (KeyError, TypeError) as error:
        raise UserError(f"{path}: has no list {key!r}") from error
    if not isinstance(entries, list) or not entries:
        raise UserError(f"{path}: {key!r} must be a list of at least one entry")
    found = []
    for number, entry in enumerate(entries):
        try:
            found.append(make(entry))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            text = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            name = getattr(make, "__name__", "entry")
            raise UserError(f"{path}: {key}[{number}] is not a {name}: {text}") from error
    return found

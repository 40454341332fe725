"""What is searched: the parameters of a scenario, the candidates, and their figures.

A candidate is one combination of the values of the parameters. Its figure is pooled over all other
coordinates of its cells, each cell with the same weight, as in `studies.estimates`. All candidates
see the same random numbers, so two of them are compared replication by replication.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, Protocol, TypedDict

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import BaseModel

from rebecsim.errors import ArgumentError, UserError
from rebecsim.metrics import Metric, Weights
from rebecsim.studies.cells import Value, grouped
from rebecsim.studies.parts import row_groups
from rebecsim.studies.plan import Plan
from rebecsim.studies.record import ResultsError
from rebecsim.studies.results import Results
from rebecsim.studies.scenario import swept_key
from rebecsim.studies.study import PlannedCell
from rebecsim.studies.sweeps import SweepError, read_sweep, shown_value
from rebecsim.wording import suggestion

Numbers = NDArray[np.float64]


What = Literal["tune", "sensitivity", "morris"]


class Question(TypedDict):
    """What is asked of a scenario; it stands in the record of the run.

    Attributes:
        what: whether the best candidate is searched, or the parameters that matter, by Sobol's
            indices ("sensitivity") or Morris's screening.
        measure: the name of the figure.
        better: which values of it are.
        over: names of parameters beside those of the sweep.
        budget: the most runs of all cells together, where the best is searched; else 0.
        cells: the names of those that are run, for Morris's screening.
    """

    what: What
    measure: str
    better: Literal["lower", "higher"]
    over: list[str]
    budget: int
    cells: NotRequired[list[str]]


# --- parameters ----------------------------------------------------------------------------------

_NEXT_KEY = re.compile(r",(?=\s*[A-Za-z_][\w.\[\]-]*\s*=)")


def read_over(given: Sequence[str], option: str = "--over") -> dict[str, list[Any]]:
    """Read parameters with their values, as in `app_masters=1..8,policy=EDF,FIFO`.

    Raises UserError, which names the option.
    """
    return read_sweep([part for text in given for part in _NEXT_KEY.split(text)], option)


def restricted(
    values: Mapping[str, Any], plan: Plan, over: Mapping[str, Sequence[Any]]
) -> tuple[dict[str, Any], dict[str, Sequence[Any]], list[str]]:
    """Apply values of parameters to what a scenario file says, whose plan is given.

    Returns:
        What the file says with other lists of what it compares, the keys that are left for its
        sweep, and the names of all parameters as candidates have them.

    Raises:
        ArgumentError: for a key or policy that there is not, or policies that cannot be named.
    """
    changed, swept, names = dict(values), dict[str, Sequence[Any]](), list[str]()
    scenario, one = plan.scenario, plan.study.compared.one
    coordinates = plan.cells[0].cell.condition.names
    for name, given in over.items():
        listed = [*given] if isinstance(given, list | tuple | range) else [given]
        if name in (one, "policy"):
            names.append(one)
            key, entries = _list_of_policies(plan, name)
            raw = values.get(key)
            are_tables = isinstance(raw, list) and any(isinstance(each, dict) for each in raw)
            for each in listed:
                if str(each) not in entries:
                    hint = suggestion(str(each), entries, f"there are {', '.join(entries)}")
                    raise ArgumentError("over", f"{name}: there is no {each!r}; {hint}")
            wanted = [entries.index(str(each)) for each in listed]
            changed[key] = [raw[place] for place in wanted] if are_tables and raw else listed
            continue
        lists = [key for key in (name, f"{name}s") if isinstance(_at(scenario, key), tuple)]
        coordinate = next(
            (each for each in (name, name.removesuffix("s")) if each in coordinates), ""
        )
        if lists and coordinate:
            names.append(coordinate)
            changed[lists[0]] = listed
        else:
            _require_key(plan, name, one, coordinates)
            names.append(name)
            swept[name] = given
    return changed, swept, names


def _require_key(plan: Plan, name: str, one: str, coordinates: Sequence[str]) -> None:
    """Raise ArgumentError, with what may have been meant, for a key that cannot be swept."""
    if name not in plan.scenario.model_copy(update={"sweep": {name: ()}}).swept:
        return  # a constant or an argument of a model, for which its kind looks
    keys = (key for each in coordinates for key in (each, f"{each}s"))
    listed = [key for key in keys if _lists_values(_at(plan.scenario, key))]
    try:
        swept_key(plan.scenario, name, [one, *listed])
    except SweepError as error:
        raise ArgumentError("over", f"{error.key}: {error.reason}") from error


def _lists_values(given: Any) -> bool:
    return isinstance(given, tuple) and not any(isinstance(each, BaseModel) for each in given)


def _at(scenario: Any, key: str) -> Any:
    return getattr(scenario, key, None)


def _list_of_policies(plan: Plan, name: str) -> tuple[str, list[str]]:
    """Find the key that lists what is compared, and its entries by name."""
    policies = list(dict.fromkeys(each.cell.policy for each in plan.cells))
    for key in type(plan.scenario).model_fields:
        entries = _at(plan.scenario, key)
        if not isinstance(entries, tuple):
            continue
        named = [
            str(getattr(each, "label", None) or getattr(each, "name", each)) for each in entries
        ]
        if named == policies:
            return key, named
    raise ArgumentError(
        "over", f"{name}: this scenario does not list what it compares; name one of its keys"
    )


def parameters_of(plan: Plan, cell: PlannedCell) -> dict[str, Value]:
    """Give what a cell is made of: name -> value, the policy first, swept keys by their names."""
    keys = {re.sub(r"\W+", "_", key): key for key in plan.scenario.sweep}
    keys |= {coordinate: key for key, coordinate in plan.swept.coordinates.items()}
    own = {keys.get(name, name): value for name, value in cell.parameters.items()} or {
        plan.study.compared.one: cell.cell.policy
    }
    return own | {keys.get(name, name): value for name, value in cell.cell.condition.coordinates}


@dataclass(frozen=True)
class Candidate:
    """A combination of values.

    Attributes:
        values: of each parameter, by its name.
        cells: what its figure is pooled over.
    """

    values: Mapping[str, Value] = field(hash=False)
    cells: tuple[PlannedCell, ...]

    @property
    def name(self) -> str:
        """Its values, in words."""
        return ", ".join(
            shown_value(value) if name in _SPEAKING else f"{name}={shown_value(value)}"
            for name, value in self.values.items()
        )


_SPEAKING = frozenset({"policy", "scheduler", "manager", "variant"})
"""Parameters whose values say what they are."""


@dataclass(frozen=True)
class Space:
    """What is searched.

    Attributes:
        levels: name of each parameter -> its values, numbers in ascending order.
        candidates: all combinations, in the order of the plan.
        pooled: coordinates with several values that figures are averaged over.
    """

    levels: Mapping[str, tuple[Value, ...]]
    candidates: tuple[Candidate, ...]
    pooled: tuple[str, ...]

    @property
    def cells_each(self) -> int:
        """The most cells of a candidate."""
        return max(len(each.cells) for each in self.candidates)

    def place(self, candidate: Candidate) -> tuple[int, ...]:
        """Give the places of a candidate's values among the levels."""
        return tuple(levels.index(candidate.values[name]) for name, levels in self.levels.items())

    @property
    def is_random(self) -> bool:
        """Whether anything is drawn in any cell."""
        return any(cell.is_random for each in self.candidates for cell in each.cells)


def space_of(plan: Plan, question: Question) -> Space:
    """Lay out what a question searches: policies, swept keys, and what else it names.

    Raises ArgumentError where there is nothing to choose from.
    """
    made_of = {cell: parameters_of(plan, cell) for cell in plan.every_cell}
    kept = {name for values in made_of.values() for name in values}
    own = kept - set(plan.every_cell[0].cell.condition.names) - set(plan.swept.coordinates)
    wanted = own | set(plan.swept.coordinates) | set(question["over"])
    several = {
        name: _in_order(found)
        for name in next(iter(made_of.values()))
        if len(found := dict.fromkeys(values.get(name, "") for values in made_of.values())) > 1
    }
    if unknown := [each for each in question["over"] if each not in kept]:
        raise ArgumentError(
            "over", f"{unknown[0]} is not a parameter here; there are {', '.join(kept)}"
        )
    levels = {name: values for name, values in several.items() if name in wanted}
    if not levels:
        raise ArgumentError(
            "over", "there is one candidate only; give several values here, or sweep the scenario"
        )
    groups = grouped(plan.every_cell, lambda cell: tuple(made_of[cell][name] for name in levels))
    candidates = tuple(
        Candidate(dict(zip(levels, values, strict=True)), tuple(cells))
        for values, cells in groups.items()
    )
    return Space(levels, candidates, tuple(name for name in several if name not in wanted))


def _in_order(values: Mapping[Value, None]) -> tuple[Value, ...]:
    are_numbers = not any(isinstance(each, str) for each in values)
    return tuple(sorted(values)) if are_numbers else tuple(values)


def measure_of(plan: Plan, name: str | None) -> Metric:
    """Find a figure by its name, or by a part that no other has; None: the most important one.

    Raises UserError, which names those there are.
    """
    measures = {each.name: each for each in plan.comparison.kept}
    if name is None:
        return plan.metrics[0]
    like = [each for each in measures if name in each]
    found = measures.get(name) or (measures[like[0]] if len(like) == 1 else None)
    if found is None:
        hint = suggestion(name, like or measures, f"there are {', '.join(like or measures)}")
        raise UserError(f"there is no measure {name!r} here, or several; {hint}")
    return found


# --- figures -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure of a candidate.

    Attributes:
        value: pooled over its cells; NaN for a ratio whose denominator is zero.
        parts: what each replication adds to the error of the value, shape (replications,): the
            value varies as their mean does. Of a ratio, the linear part (Cochran, see `estimates`).
    """

    value: float
    parts: Numbers


def pooled(numerators: Numbers, denominators: Numbers | None) -> Figure:
    """Pool the cells of a candidate; arrays have the shape (cells, replications)."""
    if denominators is None:
        runs = numerators.mean(axis=0)
        return Figure(float(runs.mean()), runs - runs.mean())
    total = denominators.mean(axis=1).sum()
    if total == 0:
        return Figure(float("nan"), np.zeros(numerators.shape[1]))
    ratio = numerators.mean(axis=1).sum() / total
    return Figure(float(ratio), (numerators - ratio * denominators).sum(axis=0) / total)


class Counted(Protocol):
    """Gives what was counted in the runs of a candidate."""

    def counts(
        self, candidate: Candidate, metric: Metric, runs: int
    ) -> tuple[Numbers, Numbers | None]:
        """Give the numerators and denominators of a figure in the first runs.

        Both have the shape (cells, runs). A cell in which nothing is drawn has one run, which
        stands for all.
        """


class StoredCounts:
    """Reads what was counted in each run, and keeps it."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._known: dict[str, pa.Table] = {}

    def counts(
        self, candidate: Candidate, metric: Metric, runs: int
    ) -> tuple[Numbers, Numbers | None]:
        """Give them from the parts. Raises ResultsError for one that is damaged or too short."""
        tables = [self._first(cell, runs) for cell in candidate.cells]
        return combined(tables, metric, runs)

    def _first(self, cell: PlannedCell, runs: int) -> Mapping[str, Any]:
        wanted = cell.replications(runs)
        known = self._known.get(cell.name)
        if known is None or len(known) < wanted:
            self._results.require(cell)
            known = pa.concat_tables(row_groups(self._results.part(cell)))
            self._known[cell.name] = known
        if len(known) < wanted:
            raise ResultsError(
                f"{self._results.directory}: the search is not complete; finish it with --resume"
            )
        names = [name for name in known.column_names if name != "outcome"]
        return {name: known.column(name).slice(0, wanted).to_numpy() for name in names}


def combined(
    cells: Sequence[Mapping[str, Any]], metric: Metric, runs: int
) -> tuple[Numbers, Numbers | None]:
    """Give the numerators and denominators of a figure from what was counted in some cells."""

    def of(weights: Weights) -> Numbers:
        sums = (
            sum(float(weight) * columns[name] for name, weight in weights.items())
            for columns in cells
        )
        return np.stack([np.resize(np.asarray(each, np.float64), runs) for each in sums])

    return of(metric.numerator), None if metric.denominator is None else of(metric.denominator)

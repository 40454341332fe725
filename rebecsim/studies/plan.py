"""Lay out the cells of a scenario, also one with swept keys, for the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from rebecsim.errors import UserError
from rebecsim.files import Size, digest_of
from rebecsim.metrics import Metric
from rebecsim.studies.cells import Cell, Condition
from rebecsim.studies.precision import Precision, parse_precisions
from rebecsim.studies.scenario import Setting, find_swept, swept_settings, unit_of
from rebecsim.studies.scenario_files import FieldPath, field_name
from rebecsim.studies.study import Axis, ComparisonRules, How, PlannedCell, Study, comparison_of
from rebecsim.studies.sweeps import (
    Changes,
    Sweep,
    column_names,
    coordinate,
    file_names,
    label_of,
    shown_value,
)
from rebecsim.trust import PluginRecord

_LONGEST_NAME = 60
VIEW_COLUMNS = ("run", "cell", "policy", "finished", "replications", "replication", "bytes")
"""The columns that views of all kinds have."""


@dataclass(frozen=True)
class SweptStudy:
    """What a kind makes of a scenario, under every combination of the values of its sweep."""

    study: Study
    scenario: Any

    @cached_property
    def comparison(self) -> ComparisonRules:
        """How cells are compared."""
        return comparison_of(self.study, self.scenario)

    @cached_property
    def coordinates(self) -> Mapping[str, str]:
        """The names of the coordinates of swept keys: key -> name. No view has two of a name."""
        study, scenario = self.study, self.scenario
        taken = {*VIEW_COLUMNS, *self.comparison.separate}
        if (axis := study.axis(scenario)) is not None:
            taken.add(axis.coordinate)
        for metric in self.comparison.kept:
            taken.update(metric.name + end for end in ("", "_low", "_high"))
        for columns in study.tables(scenario, trace=True).values():
            taken.update(columns)
        return column_names(list(scenario.swept), taken)

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """Every combination of the values that are swept."""
        return swept_settings(self.scenario)

    @property
    def separate(self) -> tuple[str, ...]:
        """The coordinates whose values are compared separately."""
        return (*self.comparison.separate, *self.coordinates.values())

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """What figures can be drawn over: the swept keys that have several values."""
        return tuple(
            _axis(self.coordinates[name], values, unit_of(key.schema))
            for name, key in find_swept(self.scenario).items()
            if len(values := self.scenario.swept[name]) > 1
        )

    @property
    def axis(self) -> Axis | None:
        """What charts go by: the swept numbers that are most, or else what the kind has."""
        numbers = [each for each in self.axes if not each.words]
        if not numbers:
            return self.study.axis(self.scenario)
        counts = {self.coordinates[key]: len(values) for key, values in self.scenario.swept.items()}
        return max(numbers, key=lambda each: counts[each.coordinate])

    def cells(self, folder: Path) -> Iterator[PlannedCell]:
        """Lay out the cells of all settings, one setting after the other.

        Random numbers are those of the scenario itself, so that all values see the same ones.
        Raises UserError where values change what is compared, or by which figures.
        """
        if not self.scenario.swept:
            yield from self.study.cells(self.scenario, folder)
            return
        rest = {
            key: each for key, each in self.scenario.sweep.items() if key not in self.scenario.swept
        }
        alone = self.scenario.model_copy(update={"sweep": Sweep(rest)})
        own = tuple(self.study.cells(alone, folder))
        names = file_names([each.changes for each in self.settings], _LONGEST_NAME, "setting")
        for setting, name in zip(self.settings, names, strict=True):
            cells = tuple(self.study.cells(setting.scenario, folder))
            where = tuple(
                (self.coordinates[key], coordinate(value)) for key, value in setting.changes
            )
            if [_compared(each) for each in cells] != [_compared(each) for each in own]:
                raise UserError(
                    f"sweep: {label_of(setting.changes)} changes what is compared, or which "
                    "figures there are; such a key cannot be swept"
                )
            for cell, base in zip(cells, own, strict=True):
                condition = Condition((*cell.cell.condition.coordinates, *where))
                found = Cell(cell.cell.policy, condition)
                yield replace(cell, cell=found, name=f"{cell.name}_{name}", key=base.key)

    def files(self) -> Mapping[FieldPath, str]:
        """Give the files that are named, those of all values too."""
        found = dict(self.study.files(self.scenario))
        for setting in self.settings:
            places = {key: self.scenario.swept[key].index(value) for key, value in setting.changes}
            for path, file in self.study.files(setting.scenario).items():
                key = field_name(path)
                if key in places and file != found.get(path):
                    found["sweep", key, places[key]] = file
        return found


def _compared(cell: PlannedCell) -> tuple[object, ...]:
    return cell.cell.policy, cell.columns, cell.cell.condition.names


def _axis(name: str, values: Sequence[Any], unit: str | None) -> Axis:
    words = name.strip("_").replace("_", " ")
    title = words[:1].upper() + words[1:]
    are_numbers = not any(isinstance(coordinate(each), str) for each in values)
    return Axis(
        coordinate=name,
        name=name,
        title=f"{title} ({unit})" if unit else title,
        by=words,
        unit=unit or "",
        words=() if are_numbers else tuple(map(shown_value, values)),
    )


_SHARE_BESIDE = 4
_LEAST_BESIDE = 25
"""Orders differ by far more than chance, so a quarter of the replications shows it, if that is not
too few."""


@dataclass(frozen=True)
class Plan:
    """The cells of a scenario.

    Attributes:
        study: its kind.
        scenario: what is compared.
        cells: in the order of the file; of a search, those that it needs.
        folder: what paths in the scenario start from.
        plugins: the plug-ins that are loaded.
        lacking: columns of further tables that a run of an earlier version lacks.
        search: what is asked of the cells if they are not all compared; see `rebecsim.search`.
    """

    study: Study
    scenario: Any
    cells: tuple[PlannedCell, ...]
    folder: Path = Path()
    plugins: tuple[PluginRecord, ...] = ()
    lacking: frozenset[str] = frozenset()
    search: Any = field(default=None, hash=False)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The figures that policies are compared by, the most important one first."""
        return self.study.measures(self.scenario)

    @cached_property
    def swept(self) -> SweptStudy:
        """The study under the values of the sweep."""
        return SweptStudy(self.study, self.scenario)

    @property
    def comparison(self) -> ComparisonRules:
        """How cells are compared."""
        return self.swept.comparison

    @property
    def separate(self) -> tuple[str, ...]:
        """The coordinates whose values are compared separately."""
        return self.swept.separate

    @property
    def axis(self) -> Axis | None:
        """What charts go by."""
        return self.swept.axis

    @property
    def caution(self) -> str:
        """What must be known before the answer is read, of any of the swept values."""
        settings = self.swept.settings
        found = (self.study.comparison(each.scenario).caution for each in settings)
        return " ".join(dict.fromkeys(filter(None, found)))

    @cached_property
    def settings(self) -> tuple[tuple[Changes, Plan], ...]:
        """Give the values that are swept, and a plan with each combination of them alone."""
        found, cells = self.swept.settings, self.every_cell
        size = len(cells) // len(found)
        return tuple(
            (
                each.changes,
                replace(
                    self,
                    scenario=each.scenario,
                    cells=cells[place * size : (place + 1) * size],
                ),
            )
            for place, each in enumerate(found)
        )

    @cached_property
    def every_cell(self) -> tuple[PlannedCell, ...]:
        """The cells, also those that a search does not need."""
        return tuple(self.swept.cells(self.folder)) if self.search else self.cells

    def asked(self, search: Any) -> Plan:
        """Ask something of the cells, of these alone that are named in it, if any are."""
        names = frozenset(search.get("cells", ())) if search else frozenset()
        cells = tuple(each for each in self.cells if not names or each.name in names)
        return replace(self, cells=cells, search=search)

    def prepare(self, how: How, tell: Callable[[str], None]) -> None:
        """Raise now what would go wrong later; tell once what a user should know."""
        told: dict[str, None] = {}
        for _, plan in self.settings:
            self.study.prepare(plan, how, told.setdefault)
        for line in told:
            tell(line)

    def files(self) -> Mapping[FieldPath, str]:
        """Give the files that are named: the key that does -> the path from the folder."""
        return self.swept.files()

    @cached_property
    def columns(self) -> Mapping[str, str]:
        """What any of the cells gives: column -> type."""
        return {name: kind for cell in self.cells for name, kind in (cell.columns or {}).items()}

    @property
    def has_chance(self) -> bool:
        """Whether anything is drawn in any of the cells."""
        return any(cell.is_random for cell in self.cells)

    @property
    def precisions(self) -> tuple[Precision, ...]:
        """How well the scenario asks for figures to be known; unnamed, the most important one."""
        if self.scenario.precision is None:
            return ()
        return parse_precisions(self.scenario.precision, self.metrics)

    @property
    def total(self) -> int:
        """Replications of all cells together."""
        return sum(cell.replications(self.scenario.replications) for cell in self.cells)

    @property
    def usual_runs(self) -> int:
        """Replications of a cell: those of the scenario, or the mean where a budget limits them."""
        budget: int = self.search["budget"] if self.search else 0
        return -(-budget // len(self.cells)) or int(self.scenario.replications)

    def tables(self, trace: bool = False) -> Mapping[str, Mapping[str, str]]:
        """Give the further tables of each cell."""
        return {
            table: {name: kind for name, kind in columns.items() if name not in self.lacking}
            for table, columns in self.study.tables(self.scenario, trace).items()
        }

    def fingerprints(self) -> dict[str, str]:
        """Give the digests of the files that the scenario names, for the record. Raises OSError.

        A file in a list of tables is called by its whole path, as in `variants_0_file`.
        """
        return {
            f"{_called(path)}_blake2b": digest_of(self.folder / name)
            for path, name in self.files().items()
        }

    def beside(self, replications: int) -> dict[str, Plan]:
        """Plan the other orders of messages, which are run beside a study in random order."""
        orders = self.comparison.orders
        if not orders or self.scenario.order != "random" or "order" in self.scenario.swept:
            return {}
        fewer = min(replications, max(_LEAST_BESIDE, replications // _SHARE_BESIDE))
        changes = {"replications": fewer, "precision": None}
        others = {
            order: self.scenario.model_copy(update={"order": order, **changes})
            for order in orders
            if order != "random"
        }
        return {
            name: plan_study(self.study, each, self.folder, self.plugins)
            for name, each in others.items()
        }


def _called(path: FieldPath) -> str:
    in_list = any(isinstance(part, int) for part in path)
    return "_".join(map(str, path)) if in_list else str(path[-1])


def plan_study(
    study: Study,
    scenario: Any,
    folder: Path = Path(),
    plugins: tuple[PluginRecord, ...] = (),
) -> Plan:
    """Lay out the cells of a scenario."""
    cells = tuple(SweptStudy(study, scenario).cells(folder))
    return Plan(study, scenario, cells, folder, plugins)


def plan_size(plans: Iterable[Plan], workers: int) -> Size | None:
    """Estimate the runs of plans that are made together; None if the kind does not know.

    Raises what `Study.size` raises.
    """
    runs = []
    for plan in plans:
        for cell in plan.cells:
            count = cell.replications(plan.usual_runs)
            size = plan.study.size(cell, count)
            if size is None:
                return None
            runs.append((count, size))
    return Size.of(runs, workers)

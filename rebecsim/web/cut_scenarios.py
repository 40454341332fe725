"""Scenarios that are opened in the explorer, cut small: their addresses, and the models of cells.

The identifier of such a model says how to make it again, so its address can be kept: scenario,
cell, jobs, nodes, and what the text of the scenario was.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from functools import lru_cache

from rebecsim.clusters.scenarios import load
from rebecsim.errors import UserError
from rebecsim.interface.loading import LoadedModel, cell_of
from rebecsim.interface.small import LoadedCluster, cut_small, is_whole
from rebecsim.studies.plan import Plan
from rebecsim.studies.scenario_files import builtin_folder, builtin_scenarios, read_scenario_text
from rebecsim.studies.small import Cut

MOST = 6
"""Jobs, and nodes, of a cluster that is opened in a browser."""

_BETWEEN = "~"


@dataclass(frozen=True)
class CutScenario:
    """A cell of a built-in scenario, and how small its cluster is made."""

    scenario: str
    cell: str
    jobs: int = 2
    nodes: int = 2

    @property
    def id(self) -> str:
        """What stands in addresses."""
        parts = self.scenario, self.cell, str(self.jobs), str(self.nodes), _digest(self.scenario)
        return _BETWEEN.join(parts)

    @property
    def is_cut(self) -> bool:
        """Whether its cluster is cut small; else the cell is a model as it stands."""
        return not is_whole(_planned(self.scenario))

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of the scenario."""
        return tuple(each.name for each in _planned(self.scenario).cells)

    def opened(self) -> LoadedModel:
        """Make the model. Raises UserError for a cluster that cannot be cut so."""
        plan = _planned(self.scenario)
        if is_whole(plan):
            return cell_of(plan, self.cell, "", self.scenario)
        (wanted,) = (each for each in plan.cells if each.name == self.cell)
        only = replace(plan, cells=(wanted,))
        return next(iter(cut_small(only, Cut(self.jobs, self.nodes), (), self.scenario).values()))


def listed_so(cut: CutScenario) -> tuple[str, str]:
    """Give the text that is listed, and how a file of it ends: of the model, or the scenario."""
    if not cut.is_cut:
        return cut.opened().text or "", ".rebeca"
    return (builtin_folder() / f"{cut.scenario}.toml").read_text("utf-8"), ".toml"


def about(loaded: LoadedModel) -> str:
    """Say what was cut, and what its rebecs promise; empty for another model."""
    if not isinstance(loaded, LoadedCluster):
        return ""
    cluster = loaded.cluster
    return f"{cluster.what}; times in {cluster.unit}. Promises: {'; '.join(cluster.promises)}."


def cut_scenario(scenario: str, cell: str = "", jobs: int = 2, nodes: int = 2) -> CutScenario:
    """Give a cell of a built-in scenario, the first one that can be opened unless it is named.

    Raises UserError for what there is not, or is too large or too small.
    """
    if scenario not in builtin_scenarios():
        raise UserError(f"{scenario[:80]}: rebecsim has no scenario of this name")
    if not (1 <= jobs <= MOST and 1 <= nodes <= MOST):
        raise UserError(f"The browser shows clusters of 1 to {MOST} jobs and nodes.")
    found = CutScenario(scenario, cell, jobs, nodes)
    if cell:
        if cell not in found.cells:
            raise UserError(f"{scenario}: there is no cell {cell[:80]}")
        return found
    why: UserError | None = None
    for each in found.cells:
        found = replace(found, cell=each)
        try:
            found.opened()
        except UserError as error:
            why = why or error
        else:
            return found
    raise why or UserError(f"{scenario}: it has no cells")


def read_id(text: str) -> CutScenario | None:
    """Give what an identifier means; None if it is of something else, or of another version."""
    scenario, *rest = text.split(_BETWEEN)
    if len(rest) != 4 or not all(re.fullmatch("[1-9]", each) for each in rest[1:3]):
        return None
    try:
        found = cut_scenario(scenario, rest[0] or "?", int(rest[1]), int(rest[2]))
    except UserError:
        return None
    return found if found.id == text else None


@lru_cache(maxsize=8)
def _planned(scenario: str) -> Plan:
    return load(scenario).plan()


@lru_cache(maxsize=64)
def _digest(scenario: str) -> str:
    return hashlib.sha256(repr(read_scenario_text(scenario).values).encode()).hexdigest()[:8]

"""Clusters of scenarios, cut small, as models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rebecsim.clusters.kinds import find_kind, kind_names
from rebecsim.clusters.kit.rebec_study import RebecSetup
from rebecsim.clusters.scenarios import load
from rebecsim.errors import UserError
from rebecsim.exploration import Limits
from rebecsim.interface.exploring import MINUTE, Explored
from rebecsim.interface.loading import LoadedModel
from rebecsim.studies.plan import Plan
from rebecsim.studies.small import Cut, SmallCluster


@dataclass(frozen=True)
class LoadedCluster(LoadedModel):
    """A cluster of a few jobs and nodes, which can be used as any model.

    Attributes:
        cluster: what was cut, and what its rebecs promise.
    """

    cluster: SmallCluster = field(kw_only=True)

    @property
    def terminal(self) -> tuple[str, ...]:
        """Where runs may end: when every job has started."""
        return (self.cluster.done,)

    @property
    def finals(self) -> str:
        """When jobs start."""
        return self.cluster.starts

    def written(self, text: str) -> str:
        """Give a condition, or a property file, with variables in place of the kind's terms.

        Raises UserError for a term that does not exist.
        """
        return self.cluster.written(text)

    def starts(self, found: Explored, limits: Limits = MINUTE) -> dict[str, list[int]]:
        """Give when each job starts, over all orders of messages, in its unit of time.

        `found` is what exploring it has found. Raises UserError if not all orders were seen.
        """
        finals = found.finals(self.cluster.starts, limits)
        return {
            job: sorted({each[place] for each in finals})
            for place, job in enumerate(self.cluster.jobs)
        }


def _can_be_cut(kind: str) -> bool:
    return find_kind(kind).small is not None


def is_whole(plan: Plan) -> bool:
    """Whether cells of a scenario are models as they stand: see `load_cell`."""
    setup = plan.cells[0].setup
    return isinstance(setup, RebecSetup) or getattr(setup, "model_text", None) is not None


def small_clusters(
    scenario: str | Path,
    *,
    jobs: int = 3,
    nodes: int = 2,
    policies: Sequence[str] = (),
) -> Mapping[str, LoadedCluster]:
    """Cut the clusters of a scenario to a few jobs and nodes; one for each cell, by its policy.

    Where policies are compared under several conditions, names say these, too.

    Args:
        scenario: the name of a built-in scenario, or the path of a file.
        jobs: how many jobs are left, the first ones submitted.
        nodes: how many nodes are left, or processors where they are pooled.
        policies: only these, or a policy under one condition, as "FIFO (load factor 1.0)"; all of
            the scenario unless given.

    Raises UserError for a kind of cluster that cannot be cut, an unknown policy, or jobs that do
    not fit; ScenarioError for what is wrong with the file.

    >>> clusters = rs.small_clusters("backfilling_or_fairshare", policies=["EASY"])
    >>> found = rs.explore(clusters["EASY"])
    >>> found.verdict
    'satisfied'
    """
    return cut_small(load(scenario).plan(), Cut(jobs, nodes), policies, scenario)


def cut_small(
    plan: Plan,
    cut: Cut,
    policies: Sequence[str],
    scenario: str | Path,
    leave_out: Callable[[str], None] | None = None,
) -> Mapping[str, LoadedCluster]:
    """Cut the clusters of a planned scenario, which errors call so; as `small_clusters`.

    Policies that cannot be cut are left out if nobody named them and others can; `leave_out` is
    told why.
    """
    study = plan.study
    if study.small is None:
        raise UserError(
            f"{scenario}: clusters of kind `{study.kind}` cannot be explored; kinds "
            f"that can are {', '.join(filter(_can_be_cut, kind_names()))}"
        )
    known = list(dict.fromkeys(each.cell.policy for each in plan.cells))
    for policy in policies:
        if policy not in known and all(policy != str(each.cell) for each in plan.cells):
            raise UserError(f"{scenario}: no policy {policy}; it has {', '.join(known)}")
    cells = [
        each
        for each in plan.cells
        if not policies or each.cell.policy in policies or str(each.cell) in policies
    ]
    are_policies = len({each.cell.condition for each in cells}) == 1
    found: dict[str, LoadedCluster] = {}
    refused: dict[str, UserError] = {}
    for each in cells:
        try:
            small = study.small(each, cut)
        except UserError as error:
            refused.setdefault(str(error), error)
            if policies or leave_out is None:
                raise
            continue
        name = each.cell.policy if are_policies else str(each.cell)
        found[name] = LoadedCluster(small.model, cluster=small)
    for text, why in refused.items():
        if not found or leave_out is None:
            raise why
        leave_out(text)
    return found

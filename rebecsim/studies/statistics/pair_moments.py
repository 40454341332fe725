"""Moments of paired runs, across the counters of several policies.

Replication r of a workload on a cluster size has the same random numbers under every policy
(common random numbers), so the runs of the policies are compared run by run. Sums of products
across policies hold all that a difference of two policies needs, whatever the metric.

Source: A. M. Law, "Simulation Modeling and Analysis", 5th edition, McGraw-Hill 2015, sections
10.2 (paired comparisons) and 11.2 (common random numbers).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from rebecsim.metrics import Weights
from rebecsim.studies.cell import Condition
from rebecsim.studies.rows import REPLICATION
from rebecsim.studies.statistics.exact_moments import ExactMoments, NumberColumn

RunBatch = Mapping[str, NumberColumn]
"""Some runs of one cell: `REPLICATION` and counters -> array of shape (n,)."""


class UnpairedRunsError(ValueError):
    """Runs of several policies that are not the same replications in the same order."""


@dataclass(frozen=True)
class PairedMoments(ExactMoments[Condition]):
    """Exact moments of the counters of all policies in the same runs of one condition.

    The counters are joint ones: `of_policy` gives weights on them.

    Attributes:
        policies: their names.
    """

    policies: tuple[str, ...] = ()

    @property
    def condition(self) -> Condition:
        """What all policies ran on."""
        return self.subject

    @classmethod
    def from_columns(
        cls, condition: Condition, columns: Mapping[str, Mapping[str, NumberColumn]]
    ) -> PairedMoments:
        """Summarise a batch of runs; raises as `of_columns`.

        `columns` are policy -> counter -> array of shape (n,); place r of every array is the same
        replication.
        """
        joint = {
            _joint(policy, counter): column
            for policy, counters in columns.items()
            for counter, column in counters.items()
        }
        return cls.of_columns(condition, joint, policies=tuple(columns))

    @staticmethod
    def of_policy(policy: str, weights: Weights) -> Weights:
        """Weights on the counters of one policy, as weights on the joint counters."""
        return {_joint(policy, counter): weight for counter, weight in weights.items()}


def pair_up(condition: Condition, runs: Mapping[str, Iterable[RunBatch]]) -> PairedMoments:
    """Sum up the runs of several policies, read in step.

    The batches of the policies may be cut differently. No more than one batch of each policy is
    held at a time.

    Args:
        condition: what was run.
        runs: policy -> its runs, in batches with the same counters and in ascending order of
            `REPLICATION`.

    Raises:
        UnpairedRunsError: when the policies do not have the same replications in the same order,
            or there is none.
    """
    total: PairedMoments | None = None
    for batches in _in_step(runs):
        _require_same_runs(condition, batches)
        some = PairedMoments.from_columns(
            condition,
            {
                policy: {name: c for name, c in batch.items() if name != REPLICATION}
                for policy, batch in batches.items()
            },
        )
        total = some if total is None else total.merged(some)
    if total is None:
        raise UnpairedRunsError(f"{condition}: there are no runs to compare")
    return total


def _joint(policy: str, counter: str) -> str:
    return f"{policy}:{counter}"


def _in_step(runs: Mapping[str, Iterable[RunBatch]]) -> Iterator[dict[str, RunBatch]]:
    """Cut the batches of all policies at the same places."""
    streams = {policy: _filled(batches) for policy, batches in runs.items()}
    heads: dict[str, RunBatch | None] = dict.fromkeys(streams)
    while True:
        for policy, stream in streams.items():
            if heads[policy] is None:
                heads[policy] = next(stream, None)
        present = {policy: head for policy, head in heads.items() if head is not None}
        if not present:
            return
        if len(present) < len(heads):
            ended = ", ".join(policy for policy in heads if policy not in present)
            raise UnpairedRunsError(f"{ended}: fewer runs than {', '.join(present)}")
        length = min(_length(head) for head in present.values())
        yield {policy: _rows(head, 0, length) for policy, head in present.items()}
        heads = {
            policy: _rows(head, length, None) if _length(head) > length else None
            for policy, head in present.items()
        }


def _filled(batches: Iterable[RunBatch]) -> Iterator[RunBatch]:
    return (batch for batch in batches if _length(batch))


def _length(batch: RunBatch) -> int:
    return len(batch[REPLICATION])


def _rows(batch: RunBatch, first: int, end: int | None) -> RunBatch:
    return {name: column[first:end] for name, column in batch.items()}


def _require_same_runs(condition: Condition, batches: Mapping[str, RunBatch]) -> None:
    (first, reference), *others = batches.items()
    for policy, batch in others:
        if not np.array_equal(batch[REPLICATION], reference[REPLICATION]):
            raise UnpairedRunsError(
                f"{condition}: {first} and {policy} do not have the same replications in the same "
                "order"
            )

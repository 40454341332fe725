"""Runs of several policies in pairs, for tests."""

from collections.abc import Mapping

import numpy as np

from rebecsim.studies.cells import Condition
from rebecsim.studies.moments import PairedMoments

Raw = Mapping[str, object]


def paired(*raw: Raw) -> list[PairedMoments]:
    """One condition per mapping from policy to runs (y, x), of shape (n, 2)."""
    result = []
    for i, by_policy in enumerate(raw):
        columns = {}
        for policy, runs in by_policy.items():
            y, x = np.array(runs, dtype=np.int64).reshape(-1, 2).T
            columns[policy] = {"y": y, "x": x}
        result.append(
            PairedMoments.from_columns(
                Condition.of(arrivals="a", lengths="l", app_masters=i + 1), columns
            )
        )
    return result

"""Studies: the one pipeline from scenarios of any kind to results and statistics.

A kind is a subclass of `Study`, whose scenarios are a subclass of `StudyScenario`
(`ScenarioError` says what is wrong with one). It lays out the `PlannedCell`s of a `Plan`, each with
the coordinates of its `Cell`, and gives `Rows` of replications of them. `run_plans` runs plans,
each a `PlannedRun` into `Results` (`ResultsError` says what is wrong with a directory), on an
`Executor`.

`CellMoments` of a cell are what statistics are computed from: `summarise` gives a `Summary` with an
`Estimate` for every figure. `paired_moments` are of the runs of several policies with the same
random numbers (`PairedMoments`): `pairwise_differences` compares every two policies in them
(`PairDifference`). `order_envelopes` puts message orders side by side (`OrderEnvelope`).
`next_replications` says how many more runs a `Precision` needs (`parse_precision` reads one).

They are loaded when they are asked for.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

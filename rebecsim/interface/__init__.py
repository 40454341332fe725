"""The functions of `import rebecsim as rs`, and their results.

`load` and `loads` read a model and give it as `LoadedModel`. `simulate` runs it once, `explore`
tries all orders of its messages, `races` says which of them matter, `exact` what they come to at
best, at worst and on average, `estimate` and `rare` how likely something is. `run` runs it many
times, `compare` runs a scenario. Their results, `Simulated`, `Explored`, `FoundRaces`, `Exact`,
`Estimated`, `EstimatedRare`, `ManyRuns` and `Comparison`, show themselves in notebooks and with
`rich`; a `Drawing` is an SVG picture that does.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

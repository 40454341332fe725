"""The functions of `import rebecsim as rs`, and their results.

`load` and `loads` read a model and give it as `LoadedModel`; `check` says what is wrong in its
text (`CheckedFile`); `new`, `generate` and `format` write models. `simulate` runs one once, `step`
lets you pick each message, `run_live` runs it in real time. `explore` tries all orders of its
messages, `replay` does what it found again, `races` finds the orders that matter, `exact` computes
the best case, the worst case and the mean, `estimate` and `rare` how likely something is. `run`
runs it many times, `compare` runs a scenario, and `size` says how long that takes. `open` reads
stored results, `runs` lists them and answers SQL, `diff` compares two. `tune` searches a scenario
for its best cell, `sensitivity` says which of its parameters matter. `measure` measures the queues
of a model. `workload` and `containers` read logs and traces, `draw_workload` and `draw_containers`
make synthetic ones, and `measure_schedules` says what schedules did to users (`ExpectedShares`).

The results, such as `Simulated`, `Explored` and `Comparison`, show themselves in notebooks and with
`rich`; a `Drawing` is an SVG picture.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

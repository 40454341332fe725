"""What a notebook or a program calls: `import rebecsim as rs`, then `rs.load`, `rs.simulate`, ...

`load` and `loads` read a model and give it as `LoadedModel`. `simulate` runs it once, `explore`
tries all orders of its messages, `races` says which of them matter, `run` runs it many times,
`compare` runs a scenario. Their results, `Simulated`, `Explored`, `FoundRaces`, `ManyRuns` and
`Comparison`, show themselves in notebooks and with `rich`; a `Drawing` is an SVG picture that does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebecsim.lazy_names import names_of

if TYPE_CHECKING:
    from rebecsim.interface.comparing import Comparison, compare
    from rebecsim.interface.drawing import Drawing
    from rebecsim.interface.exploring import Explored, explore
    from rebecsim.interface.loading import LoadedModel, load, loads
    from rebecsim.interface.racing import FoundRaces, races
    from rebecsim.interface.running import ManyRuns, run
    from rebecsim.interface.simulating import Simulated, simulate

__all__ = [
    "Comparison",
    "Drawing",
    "Explored",
    "FoundRaces",
    "LoadedModel",
    "ManyRuns",
    "Simulated",
    "compare",
    "explore",
    "load",
    "loads",
    "races",
    "run",
    "simulate",
]

_MODULES = {
    "Comparison": "comparing",
    "Drawing": "drawing",
    "Explored": "exploring",
    "FoundRaces": "racing",
    "LoadedModel": "loading",
    "ManyRuns": "running",
    "Simulated": "simulating",
    "compare": "comparing",
    "explore": "exploring",
    "load": "loading",
    "loads": "loading",
    "races": "racing",
    "run": "running",
    "simulate": "simulating",
}

__getattr__, __dir__ = names_of(__name__, _MODULES)

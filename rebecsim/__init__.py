"""rebecsim: a Timed Rebeca workbench.

    import rebecsim as rs

    model = rs.load("office.rebeca")
    rs.simulate(model, until=20, seed=1)
    rs.explore(model)

`load` and `loads` read models; `simulate` runs one once and `run` many times, `explore` tries all
orders of its messages, `races` says which of them matter; `compare` runs a scenario. `Checks` says
what an exploration looks for, `Limits` where it stops.

The packages below: `lang` reads and checks models, `actors` says what a rebec is and when it may
act, `generate` turns configurations and checked models into code, `simulation`, `exploration` and
`live` run them, `studies` and `clusters` compare policies, `report` shows the results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebecsim.lazy_names import names_of

if TYPE_CHECKING:
    from rebecsim.exploration import Checks, Limits
    from rebecsim.interface import compare, explore, load, loads, races, run, simulate

__all__ = [
    "Checks",
    "Limits",
    "__version__",
    "compare",
    "explore",
    "load",
    "loads",
    "races",
    "run",
    "simulate",
]

__version__ = "0.1.0"

_MODULES = {
    "Checks": "exploration",
    "Limits": "exploration",
    "compare": "interface",
    "explore": "interface",
    "load": "interface",
    "loads": "interface",
    "races": "interface",
    "run": "interface",
    "simulate": "interface",
}

__getattr__, __dir__ = names_of(__name__, _MODULES)

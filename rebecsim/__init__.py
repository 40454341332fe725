"""rebecsim: a Timed Rebeca workbench.

    import rebecsim as rs

    model = rs.load("office.rebeca")
    rs.simulate(model, until=20, seed=1)
    rs.explore(model)

`load` and `loads` read models, `check` says what is wrong in one; `new`, `generate` and `format`
write them; `Rebec`, `Instance` and `Model` are what you write them with in Python. `simulate` runs
a model once and `run` many times, `step` lets you pick each message, `run_live` runs it in real
time. `explore` tries all orders of its messages, `races` lists the orders that matter, `exact`
computes the best case, the worst case and the mean over all orders, `estimate` and `rare` how
likely something is; `replay` does a counterexample again. `compare` runs a scenario, `size`
estimates beforehand how long that takes; `tune` searches its best cell, `sensitivity` which
parameters matter. `open` reads results that were kept, `runs` lists them, `diff` compares two.
`Checks` says what an exploration looks for, `Limits` where it stops. What you can mend is raised as
`UserError`.

All take the model (or the scenario) first, and everything else by name. Where several texts can
be given, one may be given alone.

The packages below: `lang` reads and checks models, `actors` says what a rebec is and when it may
act, `generate` turns configurations and checked models into code, `simulation`, `exploration` and
`live` run them, `studies` and `clusters` compare policies, `report` shows the results.
"""

from typing import Any

from lazy_loader import attach_stub

__version__ = "0.1.0"

_attached, __dir__, __all__ = attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    try:
        return _attached(name)
    except ModuleNotFoundError as error:
        from rebecsim.extras import missing_package

        missing = missing_package(f"rebecsim.{name}", error)
        if missing is None:
            raise
        raise missing from error

"""Choose the engine of a simulation, and say why the native engine cannot run a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rebecsim.errors import UserError
from rebecsim.native import thresholds
from rebecsim.native.engines import usable

if TYPE_CHECKING:
    from rebecsim.lang.checked import CheckedModel
    from rebecsim.native.engines import Engine
    from rebecsim.native.layout import NativeModel


class EngineError(UserError):
    """The engine that was asked for cannot run the model."""


def require_checked(checked: CheckedModel | None) -> CheckedModel:
    """Give the checked tree of a model. Raises EngineError when it was written in Python."""
    if checked is None:
        raise EngineError(
            "the native engine runs models in Rebeca only, not Rebec classes written in Python; "
            "choose the python engine"
        )
    return checked


def native_for(engine: Engine, work: int, lay_out: Callable[[], NativeModel]) -> NativeModel | None:
    """Give the compiled model if the native engine is to do the work; None: Python does it.

    `work` is in time units, replications together. Under `auto` the model is laid out only if that
    may pay, and compiled only if that does.

    Raises EngineError, NotNativeError or MissingPackagesError when the native engine is asked for
    and cannot run it.
    """
    engine = usable(engine)
    if engine == "python" or (engine == "auto" and work < thresholds.RUNS_LOAD):
        return None
    from rebecsim.actors import Violation
    from rebecsim.generate.step import NotNativeError
    from rebecsim.simulation.native import require_compiled

    try:
        native = lay_out()
        if engine == "auto" and work < thresholds.RUNS_COMPILE and not _is_compiled(native):
            return None
        require_compiled(native)
    except NotNativeError:
        if engine == "native":
            raise
        return None
    except Violation:  # in a constructor: there is nothing to compile for
        return None
    return native


def _is_compiled(native: NativeModel) -> bool:
    from rebecsim.native.cache import is_ready
    from rebecsim.native.loops.simulation import run_replications

    return is_ready(run_replications) and is_ready(native.step)

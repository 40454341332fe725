"""When the native engine simulates a model, and when it cannot."""

from __future__ import annotations

from rebecsim.errors import UserError
from rebecsim.lang.checked import CheckedModel

__all__ = ["WORTH_COMPILING", "WORTH_LOADING", "EngineError", "require_checked"]

WORTH_LOADING = 4_000
"""Time units, replications together, from which on `auto` takes compiled code that is on disk."""

WORTH_COMPILING = 60_000
"""Time units from which on `auto` compiles: that takes a second or two for a resource manager with
its AppMasters, as long as the Python engine takes for so many of them."""


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

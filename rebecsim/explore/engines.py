"""The engine that searches: Python, or compiled code for what is large."""

from __future__ import annotations

from rebecsim.errors import UserError
from rebecsim.explore.limits import COMPILER
from rebecsim.explore.reduction import SymmetricSystem
from rebecsim.explore.search import Search
from rebecsim.explore.strategies import BreadthFirst, Strategy
from rebecsim.lang.checked import CheckedModel
from rebecsim.native.engines import Engine

__all__ = ["HANDED_OVER_AT", "WORTH_COMPILING", "NativeEngineError", "run_search"]

HANDED_OVER_AT = 20_000
"""The states after which compiled code goes on: by then loading it takes less than it saves."""

WORTH_COMPILING = 200_000
"""The states after which it goes on if it has to be compiled first, once on every machine."""


class NativeEngineError(UserError):
    """The native engine was asked for something that only the Python engine can do."""

    def __init__(self, obstacle: str) -> None:
        super().__init__(f"the native engine {obstacle}; use the engine python or auto")


def run_search(
    search: Search,
    strategy: Strategy,
    engine: Engine,
    compact: bool,
    checked: CheckedModel | None = None,
    workers: int = 1,
) -> None:
    """Let a strategy expand states, in compiled code where that is asked for or worth it.

    Message servers are compiled too, where that is worth it, if the tree `checked` of the model is
    given. Of the `workers`, compiled code uses up to two.

    Raises SearchEnded as `Search.expand` does, NativeEngineError if compiled code was asked for
    (as hash compaction does too) and has no such search, TimeTooLargeError where only Python can
    go on.
    """
    if compact and engine == "python":
        raise UserError("only the native engine has hash compaction")
    obstacle = _obstacle(search, strategy)
    needed = compact or engine == "native"
    if needed and obstacle is not None:
        raise NativeEngineError(obstacle)
    if engine == "python" or obstacle is not None:
        strategy.run(search)
        return
    breadth_first = BreadthFirst()
    number = 0
    if not needed:
        number = breadth_first.run_to(search, HANDED_OVER_AT)
        if number == len(search.states):
            return
        if search.meter.would_exceed(COMPILER):
            breadth_first.run_from(search, number)
            return
        with search.meter.leaving_out():  # the compiler's memory says nothing about states
            compiled = _is_compiled()
        if not compiled:
            number = breadth_first.run_to(search, WORTH_COMPILING, number)
            if number == len(search.states):
                return
            if search.meter.would_exceed(COMPILER):
                breadth_first.run_from(search, number)
                return
    import numpy as np

    search.engine = "native"
    with search.meter.leaving_out():
        from rebecsim.explore.compiled import CompiledSearch, load_compiled_code

        load_compiled_code(workers)
    with np.errstate(over="ignore"):  # hashes wrap; without a compiler NumPy would warn of that
        CompiledSearch(search, number, checked, compact, workers).run()


def _is_compiled() -> bool:
    """Whether the compiled loop is on disk."""
    from rebecsim.native.breadth_first import expand_states
    from rebecsim.native.cache import is_ready

    return is_ready(expand_states)


def _obstacle(search: Search, strategy: Strategy) -> str | None:
    """Say why compiled code cannot do a search, if it cannot."""
    if not isinstance(strategy, BreadthFirst):
        return "searches breadth first only"
    if isinstance(search.system, SymmetricSystem):
        return "does not reduce by symmetry"
    return None

"""The names of the engines, and which of them can be used."""

from __future__ import annotations

from typing import Literal, get_args

from rebecsim.extras import is_installed, require

EngineUsed = Literal["python", "native"]

Engine = Literal["auto", "python", "native"]
"""`python` runs Rebec classes, `native` compiled code; both give the same results. `auto` begins in
Python, which needs no compiling, and goes over to compiled code where there is much to do."""

FINGERPRINT_BITS = 62
"""By how many bits hash compaction tells states apart."""

ENGINES: tuple[Engine, ...] = get_args(Engine)


def usable(engine: Engine) -> Engine:
    """Give the engine to use: without Numba that is Python where any would do.

    Raises MissingPackagesError where compiled code is asked for and there is no compiler.
    """
    if engine == "python" or is_installed("numba"):
        return engine
    if engine == "native":
        require("the native engine", "numba")
    return "python"

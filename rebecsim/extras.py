"""Optional packages: the extras that have them, the error for a missing one, and no pandas.

The names are those of `pip install 'rebecsim[...]'`, see `setup.cfg`.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import NamedTuple

from rebecsim.errors import UserError


class Extra(NamedTuple):
    """What a group of packages is for, and the modules that they bring."""

    purpose: str
    modules: tuple[str, ...]


EXTRAS = {
    "native": Extra("compiled code", ("numba",)),
    "studies": Extra(
        "statistics, stored results and charts",
        ("scipy", "pyarrow", "duckdb", "matplotlib", "plotly"),
    ),
    "sensitivity": Extra("Sobol's indices", ("SALib",)),
    "web": Extra("pages in the browser", ("fastapi", "uvicorn", "segno")),
    "optimise": Extra("constraint programming", ("ortools",)),
    "distributed": Extra("workers on several machines", ("distributed",)),
    "lsp": Extra("answers for editors", ("pygls",)),
}

REPORTS = ("scipy", "pyarrow", "matplotlib", "plotly")
"""What a study takes to run, to be stored and to be reported."""


class MissingPackagesError(UserError):
    """Something was asked for whose packages are not installed."""

    def __init__(self, what: str, modules: list[str]) -> None:
        needed = {name: each for name, each in EXTRAS.items() if {*modules} & {*each.modules}}
        purposes = " and ".join(each.purpose for each in needed.values())
        them = "which is" if len(modules) == 1 else "which are"
        super().__init__(
            f"{what} needs {', '.join(modules)} for {purposes}, {them} not installed; "
            f"try: pip install 'rebecsim[{','.join(needed)}]'"
        )


def is_installed(module: str) -> bool:
    """Tell whether a module is there, without importing it."""
    return find_spec(module) is not None


def require(what: str, *modules: str) -> None:
    """Raise MissingPackagesError if modules are missing that `what`, a command or so, needs."""
    missing = [each for each in modules if not is_installed(each)]
    if missing:
        raise MissingPackagesError(what, missing)


def missing_package(what: str, error: ModuleNotFoundError) -> MissingPackagesError | None:
    """Say what to install where a module was not found; None if it is that of no extra."""
    module = (error.name or "").partition(".")[0]
    known = any(module in each.modules for each in EXTRAS.values())
    return MissingPackagesError(what, [module]) if known else None


def leave_pandas_alone() -> None:
    """Let pyarrow do without pandas, which takes longer to import than most runs are read.

    pyarrow looks for it once, when it makes its first table; and again if a table is to become a
    frame of pandas, as in a user's plug-in. Only for the program, which has its process alone.
    """
    import pyarrow

    if "pandas" in sys.modules:
        return
    hiding = _Hiding()
    sys.meta_path.insert(0, hiding)
    try:
        pyarrow.array([0])
    finally:
        sys.meta_path.remove(hiding)


class _Hiding:
    """Finds no module, and says that there is no pandas."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name=name)

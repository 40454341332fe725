"""Use pyarrow without pandas, which takes long to import."""

from __future__ import annotations

import sys

__all__ = ["leave_pandas_alone"]


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

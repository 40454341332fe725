"""The module that generated steps belong to: compiled functions need one that can be imported."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=64)
def load_step(text: str) -> dict[str, Any]:
    """Give the names that the text of a step defines; see `rebecsim.generate.step`.

    Only code generated from a checked tree may be given. Nothing is compiled before it is used.
    """
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, "<step>", "exec"), namespace)  # noqa: S102 - written from a checked tree
    return namespace

"""Compiled functions in several threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def ignoring_overflow(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let hashes wrap without warnings, which only plain Python gives, thread by thread."""

    def call(*arguments: object) -> Any:
        with np.errstate(over="ignore"):
            return function(*arguments)

    return call

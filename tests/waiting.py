"""Waiting for what other processes do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 300
"""Seconds for what takes one or two, on a machine that does much else."""

Found = TypeVar("Found")


def wait_for(find: Callable[[], Found]) -> Found:
    """Wait until something is found, and give it. Raises AssertionError when nothing ever is."""
    end = time.monotonic() + PATIENCE
    while not (found := find()):
        assert time.monotonic() < end, f"{find} has not come in {PATIENCE} s"
        time.sleep(0.01)
    return found

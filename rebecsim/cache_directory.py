"""The directory that keeps compiled code and models between runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

GRAMMAR_TABLES = "grammar-*.tables"
"""The files there that hold the tables of the parser."""

KEPT_MODELS = "models/*.model"
"""The files there that hold models laid out for the native engine."""


def cache_directory() -> Path | None:
    """Give the directory of compiled code, which need not exist; None without a home directory.

    It is `REBECSIM_CACHE` if that is set, and otherwise `rebecsim` in the user's cache directory.
    """
    if chosen := os.environ.get("REBECSIM_CACHE"):
        return Path(chosen)
    try:
        return _user_cache() / "rebecsim"
    except RuntimeError:  # no home directory
        return None


def _user_cache() -> Path:
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path.home() / ".cache"

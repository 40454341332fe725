"""The report of an internal error, with all that a maintainer needs to fix it."""

from __future__ import annotations

import platform
import shlex
import sys
import tempfile
import time
import traceback
from importlib import metadata
from pathlib import Path

from rebecsim.actors.violations import raised
from rebecsim.cache import cache_directory
from rebecsim.extras import EXTRAS
from rebecsim.wording import clipped

_CORE = ("numpy", "pydantic", "lark", "jinja2", "pykka", "typer", "rich")
_LONGEST = 400


def mistake_report(error: BaseException) -> str:
    """Say what went wrong and what to report, and keep the traceback in a file."""
    what = clipped(" ".join(raised(error).split()), _LONGEST)
    command = clipped(shlex.join(["rebecsim", *sys.argv[1:]]), _LONGEST)
    packages = ", ".join(_versions())
    facts = {
        "command": command,
        "versions": f"rebecsim {_own_version()}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}",
        "packages": packages,
    }
    lines = [f"  {name:<10}{text}" for name, text in facts.items()]
    trace = "".join(traceback.format_exception(error))
    log = _kept("\n".join([f"internal error: {what}", *lines, "", trace]))
    if log is not None:
        lines.append(f"  {'traceback':<10}{log}")
    return "\n".join(
        [
            f"internal error: {what}",
            "This is a mistake of rebecsim, not yours. Please report it with these lines and the "
            "traceback:",
            *lines,
        ]
    )


def _own_version() -> str:
    from rebecsim import __version__

    return __version__


def _versions() -> list[str]:
    found = []
    for package in (*_CORE, *(each for extra in EXTRAS.values() for each in extra.modules)):
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    return found


def _kept(text: str) -> Path | None:
    """Write a file in the cache directory, or among temporary files; None where neither can be."""
    for place in (_folder, lambda: Path(tempfile.gettempdir())):
        try:
            directory = place()
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.NamedTemporaryFile(
                "w",
                encoding="utf-8",
                errors="backslashreplace",
                dir=directory,
                prefix=time.strftime("rebecsim-%Y%m%d-%H%M%S-"),
                suffix=".log",
                delete=False,
            ) as file:
                file.write(text)
            return Path(file.name)
        except Exception:
            continue
    return None


def _folder() -> Path:
    """Give the folder for these files. Raises OSError without a home directory."""
    cache = cache_directory()
    if cache is None:
        raise FileNotFoundError
    return cache / "errors"

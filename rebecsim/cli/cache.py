"""The command `cache`: show or delete compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rebecsim.cli.app import complain, say
from rebecsim.cli.commands import app
from rebecsim.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rebecsim.native.cache import CacheFolder


@app.command()
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Delete all kept files.")] = False,
) -> None:
    """Show or clear what is kept between runs."""
    from rebecsim.cache_directory import cache_directory
    from rebecsim.kept_files import distrust
    from rebecsim.native.cache import cache_folders, clear_cache

    directory = cache_directory()
    if directory is None:
        say("There is no home directory; set REBECSIM_CACHE to keep compiled code.")
        return
    if directory.exists() and (reason := distrust(directory)):
        complain(f"{directory}: {reason}, so nothing in it is used; set REBECSIM_CACHE to another")
    folders = cache_folders()
    say(f"{directory}: {_amount(folders)}")
    if clear:
        clear_cache()
        say("cleared")
        return
    for folder in folders:
        say(f"  numba {folder.numba}, python {folder.python}: {_amount([folder])}")


def _amount(folders: Sequence[CacheFolder]) -> str:
    entries = sum(each.entries for each in folders)
    size = sum(each.size for each in folders) / 1e6
    return f"{counted(entries, 'function')}, {size:.1f} MB"

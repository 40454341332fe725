"""The commands `web`, `lsp`, `cache` and `scenarios`: servers, and lists of the program's parts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING

import typer

from rebecsim.cli.app import Plugins, app, complain, grouped, say, use_plugins
from rebecsim.clusters.kit.options import argument, option
from rebecsim.errors import ExitCode
from rebecsim.extras import require
from rebecsim.wording import counted

if TYPE_CHECKING:
    from rebecsim.trust import CacheFolder
    from rebecsim.web.serving import Server


@app.command()
@grouped
def web(
    path: Path | None = argument("A model, or a directory with models of your own.", None),
    port: int | None = option(
        "Port; 0: any free one.", min=0, max=65535, show_default="8765, or a free one"
    ),
    host: str = option(
        "Address to answer at, 0.0.0.0 for all; others then need a token.", "127.0.0.1"
    ),
    in_class: bool = option(
        "For a class: hide answers until the teacher opens them.", False, "--class"
    ),
    browser: bool = option("Open the page in a browser.", True),
    plugin: Plugins = None,
) -> None:
    """Explore models and run studies in a browser, on this machine."""
    require("rebecsim web", "fastapi", "uvicorn", *(["segno"] if in_class else []))
    use_plugins(plugin)
    from rebecsim.web.serving import prepare

    server = prepare(path, host, port, in_class=in_class)
    if in_class:
        _say_class(server, host)
    else:
        for each in server.addresses or (server.address,):
            say(each)
    complain("Ctrl-C ends it")
    try:
        server.run(browser=browser)
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None


def _say_class(server: Server, host: str) -> None:
    """Print the addresses for pupils, with a QR code, and the teacher's apart from them."""
    from rich.console import Console
    from rich.text import Text

    from rebecsim.web.visitors import is_loopback, qr_lines

    console = Console(highlight=False, soft_wrap=True)
    if is_loopback(host):
        say(f"On this machine only: {server.addresses[0]}")
        complain("pupils on other machines cannot open it: add --host 0.0.0.0")
    elif server.addresses:
        say("Pupils open:" if len(server.addresses) == 1 else "Pupils open one of these:")
        for each in server.addresses:
            console.print(Text(f"\n    {each}", "bold"))
        console.print()
        for line in qr_lines(server.addresses[0]):
            console.print(Text(line, "bright_white on black"))
        if len(server.addresses) > 1:
            say("The code is that of the first address.")
    else:
        complain("this machine is in no network: connect it to the pupils' one, then start again")
    complain("Only you open this one: it shows the answers and opens them for pupils.")
    complain(f"\n    {server.address}\n")


def show_run(model: Path, run: Sequence[int]) -> None:
    """Open a run of a model in a browser, until Ctrl-C. Raises UserError, OSError."""
    from rebecsim.web.serving import prepare

    server = prepare(model, run=run)
    complain(f"the run is at {server.address}; Ctrl-C ends it")
    with suppress(KeyboardInterrupt):
        server.run(browser=True)


@app.command()
def lsp() -> None:
    """Serve an editor over the Language Server Protocol."""
    require("rebecsim lsp", "pygls")
    from rebecsim.language_server.server import server

    server().start_io()


@app.command()
@grouped
def cache(
    clear: bool = option("Delete all kept files.", False, "--clear"),
) -> None:
    """Show or clear what is kept between runs."""
    from rebecsim.trust import cache_directory, cache_folders, clear_cache, distrust

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


@app.command()
def scenarios(plugin: Plugins = None) -> None:
    """List the built-in scenarios and policies.

    With `--plugin`, it also says whether the plug-ins can be loaded.
    """
    from rebecsim.clusters.kinds import kind_names, load_installed_plugins
    from rebecsim.studies.scenario_files import builtin_scenarios, read_scenario_text

    load_installed_plugins()
    use_plugins(plugin)
    width = max(get_terminal_size().columns, 60) if sys.stdout.isatty() else 1000
    kinds = list(kind_names())
    found = {name: read_scenario_text(name).values for name in builtin_scenarios()}
    for name, values in sorted(found.items(), key=lambda each: kinds.index(str(each[1]["kind"]))):
        line = f"{name:<24} {values['kind']:<9} {values.get('title') or name}"
        say(fill(line, width, subsequent_indent=" " * 35))

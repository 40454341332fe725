"""The command `web`: serve the pages and open a browser."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from rebecsim.cli.app import complain, say
from rebecsim.cli.commands import app
from rebecsim.exit_codes import ExitCode
from rebecsim.extras import require


@app.command()
def web(
    path: Annotated[
        Path | None, typer.Argument(help="A model, or a directory with models of your own.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, show_default="8765, or a free one", help="Port; 0: any free one."
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to answer at; another one than loopback needs a token.")
    ] = "127.0.0.1",
    in_class: Annotated[
        bool,
        typer.Option("--class", help="Leave out solutions, studies and runs, and write no models."),
    ] = False,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Explore models and run studies in a browser, on this machine."""
    require("rebecsim web", "fastapi", "uvicorn")
    from rebecsim.web.serving import prepare

    server = prepare(path, host, port, in_class=in_class)
    say(server.address)
    complain("Ctrl-C ends it")
    try:
        server.run(browser=browser)
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None


def show_run(model: Path, run: Sequence[int]) -> None:
    """Open a run of a model in a browser, until Ctrl-C. Raises UserError, OSError."""
    from rebecsim.web.serving import prepare

    server = prepare(model, run=run)
    complain(f"the run is at {server.address}; Ctrl-C ends it")
    with suppress(KeyboardInterrupt):
        server.run(browser=True)

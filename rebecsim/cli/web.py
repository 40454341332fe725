"""The command that opens the browser: web."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rebecsim.cli.app import complain, say
from rebecsim.cli.commands import app
from rebecsim.errors import UserError
from rebecsim.exit_codes import ExitCode


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
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Explore models in a browser, by clicking; nothing leaves this machine."""
    try:
        from rebecsim.web.serving import prepare
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("fastapi", "starlette", "uvicorn"):
            raise
        raise UserError("this needs packages more: pip install 'rebecsim[web]'") from error
    server = prepare(path, host, port)
    say(server.address)
    complain("Ctrl-C ends it")
    try:
        server.run(browser=browser)
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None

"""The command for editors: lsp."""

from __future__ import annotations

from rebecsim.cli.commands import app
from rebecsim.extras import require


@app.command()
def lsp() -> None:
    """Answer an editor in the Language Server Protocol, on standard input and output."""
    require("rebecsim lsp", "pygls")
    from rebecsim.language_server.server import server

    server().start_io()

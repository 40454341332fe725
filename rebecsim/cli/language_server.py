"""The command `lsp`, for editors."""

from __future__ import annotations

from rebecsim.cli.commands import app
from rebecsim.extras import require


@app.command()
def lsp() -> None:
    """Serve an editor over the Language Server Protocol."""
    require("rebecsim lsp", "pygls")
    from rebecsim.language_server.server import server

    server().start_io()

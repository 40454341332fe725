"""The command for editors: lsp."""

from __future__ import annotations

from rebecsim.cli.commands import app
from rebecsim.errors import UserError


@app.command()
def lsp() -> None:
    """Answer an editor in the Language Server Protocol, on standard input and output."""
    try:
        from rebecsim.language_server.server import server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise UserError("this needs a package more: pip install 'rebecsim[lsp]'") from error
    server().start_io()

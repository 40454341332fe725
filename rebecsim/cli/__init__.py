"""The command line: each command reads its options, calls the packages and prints.

What exit codes mean is in `rebecsim.errors`. Packages that take long to import are imported
where they are used, so that every verb starts at once. `main` is the program.
"""

from __future__ import annotations

import sys

from rebecsim.cli import app

__all__ = ["main"]


def main() -> None:
    """Run the program; whatever goes wrong gives one line on standard error and an exit code."""
    try:
        try:
            app.program()(prog_name="rebecsim")
        finally:
            sys.stdout.flush()
    except SystemExit as ended:
        if not isinstance(ended.__context__, BrokenPipeError):  # made by rich
            raise
        failure: Exception = ended.__context__
    except Exception as error:
        failure = error
    from rebecsim.cli.endings import end_with

    sys.exit(end_with(failure))

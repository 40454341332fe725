"""The command line: one verb for each capability, thin over the packages.

Exit codes: 0 done, 1 a model's run or exploration ended in a violation, 2 bad input, 3 an
exploration was cut off by a bound and found nothing wrong, 130
interrupted. Packages that take long to import are imported where they are used, so that every
verb starts at once. `main` is the program.
"""

from __future__ import annotations

import sys

from rebecsim.cli.app import app, complain
from rebecsim.errors import UserError
from rebecsim.exit_codes import ExitCode

__all__ = ["app", "main"]


def main() -> None:
    """Run the program; bad input gives a message on standard error and exit code 2."""
    try:
        app()
    except UserError as error:
        complain(error)
        sys.exit(ExitCode.BAD_INPUT)
    except OSError as error:
        if error.filename is None:
            raise
        complain(f"{error.filename}: {error.strerror}")
        sys.exit(ExitCode.BAD_INPUT)

"""The command line: each command reads its options, calls the packages and prints.

What exit codes mean is in `rebecsim.errors`. Packages that take long to import are imported
where they are used, so that every verb starts at once. `main` is the program.
"""

from rebecsim.cli.app import main

__all__ = ["main"]

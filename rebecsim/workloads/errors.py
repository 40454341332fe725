"""The error for a workload file that cannot be used."""

from __future__ import annotations

from pathlib import Path

from rebecsim.errors import UserError


class WorkloadError(UserError):
    """A workload that cannot be read, made or changed as asked. The text names file and line."""

    @classmethod
    def at(cls, path: Path, line: int, problem: str) -> WorkloadError:
        """Make the error for a line of a file, counted from 1."""
        return cls(f"{path}:{line}: {problem}")

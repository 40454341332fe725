"""The error for a results directory that cannot be used."""

from __future__ import annotations

from rebecsim.errors import UserError


class ResultsError(UserError):
    """A results directory that cannot be used as asked; the text says why and what to do."""

"""Errors of compiled code: what it cannot do."""

from __future__ import annotations


class TimeTooLargeError(Exception):
    """A time, or span of time, that has no place in the tables of compiled code."""

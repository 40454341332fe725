"""Numbers as they stand in a generated model."""

from __future__ import annotations

from decimal import Decimal

__all__ = ["float_literal"]


def float_literal(value: float) -> str:
    """Return a float literal without exponent, which not every Rebeca tool reads."""
    digits = format(Decimal(repr(value)), "f")
    return digits if "." in digits else f"{digits}.0"

"""The base of every error that a user can mend."""

__all__ = ["UserError"]


class UserError(Exception):
    """Bad input: the text names the place and says what to do. Programs exit with code 2."""

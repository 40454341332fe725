"""How many examples a property is tried with: fewer where each is dear, unless asked for more.

`make test` uses the profile `quick`; `make test-all` has pytest's `--hypothesis-profile thorough`:
four times the examples of properties that do not say how many, and all of those that are dear.
Examples of the quick one are the same at each run; the thorough one looks for others.
"""

from __future__ import annotations

from hypothesis import settings

__all__ = ["QUICK", "THOROUGH", "dear", "register_profiles"]

QUICK, THOROUGH = "quick", "thorough"
_USUAL = 50
_SHARE = 4


def register_profiles() -> None:
    """Make the profiles known to hypothesis; neither stops an example that takes long."""
    settings.register_profile(QUICK, deadline=None, derandomize=True, max_examples=_USUAL)
    settings.register_profile(THOROUGH, deadline=None, max_examples=4 * _USUAL)


def dear(examples: int, share: int = _SHARE) -> int:
    """Give a quarter of this number, or another share, and all of it in the thorough profile.

    For properties of which an example takes a twentieth of a second or more, or that want many.
    """
    thorough = settings.default is not None and settings.default.max_examples > _USUAL
    return examples if thorough else examples // share

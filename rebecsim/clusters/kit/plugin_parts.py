"""What plug-ins may bring to a kind, and what is asked of it.

A kind that takes something has a module `plugin_parts` with a tuple `PLUGIN_PARTS` of `PluginPart`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from rebecsim.clusters.kit.registry import Registry

_POLICY_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,39}")


def _own_name(entry: Any) -> tuple[str, ...]:
    return (entry.name,)


@dataclass(frozen=True)
class PluginPart:
    """One sort of thing that plug-ins may bring.

    Attributes:
        attribute: the argument of `Plugin` that takes a tuple of them.
        registry: what they are added to.
        require: raises TypeError or ValueError, saying what to mend, for one that is unusable.
        names: gives the names to register one under.
        attempt: tries one that is registered, before the plug-in is accepted.
    """

    attribute: str
    registry: Registry[Any]
    require: Callable[[Any], None]
    names: Callable[[Any], Iterable[str]] = _own_name
    attempt: Callable[[Any], None] | None = None


def require_policy(policy: Any, kind: type[Any], **classes: type) -> None:
    """Raise TypeError or ValueError for a policy that is not of a type, or has no texts to show.

    `classes` are attributes that must be subclasses, which can be instantiated: name -> base.
    """
    if not isinstance(policy, kind):
        raise TypeError(f"{policy!r} is no {kind.__name__}")
    if not isinstance(policy.name, str) or not _POLICY_NAME.fullmatch(policy.name):
        raise ValueError(
            f"a policy cannot be called {policy.name!r}; "
            "use capital letters, digits and _, with a letter first"
        )
    for attribute in ("title", "description"):
        text = getattr(policy, attribute)
        if not isinstance(text, str) or not text or not text.isprintable():
            raise ValueError(f"policy {policy.name}: the {attribute} must be one line of text")
    for attribute, base in classes.items():
        _require_class(policy, attribute, base)


def _require_class(policy: Any, attribute: str, base: type) -> None:
    given: Any = getattr(policy, attribute)
    if not isinstance(given, type) or not issubclass(given, base):
        kind = f"subclass of {base.__name__}"
        raise TypeError(f"policy {policy.name}: the {attribute} {given!r} is no {kind}")
    if inspect.isabstract(given):
        raise TypeError(
            f"policy {policy.name}: {given.__name__} does not define {abstract_methods(given)}"
        )


def abstract_methods(abstract: Any) -> str:
    """Name the methods that a class still has to define."""
    return ", ".join(sorted(abstract.__abstractmethods__))

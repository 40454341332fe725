"""Keep rebecs isolated: a message server may affect others only by messages.

Exploration relies on that, so it is enforced: while one rebec acts, the state variables of the
others cannot be read or written.
"""

from __future__ import annotations

from typing import Any

from rebecsim.actors import ModelError, Rebec


def hidden_class(shown: type[Rebec], names: tuple[str, ...]) -> type[Rebec]:
    """Give a subclass whose instances do not let those attributes be read or written.

    A rebec changes into it by assigning its `__class__`; its attributes are kept meanwhile.
    Touching one raises ModelError.
    """
    members: dict[str, Any] = {name: _Hidden(name) for name in names}
    members["__module__"] = shown.__module__
    members["__qualname__"] = shown.__qualname__
    return type(shown.__name__, (shown,), members)


class _Hidden:
    """A data descriptor, which Python asks before it looks into the instance."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, rebec: Rebec | None, owner: type[Rebec]) -> Any:
        if rebec is None:
            return self
        raise self._refused(rebec)

    def __set__(self, rebec: Rebec, value: object) -> None:
        raise self._refused(rebec)

    def _refused(self, rebec: Rebec) -> ModelError:
        actor = rebec._system.actor
        return ModelError(
            f"{type(actor).__name__}.{rebec._system.message[3].name} of {actor} uses "
            f"`{self._name}` of {rebec}: rebecs share nothing, so ask by a message"
        )

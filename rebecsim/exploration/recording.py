"""Record the transitions of a search as numbers while they are followed.

It begins in Python; where compiled code goes on, it writes rows of its own, which are put behind
the others at the end.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from rebecsim.exploration.states.breach_key import BreachKey
from rebecsim.exploration.states.local import Waiting

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NO_SERVICE = -1
"""In the place of the number of a service: only time passes."""

_WIDTH = 5


class Service(NamedTuple):
    """A message that a rebec serves; `resumed`: its message server goes on after a delay."""

    owner: int
    message: Waiting
    resumed: bool


class Recording:
    """Rows of source, target, service, choice and time units that pass, in the order of sources.

    A choice is which of the outcomes of the service it is. Where something goes wrong there is no
    target; `breached` then says what it is, as row and key. `expanded` is the first state of which
    not all transitions may have been followed.
    """

    def __init__(self) -> None:
        self._rows = array("q")
        self._services: dict[Service, int] = {}
        self.breached: list[tuple[int, BreachKey]] = []
        self.expanded = 0
        self.go_on: Callable[[], Iterator[NDArray[np.integer]]] | None = None
        """Gives the columns that compiled code has written."""

    @property
    def services(self) -> tuple[Service, ...]:
        """The services by their numbers."""
        return tuple(self._services)

    def __len__(self) -> int:
        return len(self._rows) // _WIDTH

    def service(self, service: Service) -> int:
        """Give the number of a service."""
        return self._services.setdefault(service, len(self._services))

    def append(self, source: int, target: int, service: int, choice: int, units: int) -> None:
        """Write down a transition."""
        self._rows.extend((source, target, service, choice, units))

    def breach(self, source: int, service: int, choice: int, key: BreachKey) -> None:
        """Write down a transition in which something goes wrong."""
        self.breached.append((len(self), key))
        self.append(source, 0, service, choice, 0)

    def take_columns(self) -> list[NDArray[np.signedinteger[Any]]]:
        """Give the columns of all rows whose source was expanded, and keep none of them.

        Each has the narrowest integers that hold it.
        """
        import numpy as np

        rows = np.frombuffer(self._rows, dtype=np.int64).reshape(-1, _WIDTH)
        parts: Iterator[list[NDArray[np.integer[Any]]]] = ([column] for column in rows.T)
        if self.go_on is not None:
            pairs = zip(rows.T, self.go_on(), strict=True)
            parts = (list(pair) for pair in pairs)
        self._rows, self.go_on = array("q"), None
        found: list[NDArray[np.signedinteger[Any]]] = []
        known = 0
        for part in parts:
            column = _narrowed(part)
            known = known if found else _below(column, self.expanded)
            found.append(column[:known])
        return found


def _below(column: NDArray[np.signedinteger[Any]], limit: int) -> int:
    """Count the rows below a limit in a column that grows, without a copy of wider numbers."""
    import numpy as np

    if limit > np.iinfo(column.dtype).max:
        return len(column)
    return int(np.searchsorted(column, column.dtype.type(limit)))


def _narrowed(parts: list[NDArray[np.integer[Any]]]) -> NDArray[np.signedinteger[Any]]:
    """Put columns behind each other."""
    import numpy as np

    least = min(int(each.min(initial=0)) for each in parts)
    most = max(int(each.max(initial=0)) for each in parts)
    fits = (
        each
        for each in (np.int8, np.int16, np.int32, np.int64)
        if np.iinfo(each).min <= least and most <= np.iinfo(each).max
    )
    return np.concatenate(parts, dtype=next(fits), casting="unsafe")

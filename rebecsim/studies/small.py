"""Clusters cut small, as models: what is compared on a log, explored for what it promises.

A kind whose rebecs own their state says how to cut a cell of a scenario to a few jobs and nodes
(`Study.small`). What comes of it is a model like any other: it can be explored, searched for races,
stepped, drawn and run live.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from rebecsim.actors import Instance, Model, Rebec
from rebecsim.actors.rebec import LOWEST_PRIORITY
from rebecsim.errors import UserError
from rebecsim.wording import suggestion

if TYPE_CHECKING:
    from rebecsim.studies.study import PlannedCell


@dataclass(frozen=True)
class Cut:
    """How small a cluster is made.

    Attributes:
        jobs: how many jobs are left, the first ones submitted.
        nodes: how many nodes are left, or processors where they are pooled.
    """

    jobs: int = 3
    nodes: int = 2


@dataclass(frozen=True)
class SmallCluster:
    """A cluster of a few jobs and nodes.

    Attributes:
        model: its rebecs; messages of one time come in any order.
        starts: the variable that holds when each job started, or has ended, as in
            `manager.starts`; -1: it has not.
        done: a condition that holds where every job has.
        jobs: what the jobs are called, in the order of `starts`.
        unit: of its time.
        promises: what a message server asserts, a sentence each.
        what: what was cut, as in "3 jobs on 2 processors".
        event: what happens to jobs at those times: they "start", or "end".
        terms: what conditions may say, as `queue("a")`, and how the variables of the model that
            are meant begin: `queue("a").used` is `manager.a_used`, where this is `manager.a`.
    """

    model: Model
    starts: str
    done: str
    jobs: tuple[str, ...]
    unit: str
    promises: tuple[str, ...]
    what: str
    event: str = "start"
    terms: Mapping[str, str] = field(default_factory=dict)

    def written(self, text: str) -> str:
        """Give a condition, or the text of a property file, with variables in place of terms.

        Raises UserError, naming the terms there are, for one that does not exist.
        """

        def variable(found: re.Match[str]) -> str:
            term = f'{found[1]}("{found[3]}")'
            if term not in self.terms:
                hint = suggestion(term, self.terms, f"there are {', '.join(self.terms)}")
                raise UserError(f"there is no {term}" + (f"; {hint}" if self.terms else " here"))
            return f"{self.terms[term]}_{found[4]}"

        return re.sub(r"""(\w+)\(\s*(["'])(.*?)\2\s*\)\.(\w+)""", variable, text)


class Cutter(Protocol):
    """What cuts a cell of a scenario small."""

    def __call__(self, cell: PlannedCell, cut: Cut) -> SmallCluster:
        """Give the cluster. Raises UserError for a cell that cannot be cut so."""


@runtime_checkable
class KeepsPromises(Protocol):
    """A rebec that has promised something, and says when it breaks its word."""

    def check_promises(self) -> None:
        """Raise AssertionFailedError if a promise is broken; called after each message."""


def in_any_order(model: Model, ordered: Collection[str] = ()) -> Model:
    """Give the model without priorities: messages of one time are served in any order.

    A simulation needs an order of what happens at one time; a cluster does not keep to it. Only
    `ordered` message servers keep their priorities, and so come before all others. What rebecs
    promise is checked after each of their messages.
    """
    classes: dict[type[Rebec], type[Rebec]] = {}
    instances: list[Instance] = []
    for each in model.instances:
        reactive_class = each.reactive_class
        if reactive_class not in classes:
            classes[reactive_class] = _without_priorities(reactive_class, ordered)
        instances.append(
            replace(each, reactive_class=classes[reactive_class], priority=LOWEST_PRIORITY)
        )
    return replace(model, instances=tuple(instances), globally_ordered=False)


def _without_priorities(reactive_class: type[Rebec], ordered: Collection[str]) -> type[Rebec]:
    own = {"__module__": reactive_class.__module__, "__qualname__": reactive_class.__qualname__}
    derived: Any = type(reactive_class.__name__, (reactive_class,), own)
    checks = issubclass(reactive_class, KeepsPromises)
    derived.__servers__ = {
        name: replace(
            server,
            handler=_checked(server.handler) if checks else server.handler,
            priority=server.priority if name in ordered else LOWEST_PRIORITY,
            global_priority=server.global_priority if name in ordered else LOWEST_PRIORITY,
        )
        for name, server in reactive_class.__servers__.items()
    }
    return derived  # type: ignore[no-any-return]


def _checked(handler: Callable[..., None]) -> Callable[..., None]:
    @wraps(handler)
    def served(self: Any, *arguments: Any) -> None:
        handler(self, *arguments)
        self.check_promises()

    return served

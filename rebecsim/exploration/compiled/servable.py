"""Find the models whose message servers compiled code can run in a search."""

from __future__ import annotations

from rebecsim.exploration.states.transitions import TransitionSystem
from rebecsim.generate.cells import class_cells, element_type
from rebecsim.lang import syntax
from rebecsim.lang.checked import CheckedClass, CheckedModel
from rebecsim.lang.traversal import walk
from rebecsim.lang.types import REAL, TIMER

_MOST_CELLS = 256
"""The most integers of a rebec: the inner states of all rebecs take as much room as the largest."""


def can_be_served(system: TransitionSystem, checked: CheckedModel) -> bool:
    """Whether a compiled step could stand for the message servers of a system.

    Not if they ask for the absolute time, if a delay ends a transition, if a variable is a timer,
    which runs on, or a float, or if a rebec has very many variables.
    """
    classes = {each.class_name: checked.classes[each.class_name] for each in checked.instances}
    variables = [symbol for each in classes.values() for symbol in each.state_variables]
    return (
        system.reads_time is None
        and not system.locals.abstracts
        and not any(element_type(symbol.type) in REAL | {TIMER} for symbol in variables)
        and max(class_cells(each).size for each in classes.values()) <= _MOST_CELLS
        and not (system.mode == "TTS" and any(map(_delays, classes.values())))
    )


def _delays(checked: CheckedClass) -> bool:
    """Whether a message server or method of a class, inherited ones too, has a delay."""
    bodies = [*(server.tree for server in checked.servers), *checked.methods.values()]
    return any(isinstance(node, syntax.Delay) for body in bodies for node in walk(body))

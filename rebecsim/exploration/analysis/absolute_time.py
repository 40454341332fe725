"""Find the models that read absolute time, whose states are not equal modulo a shift of time.

If no message server can see the absolute time, states whose times differ by one constant behave
alike, and one of them stands for all. A server that stores or tests `now` breaks that. Differences
of two times are harmless: `now - currentMessageArrival`, comparisons of these two, and
currentMessageWaitingTime. (currentMessageDeadline is not among them: for a message without a
deadline it is a constant.)

What message servers and methods read stands in the checked tree of a model. Of Python that has
none, only the names are looked at that its functions use: whoever names a time may read it, and so
may whoever could read an attribute by other means. So a model may be kept apart by time without
need, but is never folded wrongly.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebecsim.actors import Model
from rebecsim.exploration.analysis.footprints import Service, bodies_of, methods_called
from rebecsim.lang import CheckedModel, syntax
from rebecsim.lang.checked import CheckedClass
from rebecsim.lang.traversal import walk
from rebecsim.steps import may_name

_POINTS = frozenset({"now", "currentMessageArrival"})
_ABSOLUTE = _POINTS | {"currentMessageDeadline"}
_OF_MESSAGE = frozenset({"currentMessageArrival", "currentMessageDeadline"})
_WAITING = "currentMessageWaitingTime"
IN_PYTHON = {
    "now": "now",
    "currentMessageArrival": "current_message_arrival",
    "currentMessageDeadline": "current_message_deadline",
    _WAITING: "current_message_waiting_time",
    "delay": "delay",
}
"""What times are called in Python."""
_DIFFERENCES = frozenset({"-", "==", "!=", "<", "<=", ">", ">="})


def reads_absolute_time(model: Model, checked: CheckedModel | None) -> str | None:
    """Name the function that may read absolute time, as `Class.function`; None if none can."""
    if checked is None:
        return next(filter(None, _naming(model, *_ABSOLUTE)), None)
    for own in dict.fromkeys(each.class_name for each in checked.instances):
        for body in bodies_of(checked, checked.classes[own]):
            if _reads_a_point(checked, body):
                return f"{own}.{body.name}"
    return None


def reads_waiting_time(model: Model, checked: CheckedModel | None) -> frozenset[int]:
    """Give the positions of rebecs that may ask how long their message waited in the bag."""
    if checked is None:
        return _places(_naming(model, _WAITING))
    return _places(
        _WAITING in _builtins(checked, *bodies_of(checked, own)) for own in _classes(checked)
    )


def may_delay(model: Model, checked: CheckedModel | None) -> frozenset[int]:
    """Give the positions of rebecs that may wait in a `delay` of a message server."""
    if checked is None:
        return _places(_naming(model, "delay"))
    return _places(delays(checked, own) for own in _classes(checked))


def delays(checked: CheckedModel, own: CheckedClass) -> bool:
    """Whether a message server or method of a class, inherited ones too, has a delay."""
    bodies = bodies_of(checked, own)
    return any(isinstance(node, syntax.Delay) for body in bodies for node in walk(body))


def reads_message_times(model: Model, checked: CheckedModel | None) -> frozenset[Service]:
    """Give the message servers that may read a time of their message: as (rebec, number)."""
    asked = _OF_MESSAGE | {_WAITING}
    if checked is None:
        named = _naming(model, *asked)
        return frozenset(
            (place, number)
            for place, (instance, found) in enumerate(zip(model.instances, named, strict=True))
            if found
            for number in range(len(instance.reactive_class.__servers__))
        )
    return frozenset(
        (place, server.number)
        for place, own in enumerate(_classes(checked))
        for server in own.servers
        if asked & _builtins(checked, server.tree, *methods_called(own, server.tree))
    )


def _naming(model: Model, *times: str) -> Iterator[str | None]:
    """Give, for each rebec, a function of Python that names one of these."""
    names = frozenset(map(IN_PYTHON.__getitem__, times))
    constructors = {"__init__", *(each.constructor for each in model.instances)}
    classes = {each.reactive_class for each in model.instances}
    found = {each: may_name(each, names, constructors) for each in classes}
    return (found[each.reactive_class] for each in model.instances)


def _places(found: Iterator[object]) -> frozenset[int]:
    return frozenset(place for place, each in enumerate(found) if each)


def _classes(checked: CheckedModel) -> list[CheckedClass]:
    """Give the class of each rebec."""
    return [checked.classes[each.class_name] for each in checked.instances]


def _builtins(checked: CheckedModel, *bodies: syntax.Node) -> set[str]:
    """Give what pieces of code read that belongs to the language, as `now`."""
    return {name for body in bodies for node in walk(body) for name in _builtin(checked, node)}


def _builtin(checked: CheckedModel, node: syntax.Node) -> tuple[str, ...]:
    symbol = checked.symbols.get(id(node))
    return (symbol.name,) if symbol is not None and symbol.kind == "builtin" else ()


def _reads_a_point(checked: CheckedModel, body: syntax.Node) -> bool:
    """Whether more than the difference of two points in time is read."""
    harmless: set[int] = set()
    for node in walk(body):
        match node:
            case syntax.Binary(operator, syntax.Name() as one, syntax.Name() as other) if (
                operator in _DIFFERENCES and {one.identifier, other.identifier} <= _POINTS
            ):
                harmless |= {id(one), id(other)}
    left = (node for node in walk(body) if id(node) not in harmless)
    return any(name in _ABSOLUTE for node in left for name in _builtin(checked, node))

"""Footprints of statements: what each reads, writes and sends, in the syntax tree of a model.

From them follow which statements are independent, which rebec may send to which in any state, and
which variables only count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from rebecsim.actors import Model
from rebecsim.lang import CheckedModel, syntax
from rebecsim.lang.checked import FLOAT, INT, ArrayType, CheckedClass, CheckedInstance, RebecType
from rebecsim.lang.traversal import walk
from rebecsim.steps import may_name

_VARIABLES = frozenset({"state", "local", "parameter"})
_OPAQUE = (
    syntax.Call,  # a method, or what is done with a timer
    syntax.Delay,
    syntax.While,
    syntax.For,
    syntax.Switch,
    syntax.Break,
    syntax.Continue,
    syntax.Return,
)
_DIVIDING = frozenset({"/", "%", "/=", "%="})

SELF = "self"
ANY_RECEIVER = ""
"""Stands for receivers that are not known rebecs."""


class Footprint(NamedTuple):
    """What a statement or an expression may read, write, send and choose when it is run.

    `reads` and `writes` are names of variables, an array as a whole. `receivers` are known rebecs
    that are sent messages, SELF or ANY_RECEIVER. `chooses`: it has a choice. `may_fail`: it may be
    forbidden or go wrong, full queues left out. `is_opaque`: it may do anything.
    """

    reads: frozenset[str]
    writes: frozenset[str]
    receivers: frozenset[str]
    chooses: bool
    may_fail: bool
    is_opaque: bool

    @property
    def is_pure(self) -> bool:
        """Whether it always gives a value and has no other effect."""
        return not (
            self.writes or self.receivers or self.chooses or self.may_fail or self.is_opaque
        )


def footprint_of(checked: CheckedModel, node: syntax.Node) -> Footprint:
    """Give the footprint of a piece of code: an over-approximation."""
    nodes = list(walk(node))
    names = [each for each in nodes if isinstance(each, syntax.Name)]
    return Footprint(
        frozenset(each.identifier for each in names if checked.symbol_of(each).kind in _VARIABLES),
        frozenset(name for each in nodes for name in _written(each)),
        frozenset(_receiver(checked, each) for each in nodes if isinstance(each, syntax.Send)),
        any(isinstance(each, syntax.Choice) for each in nodes),
        any(_may_fail(checked, each) for each in nodes),
        any(isinstance(each, _OPAQUE) for each in nodes),
    )


AreDistinct = Callable[[str, str], bool]
"""Says whether two receivers are surely different rebecs (a may-alias analysis)."""


def are_independent(
    one: Footprint, other: Footprint, are_distinct: AreDistinct, *, in_queues: bool
) -> bool:
    """Whether two statements give the same results in either order, with as many outcomes.

    `in_queues`: messages to one rebec wait in the order of sending, not in sorted bags.
    """
    if one.is_opaque or other.is_opaque:
        return False
    if one.writes & (other.reads | other.writes) or other.writes & one.reads:
        return False
    for a, b in ((one, other), (other, one)):
        if a.may_fail and (b.may_fail or b.chooses or b.receivers):
            return False  # what goes wrong, and how often, depends on what came before
        if a.chooses and not all(are_distinct(SELF, receiver) for receiver in b.receivers):
            return False  # the own queue may be full before the choice or behind it
    return not in_queues or all(are_distinct(a, b) for a in one.receivers for b in other.receivers)


def _written(node: syntax.Node) -> Iterator[str]:
    match node:
        case syntax.Assignment(target) | syntax.Increment(target):
            while isinstance(target, syntax.Index):
                target = target.array
            if isinstance(target, syntax.Name):
                yield target.identifier
        case syntax.LocalDeclaration(_, variables):
            yield from (name for name, _ in variables)


def _receiver(checked: CheckedModel, send: syntax.Send) -> str:
    if isinstance(send.receiver, syntax.Name):
        symbol = checked.symbol_of(send.receiver)
        if symbol.kind == "known" or symbol.name == SELF:
            return symbol.name
    return ANY_RECEIVER


def _may_fail(checked: CheckedModel, node: syntax.Node) -> bool:
    match node:
        case syntax.Assertion() | syntax.Cast():
            return True
        case syntax.Send():
            return _receiver(checked, node) == ANY_RECEIVER or not all(
                time is None or isinstance(time, syntax.Choice) or checked.is_constant(time)
                for time in (node.after, node.deadline)
            )
        case syntax.Index(array, index):
            kind = checked.type_of(array)
            if not (checked.is_constant(index) and isinstance(kind, ArrayType)):
                return True
            place = checked.constant_of(index)
            return not (isinstance(place, int) and 0 <= place < kind.length)
        case syntax.Binary(operator, _, right) if operator in _DIVIDING:
            return not (checked.is_constant(right) and bool(checked.constant_of(right)))
        case syntax.Assignment(_, operator) if operator in _DIVIDING:
            return True
    return False


def are_exclusive(
    one: syntax.Expression,
    other: syntax.Expression,
    checked: CheckedModel,
    are_distinct: AreDistinct,
) -> bool:
    """Whether two conditions are never both true: they compare one thing with different things.

    Of a `float` that is not known: different numbers may be rounded to one.
    """
    match one, other:
        case syntax.Binary("==", a, b), syntax.Binary("==", c, d):
            if FLOAT in map(checked.type_of, (a, b, c, d)):
                return False
            pairs = ((a, b, c, d), (a, b, d, c), (b, a, c, d), (b, a, d, c))
            return any(
                same == too and _differ(x, y, checked, are_distinct) for same, x, too, y in pairs
            )
    return False


def _differ(
    one: syntax.Expression,
    other: syntax.Expression,
    checked: CheckedModel,
    are_distinct: AreDistinct,
) -> bool:
    if checked.is_constant(one) and checked.is_constant(other):
        return checked.constant_of(one) != checked.constant_of(other)
    names = [
        each.identifier
        for each in (one, other)
        if isinstance(each, syntax.Name)
        and (checked.symbol_of(each).kind == "known" or each.identifier == SELF)
    ]
    return len(names) == 2 and are_distinct(*names)


Service = tuple[int, int]
"""A rebec, by its position, and the number of one of its message servers."""


@dataclass(frozen=True)
class SendGraph:
    """What may be sent while a message is served, by rebec and message server.

    Attributes:
        targets: the rebecs that may be sent messages.
        immediate: the services of messages that arrive when they are sent.
        cycle: services that may follow each other without time, and round; the first one comes
            last again. Empty if there are none.
    """

    targets: dict[Service, frozenset[int]]
    immediate: dict[Service, frozenset[Service]]
    cycle: tuple[Service, ...]


def send_graph_of(checked: CheckedModel) -> SendGraph:
    """Read the message servers and methods of a model; what cannot be told is taken to be sent."""
    targets: dict[Service, frozenset[int]] = {}
    immediate: dict[Service, frozenset[Service]] = {}
    classes = [checked.classes[each.class_name] for each in checked.instances]
    numbers = [{server.name: server.number for server in own.servers} for own in classes]
    for position, instance in enumerate(checked.instances):
        for number in numbers[position].values():
            targets[position, number] = frozenset()
            immediate[position, number] = frozenset()
        for name, send in _sends(checked, classes[position]):
            service = position, numbers[position][name]
            receivers = frozenset(_receivers(checked, instance, position, send))
            targets[service] |= receivers
            if not _takes_time(checked, send):
                immediate[service] |= {(each, numbers[each][send.server]) for each in receivers}
    return SendGraph(targets, immediate, _cycle_in(immediate))


def _sends(checked: CheckedModel, own: CheckedClass) -> Iterator[tuple[str, syntax.Send]]:
    """Give each send of a class, with each message server that it may be a part of."""
    texts = [checked.classes[name].tree for name in (own.name, *own.ancestors)]
    servers = {server.name for server in own.servers}
    for tree in texts:
        for method in tree.methods:
            yield from ((server, send) for send in _sends_in(method) for server in servers)
        for each in tree.message_servers:
            yield from ((each.name, send) for send in _sends_in(each))


def _sends_in(node: syntax.Node) -> list[syntax.Send]:
    return [each for each in walk(node) if isinstance(each, syntax.Send)]


def _receivers(
    checked: CheckedModel, instance: CheckedInstance, position: int, send: syntax.Send
) -> Iterator[int]:
    """Give the positions of the rebecs that a send may go to."""
    receiver = send.receiver
    if isinstance(receiver, syntax.Name):
        symbol = checked.symbol_of(receiver)
        if symbol.kind == "builtin" and symbol.name == "self":
            yield position
            return
        if symbol.kind == "known":
            known = checked.classes[instance.class_name].known_rebecs
            place = [each.name for each in known].index(symbol.name)
            names = [each.name for each in checked.instances]
            yield names.index(instance.bindings[place])
            return
    kind = checked.type_of(receiver)
    for other, each in enumerate(checked.instances):
        if not isinstance(kind, RebecType) or checked.classes[each.class_name].is_a(kind.name):
            yield other


def _takes_time(checked: CheckedModel, send: syntax.Send) -> bool:
    """Whether a message surely arrives later than it is sent."""
    after = send.after
    choices = after.alternatives if isinstance(after, syntax.Choice) else (after,)
    return all(
        each is not None and checked.is_constant(each) and _is_positive(checked.constant_of(each))
        for each in choices
    )


def methods_called(owner: CheckedClass, body: syntax.Node) -> tuple[syntax.Method, ...]:
    """Give the methods that a body calls, and those that they call."""
    found: dict[str, syntax.Method] = {}
    pending: list[syntax.Node] = [body]
    while pending:
        for node in walk(pending.pop()):
            if isinstance(node, syntax.Call) and node.method in owner.methods.keys() - found.keys():
                found[node.method] = owner.methods[node.method]
                pending.append(found[node.method])
    return tuple(found.values())


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and value > 0


def _cycle_in(graph: dict[Service, frozenset[Service]]) -> tuple[Service, ...]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return tuple(reversed(error.args[1]))  # it goes from a service to what sends to it
    return ()


def counters_of(checked: CheckedModel) -> tuple[frozenset[str], ...]:
    """Give, for each rebec, the integers that its message servers and methods only add to.

    Such a variable occurs in statements like `n++;`, `n += e;` and `n = n + e - f;` and nowhere
    else, so what is added does not depend on it, nor does anything else. What constructors do with
    it does not matter: that is over when runs begin.
    """
    by_class = {name: _counters(checked, each) for name, each in checked.classes.items()}
    return tuple(by_class[each.class_name] for each in checked.instances)


def _counters(checked: CheckedModel, own: CheckedClass) -> frozenset[str]:
    """Give those of a class."""
    nodes = [node for body in bodies_of(checked, own) for node in walk(body)]
    counted = {
        id(name)
        for node in nodes
        if isinstance(node, syntax.ExpressionStatement)
        for name in _counted(node.expression)
    }
    named = {
        node.identifier if isinstance(node, syntax.Name) else node.name
        for node in nodes
        if isinstance(node, syntax.Name | syntax.Member) and id(node) not in counted
    }
    return frozenset(each.name for each in own.state_variables if each.type == INT) - named


def bodies_of(
    checked: CheckedModel, own: CheckedClass
) -> Iterator[syntax.MessageServer | syntax.Method]:
    """Give the message servers and methods of a class, and of those that it extends."""
    for name in (own.name, *own.ancestors):
        tree = checked.classes[name].tree
        yield from tree.message_servers
        yield from tree.methods


def _counted(node: syntax.Expression) -> tuple[syntax.Name, ...]:
    """Give the names that stand for what an expression adds to, if that is all that it does."""
    match node:
        case syntax.Increment(syntax.Name() as target):
            return (target,)
        case syntax.Assignment(syntax.Name() as target, "+=" | "-="):
            return (target,)
        case syntax.Assignment(syntax.Name() as target, "=", syntax.Binary() as value):
            read = _first_term(value)
            if isinstance(read, syntax.Name) and read == target:
                return target, read
    return ()


def _first_term(node: syntax.Expression) -> syntax.Expression:
    """Give what the other terms of a sum are added to, or taken from."""
    while isinstance(node, syntax.Binary) and node.operator in ("+", "-"):
        node = node.left
    return node


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

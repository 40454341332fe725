"""Find automorphisms of the code: renamings under which the code of all classes stays the same.

Two pieces of code are walked side by side; where their names differ, the one becomes the other,
everywhere. What cannot make a difference may differ: the order of independent statements, of
operands that only give values, of branches of which at most one is taken, and
the branches of a fair coin. There may be several ways, which are all tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import permutations
from typing import Any, NamedTuple

from rebecsim.exploration.analysis.footprints import (
    AreDistinct,
    Footprint,
    are_exclusive,
    are_independent,
    footprint_of,
)
from rebecsim.lang import CheckedModel, syntax
from rebecsim.lang.checked import CheckedClass, CheckedServer, RebecType

MOST_STEPS = 20_000
"""The steps after which a comparison of code is given up."""

_MOST_PARAMETERS = 4
"""The parameters of a message server with more than these keep their order."""

_COMMUTATIVE = frozenset({"+", "*", "&", "|", "^", "==", "!="})
_SHORT_CIRCUIT = frozenset({"&&", "||"})


class TooLongError(Exception):
    """The comparison takes too many steps."""


class Named(NamedTuple):
    """Something of a class that has a name: a `state` variable, `known` rebec, `server`, `method`.

    Also a `local` variable, whose owner is a class and a body, and the `places` that arguments of a
    server go to.
    """

    kind: str
    owner: str
    name: str


class Names:
    """The images of names, as far as they are known. It is never changed."""

    __slots__ = ("images", "origins")

    def __init__(
        self, images: Mapping[Named, Any] | None = None, origins: Mapping[Named, str] | None = None
    ) -> None:
        self.images: Mapping[Named, Any] = images or {}
        self.origins: Mapping[Named, str] = origins or {}

    def bound(self, one: Named, image: str) -> Names | None:
        """Give the names with one more; None if it contradicts them."""
        origin = one._replace(name=image)
        known = self.images.get(one)
        if known is not None or origin in self.origins:
            return self if known == image else None
        return Names({**self.images, one: image}, {**self.origins, origin: one.name})

    def placed(self, owner: str, server: str, places: tuple[int, ...]) -> Names:
        """Note where the arguments of a server go to."""
        return Names({**self.images, Named("places", owner, server): places}, self.origins)


@dataclass(frozen=True)
class Body:
    """A body to compare: its class, the owner of its locals, the images of its parameters."""

    own: CheckedClass
    scope: str
    parameters: Mapping[str, str]


class _Pair(NamedTuple):
    one: Any
    other: Any
    body: Body


class _Unordered(NamedTuple):
    """Pieces of code; `goes_first` says whether one may be taken before all those before it."""

    ones: tuple[Any, ...]
    others: tuple[Any, ...]
    goes_first: Callable[[tuple[Any, ...], int], bool]
    body: Body


class _ServerOf(NamedTuple):
    own: CheckedClass
    server: CheckedServer


Task = _Pair | _Unordered | _ServerOf
_Tasks = tuple[Task, "_Tasks"] | None
_Ways = Iterator[tuple[Sequence[Task], Names]]


class CodeAutomorphisms:
    """Compares the code of a model with itself under other names.

    Names may change only in the classes `free`, with the servers that matter. `kept` are names of
    variables that stay. `are_distinct` says for a class which receivers are different rebecs.
    """

    def __init__(
        self,
        checked: CheckedModel,
        free: Mapping[str, Sequence[CheckedServer]],
        kept: frozenset[str],
        are_distinct: Callable[[CheckedClass], AreDistinct],
    ) -> None:
        self._checked = checked
        self._free = free
        self._kept = kept
        self._are_distinct = {name: are_distinct(own) for name, own in checked.classes.items()}
        self._footprints: dict[int, Footprint] = {}
        self._steps = 0

    def ways(self, fixed: Sequence[tuple[CheckedClass, syntax.Block]]) -> Iterator[Names]:
        """Give what names may become, first that they stay; some ways may come again.

        `fixed` are bodies of classes that are not free. Raises TooLongError.
        """
        tasks: _Tasks = None
        for own, block in fixed:
            tasks = _Pair(block, block, Body(own, "", _Identity())), tasks
        for name in reversed(list(self._free)):
            for server in reversed(self._free[name]):
                tasks = _ServerOf(self._checked.classes[name], server), tasks
        pending: list[tuple[_Tasks, Names]] = [(tasks, Names())]
        while pending:
            tasks, names = pending.pop()
            if tasks is None:
                yield names
                continue
            self._steps += 1
            if self._steps > MOST_STEPS:
                raise TooLongError
            task, left = tasks
            for first, after in reversed(list(self._step(task, names))):
                rest = left
                for each in reversed(first):
                    rest = each, rest
                pending.append((rest, after))

    def _step(self, task: Task, names: Names) -> _Ways:
        match task:
            case _Pair(one, other, body):
                return self._pair(one, other, body, names)
            case _Unordered():
                return self._unordered(task, names)
            case _ServerOf(own, server):
                return self._server(own, server, names)

    # --- servers and methods ---------------------------------------------------------------------

    def _server(self, own: CheckedClass, server: CheckedServer, names: Names) -> _Ways:
        if Named("server", own.name, server.name) in names.images:
            yield (), names
            return
        others = self._free[own.name]
        for other in sorted(others, key=lambda each: each is not server):
            yield from self._bound_server(own, server, other, names)

    def _bound_server(
        self, own: CheckedClass, one: CheckedServer, other: CheckedServer, names: Names
    ) -> _Ways:
        """Let a server become another, if both are of the same kind and their code agrees."""
        key = Named("server", own.name, one.name)
        bound = names.bound(key, other.name)
        if bound is None or bound is names:
            yield from [] if bound is None else [((), names)]
            return
        if (one.priority, one.global_priority) != (other.priority, other.global_priority):
            return
        if one is not other and self._checked.uses_global_priority:
            return  # how urgent a bag is, its first message says, and servers are sorted by number
        for places in _permutations(one, other):
            image = {
                parameter.name: other.parameters[place].name
                for parameter, place in zip(one.parameters, places, strict=True)
            }
            body = Body(own, f"{own.name}.{one.name}", image)
            task = _Pair(one.tree.body, other.tree.body, body)
            yield (task,), bound.placed(own.name, one.name, places)

    def _send(self, one: syntax.Send, other: syntax.Send, body: Body, names: Names) -> _Ways:
        checked = self._checked
        kind = checked.type_of(one.receiver)
        if kind != checked.type_of(other.receiver) or len(one.arguments) != len(other.arguments):
            return
        assert isinstance(kind, RebecType)
        servers = {each.name: each for each in self._free.get(kind.name, ())}
        ways: _Ways
        if one.server in servers and other.server in servers:
            own = checked.classes[kind.name]
            ways = self._bound_server(own, servers[one.server], servers[other.server], names)
        else:
            ways = iter([((), names)] if one.server == other.server else [])
        for tasks, after in ways:
            places = after.images.get(Named("places", kind.name, one.server))
            arguments = other.arguments
            if places is not None and places != tuple(range(len(places))):
                if not all(self._is_pure(each) for each in (*one.arguments, *arguments)):
                    continue  # they are evaluated in another order
                arguments = tuple(arguments[place] for place in places)
            parts = _pairs(
                (one.receiver, *one.arguments, one.after, one.deadline),
                (other.receiver, *arguments, other.after, other.deadline),
                body,
            )
            yield (*parts, *tasks), after

    def _call(self, one: syntax.Call, other: syntax.Call, body: Body, names: Names) -> _Ways:
        if len(one.arguments) != len(other.arguments):
            return
        arguments = _pairs(one.arguments, other.arguments, body)
        if self._checked.is_function(one) or body.own.name not in self._free:
            if one.method == other.method:
                yield arguments, names
            return
        if self._checked.is_function(other):
            return
        first, second = (body.own.methods[each.method] for each in (one, other))
        bound = names.bound(Named("method", body.own.name, first.name), second.name)
        if bound is None or bound is names:
            yield from [] if bound is None else [(arguments, names)]
            return
        kinds = ([each.type for each in method.parameters] for method in (first, second))
        if first.return_type != second.return_type or next(kinds) != next(kinds):
            return
        image = {a.name: b.name for a, b in zip(first.parameters, second.parameters, strict=True)}
        inner = Body(body.own, f"{body.own.name}.{first.name}()", image)
        yield (*arguments, _Pair(first.body, second.body, inner)), bound

    # --- statements and expressions --------------------------------------------------------------

    def _pair(self, one: Any, other: Any, body: Body, names: Names) -> _Ways:
        if not isinstance(one, syntax.Node) or type(one) is not type(other):
            if one == other:
                yield (), names
            return
        if id(one) in self._checked.constants or id(other) in self._checked.constants:
            if self._is_same_constant(one, other):
                yield (), names
            return
        twin: Any = other
        match one:
            case syntax.Name():
                after = self._name(one, twin, body, names)
                if after is not None:
                    yield (), after
            case syntax.Send():
                yield from self._send(one, twin, body, names)
            case syntax.Call():
                yield from self._call(one, twin, body, names)
            case syntax.Block(statements):
                yield (self._statements(statements, twin.statements, body),), names
            case syntax.Case(value, statements):
                rest = self._statements(statements, twin.statements, body)
                yield (*_pairs((value,), (twin.value,), body), rest), names
            case syntax.If():
                yield from self._if(one, twin, body, names)
            case syntax.LocalDeclaration():
                yield from self._declared(one, twin, body, names)
            case syntax.Binary(operator) if (
                operator in _SHORT_CIRCUIT and operator == twin.operator
            ):
                yield (self._chain(one, twin, body),), names
            case syntax.TypeName():
                if one == other:
                    yield (), names
            case _:
                yield from self._parts(one, twin, body, names)

    def _parts(self, one: syntax.Node, other: syntax.Node, body: Body, names: Names) -> _Ways:
        """Compare all that a node has; of some operators, the operands also crosswise."""
        parts = [each.name for each in fields(one) if each.name != "span"]
        first, second = ([getattr(node, part) for part in parts] for node in (one, other))
        flat, flat_too = _flat(first), _flat(second)
        if len(flat) != len(flat_too):
            return
        yield _pairs(flat, flat_too, body), names
        match one, other:
            case syntax.Binary(operator, a, b), syntax.Binary(too, c, d):
                if operator == too and operator in _COMMUTATIVE and c != d:
                    both = _pairs((a, b), (d, c), body)
                    yield from [(both, names)] if all(map(self._is_pure, (a, b, c, d))) else []

    def _is_same_constant(self, one: syntax.Node, other: syntax.Node) -> bool:
        constants, types = self._checked.constants, self._checked.types
        if id(one) not in constants or id(other) not in constants:
            return False
        kinds = types.get(id(one)), types.get(id(other))
        values = constants[id(one)], constants[id(other)]
        return kinds[0] == kinds[1] and repr(values[0]) == repr(values[1])

    def _name(self, one: syntax.Name, other: syntax.Name, body: Body, names: Names) -> Names | None:
        a, b = self._checked.symbol_of(one), self._checked.symbol_of(other)
        if a.kind != b.kind or a.type != b.type:
            return None
        match a.kind:
            case "local":
                return names.bound(Named("local", body.scope, a.name), b.name)
            case "parameter":
                return names if body.parameters[a.name] == b.name else None
            case "state" | "known" if body.own.name in self._free:
                if a.name != b.name and not self._kept.isdisjoint((a.name, b.name)):
                    return None
                return names.bound(Named(a.kind, body.own.name, a.name), b.name)
        return names if a.name == b.name else None

    def _declared(
        self,
        one: syntax.LocalDeclaration,
        other: syntax.LocalDeclaration,
        body: Body,
        names: Names,
    ) -> _Ways:
        if one.type != other.type or len(one.variables) != len(other.variables):
            return
        values: list[Task] = []
        for (a, value), (b, too) in zip(one.variables, other.variables, strict=True):
            bound = names.bound(Named("local", body.scope, a), b)
            if bound is None:
                return
            names = bound
            values.append(_Pair(value, too, body))
        yield values, names

    def _if(self, one: syntax.If, other: syntax.If, body: Body, names: Names) -> _Ways:
        ones, otherwise = _branches(one)
        others, otherwise_too = _branches(other)
        conditions = [each.condition for each in (*ones, *others)]
        if len(ones) == len(others) > 1 and all(map(self._is_pure, conditions)):
            ends = _Pair(otherwise, otherwise_too, body)
            yield (_Unordered(ones, others, self._is_first_branch(body), body), ends), names
            return
        yield from self._parts(one, other, body, names)
        fair = self._is_coin(one.condition) and one.condition == other.condition
        if fair and None not in (one.otherwise, other.otherwise):
            first, second = (one.then, one.otherwise), (other.otherwise, other.then)
            yield _pairs(first, second, body), names

    def _is_coin(self, node: syntax.Expression) -> bool:
        """Whether something is as often true as false among its outcomes."""
        if not isinstance(node, syntax.Choice):
            return False
        values = [self._checked.constant_of(each) for each in node.alternatives]
        pairs = [*zip(values, self._checked.shares_of(node) or (1,) * len(values), strict=True)]
        shares = [sorted(each for value, each in pairs if value is side) for side in (True, False)]
        return shares[0] == shares[1] and 2 * len(shares[0]) == len(values)

    # --- in another order ------------------------------------------------------------------------

    def _unordered(self, task: _Unordered, names: Names) -> _Ways:
        """Let the first piece become any of those that may go first."""
        ones, others, goes_first, body = task
        if len(ones) != len(others):
            return
        if not ones:
            yield (), names
            return
        for place, other in enumerate(others):
            if other in others[:place] or not goes_first(others, place):
                continue
            rest = _Unordered(ones[1:], others[:place] + others[place + 1 :], goes_first, body)
            if isinstance(other, _Branch):
                first = _pairs(ones[0], other, body)
            else:
                first = (_Pair(ones[0], other, body),)
            yield (*first, rest), names

    def _statements(
        self,
        ones: tuple[syntax.Statement, ...],
        others: tuple[syntax.Statement, ...],
        body: Body,
    ) -> _Unordered:
        are_distinct, in_queues = self._are_distinct[body.own.name], self._checked.dialect == "core"

        def goes_first(statements: tuple[Any, ...], place: int) -> bool:
            footprint = self._footprint_of(statements[place])
            return all(
                are_independent(
                    self._footprint_of(each), footprint, are_distinct, in_queues=in_queues
                )
                for each in statements[:place]
            )

        return _Unordered(ones, others, goes_first, body)

    def _is_first_branch(self, body: Body) -> Callable[[tuple[Any, ...], int], bool]:
        def goes_first(branches: tuple[Any, ...], place: int) -> bool:
            own = self._are_distinct[body.own.name]
            return all(
                are_exclusive(each.condition, branches[place].condition, self._checked, own)
                for each in branches[:place]
            )

        return goes_first

    def _chain(self, one: syntax.Binary, other: syntax.Binary, body: Body) -> _Unordered:
        ones, others = _operands(one), _operands(other)
        are_pure = all(map(self._is_pure, (*ones, *others)))
        return _Unordered(ones, others, lambda _, place: are_pure or not place, body)

    def _is_pure(self, node: syntax.Expression) -> bool:
        return self._footprint_of(node).is_pure

    def _footprint_of(self, node: syntax.Node) -> Footprint:
        known = self._footprints.get(id(node))
        if known is None:
            known = self._footprints[id(node)] = footprint_of(self._checked, node)
        return known


class _Branch(NamedTuple):
    condition: syntax.Expression
    then: syntax.Statement


class _Identity(dict[str, str]):
    """Parameters that keep their names."""

    def __missing__(self, name: str) -> str:
        return name


def _branches(node: syntax.If) -> tuple[tuple[_Branch, ...], syntax.Statement | None]:
    """Give the branches of a chain of conditions, and what is done if none is true."""
    found = [_Branch(node.condition, node.then)]
    rest = node.otherwise
    while isinstance(rest, syntax.If):
        found.append(_Branch(rest.condition, rest.then))
        rest = rest.otherwise
    return tuple(found), rest


def _operands(node: syntax.Binary) -> tuple[syntax.Expression, ...]:
    """Give the operands of a chain of the same operator, from left to right."""
    found: list[syntax.Expression] = []
    pending: list[syntax.Expression] = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, syntax.Binary) and each.operator == node.operator:
            pending += [each.right, each.left]
        else:
            found.append(each)
    return tuple(found)


def _permutations(one: CheckedServer, other: CheckedServer) -> Iterator[tuple[int, ...]]:
    """Give where arguments may go to, by their types; first where they are."""
    kinds = [each.type for each in one.parameters]
    others = [each.type for each in other.parameters]
    places = range(len(kinds))
    if len(kinds) != len(others):
        return
    for each in permutations(places) if len(kinds) <= _MOST_PARAMETERS else [tuple(places)]:
        if all(kind == others[place] for kind, place in zip(kinds, each, strict=True)):
            yield each


def _pairs(ones: Sequence[Any], others: Sequence[Any], body: Body) -> tuple[Task, ...]:
    return tuple(_Pair(a, b, body) for a, b in zip(ones, others, strict=True))


def _flat(parts: Sequence[Any]) -> list[Any]:
    """Give parts with those in tuples, behind how many these are."""
    found: list[Any] = []
    for part in parts:
        if isinstance(part, tuple):
            found += [len(part), *part]
        else:
            found.append(part)
    return found

"""Cures: the change that is proposed, its parts in the syntax tree, and the result of trying it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Literal, NamedTuple, get_args

from rebecsim.exploration.analysis.footprints import methods_called
from rebecsim.exploration.races.result import Contender, RaceGroup, WitnessOrder
from rebecsim.exploration.states.effects import BreachKey
from rebecsim.lang import CheckedClass, CheckedModel, CheckedServer, syntax, walk
from rebecsim.lang.traversal import rewritten

CureKind = Literal["priority", "atomic", "guard"]
CURE_KINDS: tuple[CureKind, ...] = get_args(CureKind)

Outcome = Literal["removes", "lessens", "hides", "no help", "worse", "undecided", "n/a"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
"""The outcomes of trying a cure, the best first; see `rebecsim.exploration.races.cures`."""


class DoesNotApplyError(Exception):
    """A cure has no meaning for a model; the text says why."""


class Guarded(NamedTuple):
    """A service that tests a flag of its rebec before it is done."""

    rebec: str
    server: str
    flag: str


@dataclass(frozen=True)
class Change:
    """A changed model. Services of the message servers `merged` count as one."""

    tree: syntax.Model
    merged: frozenset[str] = frozenset()
    guarded: Guarded | None = None


@dataclass(frozen=True)
class Proposal:
    """A cure that may be tried; `make` raises DoesNotApplyError for one that cannot."""

    kind: CureKind
    id: str
    title: str
    make: Callable[[], Change]


@dataclass(frozen=True)
class Tried:
    """A cure and what came of it.

    `found` says what exploring found, or why it does not apply. `source` is the changed model,
    empty for one that does not apply. `states` is the size of its state space, as far as it was
    looked at, and `violations` all that can go wrong in it.
    """

    kind: CureKind
    id: str
    title: str
    outcome: Outcome
    found: tuple[str, ...]
    source: str = ""
    states: int = 0
    violations: tuple[BreachKey, ...] = ()


OF_A_MESSAGE = frozenset(
    {"currentMessageArrival", "currentMessageDeadline", "currentMessageWaitingTime"}
)
"""The words by which a message server reads the times of the message that it serves."""

_Edit = Callable[[syntax.MessageServer], syntax.MessageServer]


def class_of(checked: CheckedModel, rebec: str) -> CheckedClass:
    """Give the class of a rebec of main."""
    (instance,) = (each for each in checked.instances if each.name == rebec)
    return checked.classes[instance.class_name]


def server_of(checked: CheckedModel, rebec: str, name: str) -> CheckedServer:
    """Give the message server that a rebec of main really has under a name."""
    (server,) = (each for each in class_of(checked, rebec).servers if each.name == name)
    return server


def concrete(checked: CheckedModel) -> Iterator[CheckedClass]:
    """Give the classes that can have rebecs."""
    return (each for each in checked.classes.values() if not each.abstract)


def edited_class(
    tree: syntax.Model, name: str, edit: Callable[[syntax.ReactiveClass], syntax.ReactiveClass]
) -> syntax.Model:
    """Change one class of a model."""
    classes = tuple(edit(each) if each.name == name else each for each in tree.classes)
    return replace(tree, classes=classes)


def edited_server(tree: syntax.Model, owner: str, name: str, edit: _Edit) -> syntax.Model:
    """Change a message server where its text stands."""

    def edited(each: syntax.ReactiveClass) -> syntax.ReactiveClass:
        servers = tuple(edit(one) if one.name == name else one for one in each.message_servers)
        return replace(each, message_servers=servers)

    return edited_class(tree, owner, edited)


# --- names -----------------------------------------------------------------------------------


def identifiers(root: syntax.Node) -> frozenset[str]:
    """Give all names that are used or declared in a part of the text."""
    found: set[str] = set()
    for node in walk(root):
        match node:
            case syntax.Name(identifier=name):
                found.add(name)
            case syntax.LocalDeclaration(variables=variables):
                found.update(name for name, _ in variables)
            case syntax.Call(method=name) | syntax.Send(server=name):
                found.add(name)
            case (
                syntax.Parameter(name=name)
                | syntax.Field(name=name)
                | syntax.EnvVariable(name=name)
                | syntax.MessageServer(name=name)
                | syntax.Method(name=name)
                | syntax.ReactiveClass(name=name)
                | syntax.Interface(name=name)
                | syntax.Instance(name=name)
            ):
                found.add(name)
    return frozenset(found)


def locals_of(server: syntax.MessageServer) -> tuple[str, ...]:
    """Give the names of the parameters and local variables of a message server."""
    found = [each.name for each in server.parameters]
    for node in walk(server):
        if isinstance(node, syntax.LocalDeclaration):
            found += [name for name, _ in node.variables]
    return tuple(dict.fromkeys(found))


def fresh(wanted: str, taken: Collection[str]) -> str:
    """Give a name that is not taken: the wanted one, or that with a number."""
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}{number}", number + 1
    return name


def renamed(
    checked: CheckedModel, body: syntax.Block, names: dict[str, str], sender: str | None = None
) -> syntax.Block:
    """Give parameters and local variables of a body other names; `sender` stands for the word."""

    def change(node: syntax.Node) -> syntax.Node:
        if isinstance(node, syntax.Name):
            symbol = checked.symbols.get(id(node))
            if symbol is not None and symbol.kind in ("local", "parameter"):
                return replace(node, identifier=names.get(node.identifier, node.identifier))
            if node.identifier == "sender" and sender is not None:
                return replace(node, identifier=sender)
        if isinstance(node, syntax.LocalDeclaration):
            variables = tuple((names.get(name, name), value) for name, value in node.variables)
            return replace(node, variables=variables)
        return node

    changed = rewritten(body, change)
    assert isinstance(changed, syntax.Block)
    return changed


def names_read(owner: CheckedClass, body: syntax.Node) -> frozenset[str]:
    """Give the names that a body, or a method that it calls, reads or assigns."""
    parts: Iterable[syntax.Node] = (body, *methods_called(owner, body))
    return frozenset(
        node.identifier for part in parts for node in walk(part) if isinstance(node, syntax.Name)
    )


Pair = tuple[Contender, Contender]


def at_one_rebec(checked: CheckedModel, race: RaceGroup) -> list[Pair]:
    """Give the pairs of services of one rebec whose order the race may decide.

    That is the race itself if it is at one rebec. Otherwise it is what changes places in the orders
    shown, and what its two services are or send to, as far as the text says to whom.
    """
    one, two = race.contenders
    if one.rebec == two.rebec:
        return [(one, two)]
    pairs = swapped(race)
    for first, second in product(_served_for(checked, one), _served_for(checked, two)):
        if first.rebec == second.rebec and first.server != second.server:
            pairs.append((first, second))
    return list({_places(pair): pair for pair in reversed(pairs)}.values())[::-1]


def _places(pair: Pair) -> frozenset[tuple[str, str]]:
    return frozenset((each.rebec, each.server) for each in pair)


def _served_for(checked: CheckedModel, contender: Contender) -> Iterator[Contender]:
    """Give a service and those of the messages that it sends to itself or to known rebecs."""
    yield contender
    owner = class_of(checked, contender.rebec)
    (instance,) = (each for each in checked.instances if each.name == contender.rebec)
    names = (each.name for each in owner.known_rebecs)
    rebecs = dict(zip(names, instance.bindings, strict=True)) | {"self": contender.rebec}
    server = server_of(checked, contender.rebec, contender.server)
    for body in (server.tree, *methods_called(owner, server.tree)):
        for node in walk(body):
            if isinstance(node, syntax.Send) and isinstance(node.receiver, syntax.Name):
                rebec = rebecs.get(node.receiver.identifier)
                if rebec is not None:
                    yield Contender(rebec, node.server, contender.rebec)


def swapped(race: RaceGroup) -> list[Pair]:
    """Give the services of one rebec that change places in the two orders of a race.

    One that an order does not come to, as something goes wrong before, comes last in it.
    """
    one, other = race.witness.orders
    pairs = [*_overtaken(one, other), *(pair[::-1] for pair in _overtaken(other, one))]
    return list({frozenset(pair): pair for pair in reversed(pairs)}.values())[::-1]


def _overtaken(one: WitnessOrder, other: WitnessOrder) -> Iterator[Pair]:
    """Give a service and one behind it, which comes first in the other order."""
    here, there = _services(one), _services(other)
    for first, second in combinations(here, 2):
        if first.rebec != second.rebec or second not in there:
            continue
        is_cut = first not in there and other.breach is not None
        if is_cut or first in there[there.index(second) :]:
            yield first, second


def _services(order: WitnessOrder) -> list[Contender]:
    steps = [each for each in order.steps if each.kind == "message"]
    return list(dict.fromkeys(Contender(each.rebec, each.server, each.sender) for each in steps))

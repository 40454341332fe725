"""The cures "priority" and "guard": one service goes before the other.

By priority, one service goes before another that waits at the same time. By a guard, a flag records
that one service was done, and the other waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Literal, TypeVar

from rebecsim.exploration.races.cures.change import (
    OF_A_MESSAGE,
    Change,
    DoesNotApplyError,
    Guarded,
    Proposal,
    class_of,
    edited_class,
    edited_server,
    fresh,
    identifiers,
    names_read,
    server_of,
)
from rebecsim.exploration.races.result import Contender
from rebecsim.lang import CheckedClass, CheckedModel, CheckedServer, syntax, walk

_Key = TypeVar("_Key")
_Place = tuple[str, str]
"""A message server where its text stands: the class, and its name."""


def of_servers(checked: CheckedModel, first: Contender, second: Contender) -> Proposal:
    """Propose a `@priority` of two message servers of one rebec."""

    def make() -> Change:
        _not_in_core(checked)
        one, two = _different_servers(checked, first, second)
        family = _family(checked, class_of(checked, first.rebec))
        levels = {(each.owner, each.name): each.priority for each in family}
        return _annotated(checked, "priority", _raised(levels, _place(one), _place(two)))

    title = f"@priority: {_name(first)} before {_name(second)}"
    return Proposal("priority", f"priority-{_name(first)}-before-{_name(second)}", title, make)


def of_servers_everywhere(checked: CheckedModel, first: Contender, second: Contender) -> Proposal:
    """Propose a `@globalPriority` of the message servers of two rebecs."""

    def make() -> Change:
        _not_in_core(checked)
        one, two = _different_servers(checked, first, second)
        if not checked.uses_global_priority and any(
            each.priority is not None for each in checked.instances
        ):
            raise DoesNotApplyError("it would switch off the priorities of rebecs in main")
        servers = _written(checked.classes.values())
        levels = {(each.owner, each.name): each.global_priority for each in servers}
        return _annotated(checked, "globalPriority", _raised(levels, _place(one), _place(two)))

    title = f"@globalPriority: {_name(first)} before {_name(second)}"
    name = f"global-{_name(first)}-before-{_name(second)}"
    return Proposal("priority", name, title, make)


def of_rebecs(checked: CheckedModel, first: Contender, second: Contender) -> Proposal:
    """Propose a `@priority` of two rebecs in main."""

    def make() -> Change:
        _not_in_core(checked)
        if checked.uses_global_priority:
            raise DoesNotApplyError("with @globalPriority the priorities of rebecs do not count")
        levels = {each.name: each.priority for each in checked.instances}
        numbers = _raised(levels, first.rebec, second.rebec)
        instances = tuple(
            replace(each, annotations=_with(each.annotations, "priority", numbers[each.name]))
            if each.name in numbers
            else each
            for each in checked.tree.instances
        )
        return Change(replace(checked.tree, instances=instances))

    title = f"@priority in main: {first.rebec} before {second.rebec}"
    return Proposal("priority", f"priority-{first.rebec}-before-{second.rebec}", title, make)


def _name(contender: Contender) -> str:
    return f"{contender.rebec}.{contender.server}"


def _place(server: CheckedServer) -> _Place:
    return server.owner, server.name


def _not_in_core(checked: CheckedModel) -> None:
    if checked.dialect == "core":
        raise DoesNotApplyError("Core Rebeca has no priorities")


def _different_servers(
    checked: CheckedModel, first: Contender, second: Contender
) -> tuple[CheckedServer, CheckedServer]:
    one, two = (server_of(checked, each.rebec, each.server) for each in (first, second))
    if one.tree is two.tree:
        raise DoesNotApplyError(f"{one.owner}.{one.name} is one message server, with one priority")
    return one, two


def _family(checked: CheckedModel, member: CheckedClass) -> Iterator[CheckedServer]:
    """Give the message servers of the classes that share a base class with one, each once."""
    root = (member.name, *member.ancestors)[-1]
    return _written(each for each in checked.classes.values() if each.is_a(root))


def _written(classes: Iterable[CheckedClass]) -> Iterator[CheckedServer]:
    """Give the message servers whose text stands in one of these classes."""
    return (server for each in classes for server in each.servers if server.owner == each.name)


def _raised(levels: Mapping[_Key, int | None], first: _Key, second: _Key) -> dict[_Key, int]:
    """Give the numbers to write so that the first comes right before the second.

    A small number is urgent, and none is the least urgent. Every other order stays as it is.
    """
    above, below = levels[first], levels[second]
    if above is not None and (below is None or above < below):
        raise DoesNotApplyError("it has that order already")
    others = {key: value for key, value in levels.items() if value is not None and key != first}
    if below is None:
        return {first: max(others.values(), default=0) + 1}
    if below - 1 not in others.values():
        return {first: below - 1}
    return {first: below} | {key: value + 1 for key, value in others.items() if value >= below}


def _annotated(checked: CheckedModel, word: str, numbers: Mapping[_Place, int]) -> Change:
    tree = checked.tree
    for (owner, name), number in numbers.items():
        tree = edited_server(tree, owner, name, _numbered(word, number))
    return Change(tree)


def _numbered(word: str, number: int) -> Callable[[syntax.MessageServer], syntax.MessageServer]:
    return lambda each: replace(each, annotations=_with(each.annotations, word, number))


def _with(
    annotations: tuple[syntax.Annotation, ...], word: str, number: int
) -> tuple[syntax.Annotation, ...]:
    value: syntax.Expression = syntax.IntLiteral(abs(number))
    if number < 0:
        value = syntax.Unary("-", value)
    kept = tuple(each for each in annotations if each.name != word)
    return (*kept, syntax.Annotation(word, value))


Form = Literal["each", "first", "later", "drop"]
_TITLES: dict[Form, str] = {
    "each": "{late} waits each time for {early}",
    "first": "{late} waits for the first {early}",
    "later": "{late} tries again later until the first {early}",
    "drop": "{late} is dropped before the first {early}",
}


def guards(checked: CheckedModel, early: Contender, late: Contender) -> list[Proposal]:
    """Propose to let the late one of two services of a rebec wait for the early one, or drop it."""
    return [_guard(checked, early, late, form) for form in _TITLES]


def _guard(checked: CheckedModel, early: Contender, late: Contender, form: Form) -> Proposal:
    names = {"early": early.server, "late": f"{late.rebec}.{late.server}"}
    title = f"guard: {_TITLES[form].format(**names)}"
    name = f"guard-{late.rebec}.{late.server}-{form}-{early.server}"
    return Proposal("guard", name, title, lambda: _guarded(checked, early, late, form))


def _guarded(checked: CheckedModel, early: Contender, late: Contender, form: Form) -> Change:
    first, second = (server_of(checked, each.rebec, each.server) for each in (early, late))
    if first.tree is second.tree:
        raise DoesNotApplyError(f"{first.owner}.{first.name} is one message server")
    if form == "later" and checked.dialect == "core":
        raise DoesNotApplyError("Core Rebeca has no time")
    if form != "drop":
        _can_be_put_back(checked, late, second)
    is_above = first.owner in checked.classes[second.owner].ancestors
    holder = first.owner if is_above else second.owner
    flag = fresh(f"{first.name}Served", identifiers(checked.tree))

    def declare(tree: syntax.ReactiveClass) -> syntax.ReactiveClass:
        field = syntax.Field(syntax.TypeName("boolean"), flag)
        return replace(tree, state_variables=(*tree.state_variables, field))

    def set_flag(tree: syntax.MessageServer) -> syntax.MessageServer:
        return _beginning_with(tree, _assign(flag, True))

    def test_flag(tree: syntax.MessageServer) -> syntax.MessageServer:
        after = syntax.IntLiteral(1) if form == "later" else None
        back = () if form == "drop" else (_put_back(tree, after),)
        leave = syntax.Block((*back, syntax.Return()))
        check = syntax.If(syntax.Unary("!", syntax.Name(flag)), leave)
        reset = (_assign(flag, False),) if form == "each" else ()
        return _beginning_with(tree, check, *reset)

    tree = edited_class(checked.tree, holder, declare)
    tree = edited_server(tree, first.owner, first.name, set_flag)
    tree = edited_server(tree, second.owner, second.name, test_flag)
    return Change(tree, guarded=Guarded(late.rebec, late.server, flag))


def _can_be_put_back(checked: CheckedModel, late: Contender, server: CheckedServer) -> None:
    read = names_read(class_of(checked, late.rebec), server.tree)
    words = read & {"sender", *OF_A_MESSAGE}
    if words:
        raise DoesNotApplyError(
            f"{server.name} reads `{min(words)}`, which serving it later changes"
        )
    for node in walk(checked.tree):
        if isinstance(node, syntax.Send) and node.server == server.name and node.deadline:
            raise DoesNotApplyError(f"{server.name} has a deadline, which serving it later loses")


def _assign(name: str, value: bool) -> syntax.Statement:
    literal = syntax.BoolLiteral(value)
    return syntax.ExpressionStatement(syntax.Assignment(syntax.Name(name), "=", literal))


def _put_back(tree: syntax.MessageServer, after: syntax.Expression | None) -> syntax.Statement:
    arguments = tuple(syntax.Name(each.name) for each in tree.parameters)
    return syntax.ExpressionStatement(syntax.Send(syntax.Name("self"), tree.name, arguments, after))


def _beginning_with(
    tree: syntax.MessageServer, *statements: syntax.Statement
) -> syntax.MessageServer:
    assert tree.body is not None
    body = replace(tree.body, statements=(*statements, *tree.body.statements))
    return replace(tree, body=body)

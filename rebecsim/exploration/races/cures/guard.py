"""The cure "guard": a flag records that one service was done, and the other waits for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from rebecsim.exploration.races.cures.cure import Change, DoesNotApplyError, Guarded, Proposal
from rebecsim.exploration.races.cures.editing import (
    OF_A_MESSAGE,
    class_of,
    edited_class,
    edited_server,
    fresh,
    identifiers,
    names_read,
    server_of,
)
from rebecsim.exploration.races.result import Contender
from rebecsim.lang import CheckedModel, CheckedServer, syntax, walk

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

    def note(tree: syntax.MessageServer) -> syntax.MessageServer:
        return _beginning_with(tree, _assign(flag, True))

    def look(tree: syntax.MessageServer) -> syntax.MessageServer:
        after = syntax.IntLiteral(1) if form == "later" else None
        back = () if form == "drop" else (_put_back(tree, after),)
        leave = syntax.Block((*back, syntax.Return()))
        check = syntax.If(syntax.Unary("!", syntax.Name(flag)), leave)
        again = (_assign(flag, False),) if form == "each" else ()
        return _beginning_with(tree, check, *again)

    tree = edited_class(checked.tree, holder, declare)
    tree = edited_server(tree, first.owner, first.name, note)
    tree = edited_server(tree, second.owner, second.name, look)
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

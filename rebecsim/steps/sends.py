"""Read what Python classes call for its effect: sends, methods, delays and assertions."""

from __future__ import annotations

import ast

from rebecsim import actors
from rebecsim.actors.rebec import Interface, MessageServer
from rebecsim.lang import syntax
from rebecsim.lang.checked import ANY_REBEC, INT, RebecType
from rebecsim.steps.blocks import is_none
from rebecsim.steps.expressions import ExpressionReader
from rebecsim.steps.values import shown

_TIMES = frozenset({"after", "deadline"})


class EffectReader(ExpressionReader):
    """Reads the calls that are statements of their own."""

    def _called_alone(self, node: ast.Call) -> syntax.Statement:
        span = self.span(node)
        match node.func:
            case ast.Attribute(ast.Call(ast.Name("super"), [], []), name) if name == self.tree.name:
                return self._super(node)
            case ast.Attribute(owner, "delay") if self.is_self(owner) and len(node.args) == 1:
                amount = self.fitted(self.read(node.args[0]), INT, node)
                return syntax.Delay(amount.tree, span=span)
            case ast.Attribute(owner, name) if (
                self.is_self(owner)
                and name in self.facts.methods
                and name not in self.facts.servers
            ):
                given = self.arguments(node, name, self.signature(name, node))
                call = syntax.Call(name, given, span=span)
                return syntax.ExpressionStatement(call, span=span)
            case ast.Attribute(owner, name):
                send = self._send(node, owner, name)
                return syntax.ExpressionStatement(send, span=span)
            case ast.Name() if self._called(node) is actors.require:
                return self._require(node)
        raise self.refused(node, f"`{shown(node.func)}(...)` cannot be translated to Rebeca")

    def _super(self, node: ast.Call) -> syntax.Statement:
        """Read the call of a constructor of the base class."""
        if self.tree.name != "__init__" or node.keywords:
            raise self.refused(node, f"`{shown(node)}` cannot be translated to Rebeca")
        span = self.span(node)
        given = tuple(self.read(each).tree for each in node.args)
        if not any(each in self.program.classes for each in self.facts.owner.__bases__):
            return syntax.EmptyStatement(span=span)
        return syntax.ExpressionStatement(syntax.Call("super", given, span=span), span=span)

    def _require(self, node: ast.Call) -> syntax.Assertion:
        text: str | None = None
        match node.args[1:]:
            case [ast.Constant(str() as text)]:
                pass
            case [_, *_]:
                raise self.refused(node, "the text of `require` must be a literal")
        if not node.args or node.keywords:
            raise self.refused(node, "`require` takes a condition and an optional text")
        test = self.condition(node.args[0])
        return syntax.Assertion(test.tree, text or None, span=self.span(node))

    def _send(self, node: ast.Call, owner: ast.expr, name: str) -> syntax.Send:
        span = self.span(node)
        receiver = self.read(owner)
        if receiver.type == ANY_REBEC:
            receiver = self.fitted(receiver, self._class_with(name, node), node)
        if not isinstance(receiver.type, RebecType):
            raise self.refused(node, f"`{shown(owner)}` is not a rebec")
        server = self._server(receiver.type.name, name)
        if server is None:
            raise self.refused(node, f"{receiver.type} has no message server `{name}`")
        signature = self.program.signatures.get(server.handler)  # type: ignore[call-overload]
        if signature is None:
            raise self.refused(node, f"the message server `{name}` is not understood")
        given = self.arguments(node, name, signature, _TIMES)
        times: dict[str, syntax.Expression] = {}
        for word in node.keywords:
            if word.arg in _TIMES and not is_none(word.value):
                times[word.arg] = self.fitted(self.read(word.value), INT, word.value).tree
        return syntax.Send(
            receiver.tree, server.name, given, times.get("after"), times.get("deadline"), span=span
        )

    def _server(self, class_name: str, name: str) -> MessageServer | None:
        """Give a message server of a class or interface of this name in Rebeca."""
        owner = next(each for each, shown in self.program.names.items() if shown == class_name)
        if owner in self.program.classes:
            return self.program.classes[owner].servers.get(name)
        declared = getattr(getattr(owner, name, None), "__message_server__", None)
        return None if declared is None else MessageServer(declared[0], declared[1], -1)

    def _class_with(self, name: str, node: ast.AST) -> RebecType:
        """Give the class that has a message server, if that is the only one."""
        having = [
            each
            for each in self.program.names
            if each in self.program.classes and name in self.program.classes[each].servers
        ]
        first = [each for each in having if all(issubclass(other, each) for other in having)]
        promised = [
            each
            for each in self.program.names
            if issubclass(each, Interface) and all(issubclass(other, each) for other in having)
            if hasattr(each, name) and each not in self.program.classes
        ]
        for found in (first, promised):
            if len(found) == 1:
                return RebecType(self.program.names[found[0]])
        raise self.refused(
            node, f"`self.sender.{name}(...)`: several classes have `{name}`; use `refer`"
        )

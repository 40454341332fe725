"""Write a syntax tree as text, in one canonical form.

The law: what is printed reads as the same tree. It holds for every tree that the parser gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from rebecsim.lang import syntax
from rebecsim.lang.checked import PRIMITIVES
from rebecsim.lang.syntax import Expression
from rebecsim.lang.traversal import (
    ASSIGNMENT,
    BINARY_PRECEDENCE,
    CONDITIONAL,
    INSTANCE_OF,
    POSTFIX,
    UNARY,
    float_text,
    integer_text,
    text_text,
)

_Member = syntax.Constructor | syntax.MessageServer | syntax.Method
_Declared = TypeVar("_Declared", bound=syntax.Node)
_INDENT = "    "


def print_model(tree: syntax.Model) -> str:
    """The text of a model in its canonical form: 4 spaces, no needless parentheses.

    Declarations are in the order of the text that the tree was read from, main at the end.
    """
    writer = _Writer()
    for each in tree.imports:
        writer.line(f"import {text_text(each.path)};")
    declared: list[syntax.Node] = [*tree.env_variables, *tree.interfaces, *tree.classes]
    if tree.imports:
        writer.gap()
    for node in _as_written(declared):
        if not isinstance(node, syntax.EnvVariable):
            writer.gap()
        _write_declaration(writer, node)
    if not isinstance(tree, syntax.Library):
        writer.gap()
        writer.open("main")
        for instance in tree.instances:
            writer.line(_instance(instance))
        writer.close()
    return writer.text()


def print_expression(node: Expression) -> str:
    """The text of an expression on one line."""
    return _expression(node, ASSIGNMENT)


class _Writer:
    """Collects lines and keeps the indentation."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def line(self, text: str) -> None:
        self._lines.append(_INDENT * self._depth + text)

    def gap(self) -> None:
        """An empty line, but not right behind an opening brace or at the start."""
        if self._lines and self._lines[-1] and not self._lines[-1].endswith("{"):
            self._lines.append("")

    def open(self, head: str) -> None:
        self.line(f"{head} {{")
        self._depth += 1

    def close(self, tail: str = "") -> None:
        self._depth -= 1
        self.line("}" + tail)

    def indent(self, steps: int) -> None:
        self._depth += steps

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"


# --- declarations ------------------------------------------------------------------------------


def _as_written(nodes: Sequence[_Declared]) -> list[_Declared]:
    """Give declarations in the order of their texts; those without one first, as they are given."""
    files = list(dict.fromkeys((syntax.NOWHERE.file, *(node.span.file for node in nodes))))
    return sorted(nodes, key=lambda node: (files.index(node.span.file), *_place((node,))))


def _place(nodes: Sequence[syntax.Node]) -> tuple[int, int]:
    return (nodes[0].span.line, nodes[0].span.column) if nodes else (0, 0)


def _write_declaration(writer: _Writer, node: syntax.Node) -> None:
    if isinstance(node, syntax.EnvVariable):
        writer.line(_constant(node))
    elif isinstance(node, syntax.Interface):
        _write_interface(writer, node)
    elif isinstance(node, syntax.ReactiveClass):
        _write_class(writer, node)


def _constant(node: syntax.EnvVariable | syntax.Field) -> str:
    return f"env {_variable(node)}"


def _variable(node: syntax.EnvVariable | syntax.Field) -> str:
    value = "" if node.value is None else f" = {_initial(node.value)}"
    return f"{print_type(node.type)} {node.name}{value};"


def _write_interface(writer: _Writer, node: syntax.Interface) -> None:
    bases = f" extends {', '.join(node.bases)}" if node.bases else ""
    writer.open(f"interface {node.name}{bases}")
    for server in node.message_servers:
        writer.line(f"msgsrv {server.name}{print_parameters(server)};")
    writer.close()


def _write_class(writer: _Writer, node: syntax.ReactiveClass) -> None:
    for annotation in node.annotations:
        writer.line(_annotation(annotation))
    abstract = "abstract " if node.abstract else ""
    base = "" if node.base is None else f" extends {node.base}"
    promised = f" implements {', '.join(node.interfaces)}" if node.interfaces else ""
    size = "" if node.queue_size is None else f"({print_expression(node.queue_size)})"
    writer.open(f"{abstract}reactiveclass {node.name}{base}{promised}{size}")
    sections: dict[str, Sequence[syntax.Field | syntax.EnvVariable]] = {
        "env": node.constants,
        "knownrebecs": node.known_rebecs,
        "statevars": node.state_variables,
    }
    for section, fields in sorted(sections.items(), key=lambda item: _place(item[1])):
        _write_fields(writer, section, fields)
    members: list[_Member] = [*node.constructors, *node.message_servers, *node.methods]
    for member in _as_written(members):
        writer.gap()
        _write_member(writer, member)
    writer.close()


def _write_member(writer: _Writer, node: _Member) -> None:
    head = node.name + print_parameters(node)
    if isinstance(node, syntax.MessageServer):
        for annotation in node.annotations:
            writer.line(_annotation(annotation))
        head = f"{'abstract ' if node.abstract else ''}msgsrv {head}"
    elif isinstance(node, syntax.Method):
        result = "void" if node.return_type is None else print_type(node.return_type)
        head = f"{'abstract ' if node.abstract else ''}{result} {head}"
    _write_body(writer, head, node.body)


def _write_fields(
    writer: _Writer, section: str, fields: Sequence[syntax.Field | syntax.EnvVariable]
) -> None:
    if not fields:
        return
    writer.gap()
    if section == "env":
        for each in fields:
            writer.line(_constant(each))
        return
    writer.open(section)
    for field in fields:
        writer.line(_variable(field))
    writer.close()


def _write_body(writer: _Writer, head: str, body: syntax.Block | None) -> None:
    if body is None:
        writer.line(f"{head};")
        return
    writer.open(head)
    _write_statements(writer, body.statements)
    writer.close()


def print_parameters(node: _Member) -> str:
    """The parameters of a constructor, message server or method, in parentheses."""
    inner = ", ".join(f"{print_type(item.type)} {item.name}" for item in node.parameters)
    return f"({inner})"


def _annotation(node: syntax.Annotation) -> str:
    value = "" if node.value is None else f"({print_expression(node.value)})"
    return f"@{node.name}{value}"


def print_type(node: syntax.TypeName) -> str:
    """The text of a type, with its dimensions."""
    return node.name + "".join(f"[{print_expression(item)}]" for item in node.dimensions)


def _instance(node: syntax.Instance) -> str:
    annotations = "".join(f"{_annotation(annotation)} " for annotation in node.annotations)
    bindings, arguments = _list(node.bindings), _list(node.arguments)
    return f"{annotations}{node.class_name} {node.name}({bindings}):({arguments});"


# --- statements --------------------------------------------------------------------------------


def _write_statements(writer: _Writer, statements: Sequence[syntax.Statement]) -> None:
    for statement in statements:
        _write_statement(writer, statement)


def _write_statement(writer: _Writer, node: syntax.Statement) -> None:
    if isinstance(node, syntax.Block):
        writer.line("{")
        writer.indent(1)
        _write_statements(writer, node.statements)
        writer.close()
    elif isinstance(node, syntax.If):
        _write_if(writer, node, "")
    elif isinstance(node, syntax.While):
        _write_nested(writer, f"while ({print_expression(node.condition)})", node.body)
    elif isinstance(node, syntax.For):
        _write_nested(writer, _for_head(node), node.body)
    elif isinstance(node, syntax.PAlt):
        _write_p_alt(writer, node)
    elif isinstance(node, syntax.Switch):
        _write_switch(writer, node)
    else:
        writer.line(_simple_statement(node) + ";")


def _simple_statement(node: syntax.Statement) -> str:
    if isinstance(node, syntax.LocalDeclaration):
        return _local_declaration(node)
    if isinstance(node, syntax.ExpressionStatement):
        return print_expression(node.expression)
    if isinstance(node, syntax.Return):
        return "return" if node.value is None else f"return {print_expression(node.value)}"
    if isinstance(node, syntax.Delay):
        return f"delay({print_expression(node.duration)})"
    if isinstance(node, syntax.Assertion):
        text = "" if node.text is None else f", {text_text(node.text)}"
        return f"assertion({print_expression(node.condition)}{text})"
    words = {syntax.Break: "break", syntax.Continue: "continue", syntax.EmptyStatement: ""}
    return words[type(node)]


def _local_declaration(node: syntax.LocalDeclaration) -> str:
    variables = ", ".join(
        name if value is None else f"{name} = {_initial(value)}" for name, value in node.variables
    )
    return f"{print_type(node.type)} {variables}"


def _initial(node: syntax.Initial) -> str:
    if isinstance(node, syntax.ArrayInitializer):
        return f"{{{', '.join(map(_initial, node.values))}}}"
    return print_expression(node)


def _write_nested(writer: _Writer, head: str, body: syntax.Statement, tail: str = "") -> None:
    """A head with the statement under it; the tail goes behind the closing brace of a block."""
    if isinstance(body, syntax.Block):
        writer.open(head)
        _write_statements(writer, body.statements)
        writer.close(tail)
        return
    writer.line(head)
    writer.indent(1)
    _write_statement(writer, body)
    writer.indent(-1)


def _write_if(writer: _Writer, node: syntax.If, prefix: str) -> None:
    head = f"{prefix}if ({print_expression(node.condition)})"
    then, otherwise = node.then, node.otherwise
    if otherwise is None:
        _write_nested(writer, head, then)
        return
    if _takes_else(then):  # no text has this tree; braces keep its meaning
        then = syntax.Block((then,))
    word = "else"
    if isinstance(then, syntax.Block):
        word = "} else"
        writer.open(head)
        _write_statements(writer, then.statements)
        writer.indent(-1)
    else:
        _write_nested(writer, head, then)
    if isinstance(otherwise, syntax.If):
        _write_if(writer, otherwise, f"{word} ")
    else:
        _write_nested(writer, word, otherwise)


def _takes_else(node: syntax.Statement) -> bool:
    """Whether an `else` behind the statement would belong to an `if` inside it."""
    while True:
        if isinstance(node, syntax.If):
            if node.otherwise is None:
                return True
            node = node.otherwise
        elif isinstance(node, (syntax.While, syntax.For)):
            node = node.body
        else:
            return False


def _for_head(node: syntax.For) -> str:
    if isinstance(node.init, syntax.LocalDeclaration):
        init = _local_declaration(node.init)
    else:
        init = _list(node.init)
    condition = "" if node.condition is None else f" {print_expression(node.condition)}"
    update = f" {_list(node.update)}" if node.update else ""
    return f"for ({init};{condition};{update})"


def _write_switch(writer: _Writer, node: syntax.Switch) -> None:
    writer.open(f"switch ({print_expression(node.subject)})")
    for case in node.cases:
        label = "default" if case.value is None else f"case {print_expression(case.value)}"
        writer.line(f"{label}:")
        writer.indent(1)
        _write_statements(writer, case.statements)
        writer.indent(-1)
    writer.close()


def _write_p_alt(writer: _Writer, node: syntax.PAlt) -> None:
    assert isinstance(node.subject, syntax.Choice)
    writer.open("pAlt")
    for weight, case in zip(node.subject.weights, node.cases, strict=True):
        _write_nested(writer, f"prob({print_expression(weight)}):", case.statements[0])
    writer.close()


# --- expressions -------------------------------------------------------------------------------


def _choice(node: syntax.Choice) -> tuple[int, str]:
    shown = [print_expression(each) for each in node.alternatives]
    if node.weights:
        pairs = zip(node.weights, shown, strict=True)
        shown = [f"{print_expression(weight)}: {text}" for weight, text in pairs]
    return UNARY, f"?({', '.join(shown)})"


def _list(nodes: Sequence[Expression]) -> str:
    return ", ".join(print_expression(node) for node in nodes)


def _expression(node: Expression, least: int) -> str:
    """The text of an expression, in parentheses if it binds less than `least`."""
    precedence, text = _PRINTERS[type(node)](node)
    return text if precedence >= least else f"({text})"


def _receiver(node: Expression) -> str:
    """What stands before a dot; `5.x` would be read as the number `5.`."""
    text = _expression(node, POSTFIX)
    return f"({text})" if isinstance(node, syntax.IntLiteral) else text


def _index(node: syntax.Index) -> tuple[int, str]:
    return POSTFIX, f"{_expression(node.array, POSTFIX)}[{print_expression(node.index)}]"


def _unary(node: syntax.Unary) -> tuple[int, str]:
    operand = _expression(node.operand, UNARY)
    if operand[0] == node.operator and node.operator in "+-":  # `--x` is a decrement
        operand = f"({operand})"
    return UNARY, node.operator + operand


def _binary(node: syntax.Binary) -> tuple[int, str]:
    precedence = BINARY_PRECEDENCE[node.operator]
    left = _expression(node.left, precedence)
    right = _expression(node.right, precedence + 1)
    return precedence, f"{left} {node.operator} {right}"


def _instance_of(node: syntax.InstanceOf) -> tuple[int, str]:
    return INSTANCE_OF, f"{_expression(node.operand, INSTANCE_OF)} instanceof {node.type.name}"


def _conditional(node: syntax.Conditional) -> tuple[int, str]:
    condition = _expression(node.condition, CONDITIONAL + 1)
    then = _expression(node.then, ASSIGNMENT)
    otherwise = _expression(node.otherwise, CONDITIONAL)
    return CONDITIONAL, f"{condition} ? {then} : {otherwise}"


def _assignment(node: syntax.Assignment) -> tuple[int, str]:
    target = _expression(node.target, UNARY)
    return ASSIGNMENT, f"{target} {node.operator} {_expression(node.value, ASSIGNMENT)}"


def _increment(node: syntax.Increment) -> tuple[int, str]:
    if node.prefix:
        return UNARY, node.operator + _expression(node.target, UNARY)
    return UNARY, _expression(node.target, POSTFIX) + node.operator


def _cast(node: syntax.Cast) -> tuple[int, str]:
    operand = _expression(node.operand, UNARY)
    if node.type.name not in PRIMITIVES and operand[0] in "+-?":  # `(A) - b` is a difference
        operand = f"({operand})"
    return UNARY, f"({print_type(node.type)}) {operand}"


def _send(node: syntax.Send) -> tuple[int, str]:
    text = f"{_receiver(node.receiver)}.{node.server}({_list(node.arguments)})"
    return UNARY, text + _timings(node)


def _call(node: syntax.Call) -> tuple[int, str]:
    text, timings = f"{node.method}({_list(node.arguments)})", _timings(node)
    return (UNARY if timings else POSTFIX), text + timings


def _timings(node: syntax.Call | syntax.Send) -> str:
    return "".join(
        f" {word}({print_expression(amount)})"
        for word, amount in (("after", node.after), ("deadline", node.deadline))
        if amount is not None
    )


_PRINTERS: dict[type, Callable[[Any], tuple[int, str]]] = {
    syntax.IntLiteral: lambda node: (POSTFIX, integer_text(node.value)),
    syntax.FloatLiteral: lambda node: (POSTFIX, float_text(node.value, node.single)),
    syntax.BoolLiteral: lambda node: (POSTFIX, "true" if node.value else "false"),
    syntax.NullLiteral: lambda _: (POSTFIX, "null"),
    syntax.Name: lambda node: (POSTFIX, node.identifier),
    syntax.OwnVariable: lambda node: (POSTFIX, f"self.{node.identifier}"),
    syntax.Index: _index,
    syntax.Member: lambda node: (POSTFIX, f"{_receiver(node.target)}.{node.name}"),
    syntax.Unary: _unary,
    syntax.Binary: _binary,
    syntax.InstanceOf: _instance_of,
    syntax.Conditional: _conditional,
    syntax.Assignment: _assignment,
    syntax.Increment: _increment,
    syntax.Cast: _cast,
    syntax.Choice: _choice,
    syntax.Call: _call,
    syntax.Send: _send,
}

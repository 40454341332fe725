"""A small Rebeca of its own: what the independent explorer runs, and how it is written as text.

Nothing here comes from the package under test. An expression or statement is a tuple whose first
item says what it is; statements are in blocks with a number each, so that a place in a message
server is a tuple of (block, index) pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

INT, BOOLEAN, BYTE, FLOAT, DOUBLE, TIMER = "int", "boolean", "byte", "float", "double", "Timer"


@dataclass(frozen=True)
class Block:
    """A numbered list of statements."""

    number: int
    statements: tuple[tuple, ...]


@dataclass(frozen=True)
class Server:
    """A message server, or the constructor."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    body: Block
    priority: int | None = None
    global_priority: int | None = None


@dataclass(frozen=True)
class Class:
    """A reactive class; `base` gives it variables and servers, which it may override."""

    name: str
    size: int
    known: tuple[tuple[str, str], ...]
    variables: tuple[tuple[str, str], ...]
    servers: tuple[Server, ...]
    constructor: Server | None
    methods: tuple[tuple[str, str, tuple], ...] = ()
    base: str | None = None
    implements: tuple[str, ...] = ()


@dataclass(frozen=True)
class Instance:
    """A rebec of main."""

    name: str
    kind: str
    known: tuple[str, ...]
    arguments: tuple[int, ...]
    priority: int | None = None


@dataclass(frozen=True)
class Model:
    """Classes, interfaces (name to names of servers) and rebecs."""

    classes: tuple[Class, ...]
    instances: tuple[Instance, ...]
    core: bool
    interfaces: tuple[tuple[str, tuple[str, ...]], ...] = ()
    by_name: dict[str, Class] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        self.by_name.update({each.name: each for each in self.classes})

    def line_of(self, name: str) -> list[Class]:
        """Give a class and its bases, the class first."""
        found = []
        each: str | None = name
        while each is not None:
            found.append(self.by_name[each])
            each = found[-1].base
        return found

    def is_a(self, kind: str, wanted: str) -> bool:
        """Whether a class is the wanted one, extends or implements it."""
        line = self.line_of(kind)
        return any(each.name == wanted or wanted in each.implements for each in line)

    def server(self, kind: str, name: str) -> Server | None:
        """Find a message server where it was last overridden."""
        for each in self.line_of(kind):
            for server in each.servers:
                if server.name == name:
                    return server
        return None

    def variables(self, kind: str) -> list[tuple[str, str]]:
        """Give all state variables, those of the bases first."""
        return [pair for each in reversed(self.line_of(kind)) for pair in each.variables]

    def known(self, kind: str) -> list[tuple[str, str]]:
        """Give all known rebecs, those of the bases first."""
        return [pair for each in reversed(self.line_of(kind)) for pair in each.known]


# --- text ---------------------------------------------------------------------------------------


def text_of(model: Model) -> str:
    """Write a model as Rebeca."""
    parts = [_class(model, each) for each in model.classes]
    for name, servers in model.interfaces:
        heads = " ".join(f"msgsrv {each}(int x);" for each in servers)
        parts.insert(len(parts) // 2, f"interface {name} {{ {heads} }}")
    lines = ["main {"]
    for each in model.instances:
        priority = "" if each.priority is None else f"@priority({each.priority}) "
        known = ", ".join(each.known)
        arguments = ", ".join(map(str, each.arguments))
        lines.append(f"  {priority}{each.kind} {each.name}({known}):({arguments});")
    return "\n".join([*parts, *lines, "}", ""])


def _class(model: Model, kind: Class) -> str:
    base = f" extends {kind.base}" if kind.base else ""
    faces = f" implements {', '.join(kind.implements)}" if kind.implements else ""
    lines = [f"reactiveclass {kind.name}{base}{faces} ({kind.size}) {{"]
    if kind.known:
        lines.append("  knownrebecs { " + " ".join(f"{t} {n};" for n, t in kind.known) + " }")
    if kind.variables:
        lines.append("  statevars { " + " ".join(f"{t} {n};" for n, t in kind.variables) + " }")
    if kind.constructor is not None:
        lines.append(f"  {kind.name}" + _rest_of_server(kind.constructor))
    for name, parameter, value in kind.methods:
        lines.append(f"  int {name}(int {parameter}) {{ return {expression(value)}; }}")
    for each in kind.servers:
        mark = "" if each.priority is None else f"@priority({each.priority}) "
        if each.global_priority is not None:
            mark = f"@globalPriority({each.global_priority}) "
        lines.append(f"  {mark}msgsrv {each.name}" + _rest_of_server(each))
    return "\n".join([*lines, "}"])


def _rest_of_server(server: Server) -> str:
    parameters = ", ".join(f"{kind} {name}" for name, kind in server.parameters)
    return f"({parameters}) {{ {block(server.body)} }}"


def block(statements: Block) -> str:
    """Write the statements of a block."""
    return " ".join(statement(each) for each in statements.statements)


def statement(node: tuple) -> str:
    """Write a statement."""
    match node:
        case ("set", target, _, value):
            place = target if isinstance(target, str) else expression(target)
            return f"{place} = {expression(value)};"
        case ("local", name, kind, value):
            return f"{kind} {name} = {expression(value)};"
        case ("choose", name, alternatives):
            return f"{name} = ?({', '.join(map(str, alternatives))});"
        case ("send", receiver, cast, server, arguments, after, deadline):
            target = f"(({cast}) {receiver})" if cast else receiver
            sent = f"{server}({', '.join(expression(each) for each in arguments)})"
            text = sent if receiver == "" else f"{target}.{sent}"
            text += "" if after is None else f" after({expression(after)})"
            text += "" if deadline is None else f" deadline({deadline})"
            return text + ";"
        case ("if", condition, then, otherwise):
            return f"if ({expression(condition)}) {{ {block(then)} }} else {{ {block(otherwise)} }}"
        case ("while", condition, body):
            return f"while ({expression(condition)}) {{ {block(body)} }}"
        case ("switch", subject, labels, body, starts):
            lines = []
            for place, each in enumerate(body.statements):
                for label, start in zip(labels, starts, strict=True):
                    if start == place:
                        lines.append("default:" if label is None else f"case {label}:")
                lines.append(statement(each))
            return f"switch ({expression(subject)}) {{ {' '.join(lines)} }}"
        case ("break",):
            return "break;"
        case ("delay", duration):
            return f"delay({expression(duration)});"
        case ("assert", condition):
            return f'assertion({expression(condition)}, "no");'
        case ("start" | "stop" as what, name):
            return f"{what}Timer({name});"
    raise AssertionError(node)


def expression(node: tuple) -> str:
    """Write an expression, in brackets where it has parts."""
    match node:
        case ("number", value, kind):
            if kind == BOOLEAN:
                return "true" if value else "false"
            return f"{value}f" if kind == FLOAT else str(value)
        case ("variable", name, _):
            return name
        case ("cell", name, index):
            return f"{name}[{expression(index)}]"
        case ("waited",):
            return "currentMessageWaitingTime"
        case ("timer", name):
            return f"getTimerValue({name})"
        case ("binary", operator, left, right):
            return f"({expression(left)} {operator} {expression(right)})"
        case ("not", operand):
            return f"!({expression(operand)})"
        case ("cast", kind, operand):
            return f"(({kind}) ({expression(operand)}))"
        case ("call", name, argument):
            return f"{name}({expression(argument)})"
        case ("is", name, kind):
            return f"({name} instanceof {kind})"
        case ("same", left, right):
            return f"({left} == {right})"
        case ("power", base, exponent):
            return f"pow({expression(base)}, {expression(exponent)})"
    raise AssertionError(node)

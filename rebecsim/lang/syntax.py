"""The syntax tree of a Timed Rebeca model: frozen dataclasses, each with the span of its source.

Spans take no part in comparison, so two trees are equal when their models read the same; that is
what the round trip of printer and parser is tested with. The tree says what was written and
nothing more: what a name means and which type an expression has is in `rebecsim.lang.checking`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, dataclass_transform


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of source text. Lines and columns count from 1; the end column is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


NOWHERE = Span("<none>", 0, 0, 0, 0)

DEFAULT_QUEUE_SIZE = 10
"""How many messages the queue of a class has room for that does not say it."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
@dataclass(frozen=True)
class Node:
    """What every part of the tree has: the span it was read from.

    Each kind of node is a frozen dataclass.
    """

    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


# --- types and annotations ---------------------------------------------------------------------


class TypeName(Node):
    """A type as written: `int`, `boolean[10]`, `Customer`; the dimensions are expressions."""

    name: str
    dimensions: tuple[Expression, ...] = ()


class Annotation(Node):
    """`@priority(2)` or `@globalPriority(1)` before a class, message server or instance."""

    name: str
    value: Expression | None = None


# --- expressions -------------------------------------------------------------------------------


class IntLiteral(Node):
    """A whole number."""

    value: int


class FloatLiteral(Node):
    """A number with a point, an exponent or a suffix; with the suffix `f` it is a float."""

    value: float
    single: bool = False


class BoolLiteral(Node):
    """`true` or `false`."""

    value: bool


class NullLiteral(Node):
    """`null`: the reference that refers to no rebec."""


class Name(Node):
    """A variable, known rebec, env constant, or `self`, `sender`, `now`, `currentMessage...`."""

    identifier: str


class OwnVariable(Name):
    """`self.x`: the state variable or known rebec `x`, whatever else has that name there."""


class Index(Node):
    """`array[index]`; arrays of arrays nest."""

    array: Expression
    index: Expression


class Member(Node):
    """`rebec.variable`: allowed in properties only."""

    target: Expression
    name: str


UnaryOperator = Literal["-", "+", "!", "~"]
BinaryOperator = Literal[
    "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "&&", "||", "==", "!=", "<", "<=", ">", ">="
]
AssignmentOperator = Literal["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="]


class Unary(Node):
    """`-x`, `+x`, `!x`, `~x`."""

    operator: UnaryOperator
    operand: Expression


class Binary(Node):
    """`left operator right`."""

    operator: BinaryOperator
    left: Expression
    right: Expression


class InstanceOf(Node):
    """`rebec instanceof Class`: whether a rebec is of a class or implements an interface."""

    operand: Expression
    type: TypeName


class Conditional(Node):
    """`condition ? then : otherwise`."""

    condition: Expression
    then: Expression
    otherwise: Expression


class Assignment(Node):
    """`target = value` and the compound forms; an expression with the assigned value."""

    target: Expression
    operator: AssignmentOperator
    value: Expression


class Increment(Node):
    """`++x`, `x++`, `--x`, `x--`."""

    target: Expression
    operator: Literal["++", "--"]
    prefix: bool


class Cast(Node):
    """`(type) operand`: between numbers, or of a rebec reference to a class."""

    type: TypeName
    operand: Expression


class Choice(Node):
    """`?(a, b, c)`: a choice between constants; `?(0.25: a, 0.75: b)` has a weight for each."""

    alternatives: tuple[Expression, ...]
    weights: tuple[Expression, ...] = ()


class Call(Node):
    """`name(arguments) after(a) deadline(d)`: a method of the same rebec, or a message to itself.

    The text does not say which; `rebecsim.lang.checking.checker` does.
    """

    method: str
    arguments: tuple[Expression, ...]
    after: Expression | None = None
    deadline: Expression | None = None


class Send(Node):
    """`receiver.server(arguments) after(a) deadline(d)`: an asynchronous message."""

    receiver: Expression
    server: str
    arguments: tuple[Expression, ...]
    after: Expression | None = None
    deadline: Expression | None = None


Expression = (
    IntLiteral
    | FloatLiteral
    | BoolLiteral
    | NullLiteral
    | Name
    | OwnVariable
    | Index
    | Member
    | Unary
    | Binary
    | InstanceOf
    | Conditional
    | Assignment
    | Increment
    | Cast
    | Choice
    | Call
    | Send
)


class ArrayInitializer(Node):
    """`{4, 3, 1}`: the initial values of all elements of an array; they nest for its dimensions."""

    values: tuple[Initial, ...]


Initial = Expression | ArrayInitializer
"""What a declaration may give to a variable."""


# --- statements --------------------------------------------------------------------------------


class Block(Node):
    """`{ ... }`: statements with a scope of their own."""

    statements: tuple[Statement, ...]


class LocalDeclaration(Node):
    """`int a = 1, b;`: one type, one or more names each with an initial value or None.

    A variable without an initial value starts at 0, false or null.
    """

    type: TypeName
    variables: tuple[tuple[str, Initial | None], ...]


class ExpressionStatement(Node):
    """An assignment, increment, method call or send that stands for itself."""

    expression: Expression


class EmptyStatement(Node):
    """A semicolon alone."""


class If(Node):
    """`if (condition) then else otherwise`."""

    condition: Expression
    then: Statement
    otherwise: Statement | None = None


class While(Node):
    """`while (condition) body`."""

    condition: Expression
    body: Statement


class For(Node):
    """`for (init; condition; update) body`; init is a declaration or expressions, all optional."""

    init: LocalDeclaration | tuple[Expression, ...]
    condition: Expression | None
    update: tuple[Expression, ...]
    body: Statement


class Case(Node):
    """`case value: statements`; value None is `default`."""

    value: Expression | None
    statements: tuple[Statement, ...]


class Switch(Node):
    """Cases fall through to the next one until a `break`."""

    subject: Expression
    cases: tuple[Case, ...]


class PAlt(Switch):
    """`pAlt { prob(p): { ... } ... }`: a switch over a weighted choice between its cases.

    Build it with `p_alt`.
    """


def p_alt(groups: tuple[tuple[Expression, Block], ...], span: Span) -> PAlt:
    """A `pAlt` of weights, each with its statements; as in Rebeca's compiler, `break` leaves it."""
    numbers = [IntLiteral(number, span=block.span) for number, (_, block) in enumerate(groups)]
    choice = Choice(tuple(numbers), tuple(weight for weight, _ in groups), span=span)
    cases = (
        Case(number, (block, Break(span=block.span)), span=block.span)
        for number, (_, block) in zip(numbers, groups, strict=True)
    )
    return PAlt(choice, tuple(cases), span=span)


class Break(Node):
    """`break;`: leaves the loop or switch around it."""


class Continue(Node):
    """`continue;`: begins the next iteration of the loop."""


class Return(Node):
    """`return value;`: ends a method."""

    value: Expression | None = None


class Delay(Node):
    """`delay(duration)`: the rebec computes for that many time units."""

    duration: Expression


class Assertion(Node):
    """`assertion(condition)` or `assertion(condition, "text")`."""

    condition: Expression
    text: str | None = None


Statement = (
    Block
    | LocalDeclaration
    | ExpressionStatement
    | EmptyStatement
    | If
    | While
    | For
    | Switch
    | Break
    | Continue
    | Return
    | Delay
    | Assertion
)


# --- declarations ------------------------------------------------------------------------------


class Import(Node):
    """`import "lib/server.rebeca";`: everything that another file declares."""

    path: str


class EnvVariable(Node):
    """`env int N = 3;`: a constant of the whole model, or of a class.

    One of the type `distribution` is what a choice draws from.
    """

    type: TypeName
    name: str
    value: Initial


class Field(Node):
    """One known rebec or one state variable, which may have an initial value."""

    type: TypeName
    name: str
    value: Initial | None = None


class Parameter(Node):
    """A parameter of a constructor, message server or method."""

    type: TypeName
    name: str


class Constructor(Node):
    """The constructor of a class."""

    name: str
    parameters: tuple[Parameter, ...]
    body: Block


class MessageServer(Node):
    """A message server; the body is None when it is abstract, or the promise of an interface."""

    name: str
    parameters: tuple[Parameter, ...]
    body: Block | None
    annotations: tuple[Annotation, ...] = ()
    abstract: bool = False


class Method(Node):
    """A synchronous method; the return type None is `void`, the body None is abstract."""

    name: str
    return_type: TypeName | None
    parameters: tuple[Parameter, ...]
    body: Block | None
    abstract: bool = False


class ReactiveClass(Node):
    """`reactiveclass Name extends Base implements Some, Other(queue_size) { ... }`.

    Without a queue size, it is `DEFAULT_QUEUE_SIZE`.
    """

    name: str
    base: str | None
    queue_size: Expression | None
    known_rebecs: tuple[Field, ...]
    state_variables: tuple[Field, ...]
    constructors: tuple[Constructor, ...]
    message_servers: tuple[MessageServer, ...]
    methods: tuple[Method, ...]
    annotations: tuple[Annotation, ...] = ()
    abstract: bool = False
    interfaces: tuple[str, ...] = ()
    constants: tuple[EnvVariable, ...] = ()


class Interface(Node):
    """`interface Name extends Some, Other { msgsrv m(T x); }`: abstract message servers."""

    name: str
    bases: tuple[str, ...]
    message_servers: tuple[MessageServer, ...]


class Instance(Node):
    """One line of main: `Class name(known rebecs):(constructor arguments);`."""

    class_name: str
    name: str
    bindings: tuple[Expression, ...]
    arguments: tuple[Expression, ...]
    annotations: tuple[Annotation, ...] = ()


class Model(Node):
    """A whole `.rebeca` file."""

    env_variables: tuple[EnvVariable, ...]
    classes: tuple[ReactiveClass, ...]
    instances: tuple[Instance, ...]
    interfaces: tuple[Interface, ...] = ()
    imports: tuple[Import, ...] = ()


class Library(Model):
    """A `.rebeca` file without main, which others import."""

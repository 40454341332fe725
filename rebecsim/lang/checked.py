"""Hold what the checker knows of a model: types, and the meaning of each name and expression.

The checker leaves the syntax tree as it is and answers questions about its nodes, in the manner
of a type checker's side tables. Code generators read the tree and ask here."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from rebecsim.arithmetic import Shares, shares_of
from rebecsim.distributions import Distribution
from rebecsim.lang import syntax
from rebecsim.lang.errors import Diagnostic
from rebecsim.lang.traversal import walk


@dataclass(frozen=True, slots=True)
class PrimitiveType:
    """`int` (32 bits), `short` (16), `byte` (8, signed), `boolean`, `float` or `double` (IEEE).

    Also `Timer`, whose values only the operations on timers can read and change.
    """

    name: Literal["int", "short", "byte", "boolean", "float", "double", "Timer"]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class RebecType:
    """A reference to an instance of a reactive class (or of a class that extends it), or null."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class ArrayType:
    """A fixed number of elements; arrays of arrays have an array as element."""

    element: Type
    length: int

    def __str__(self) -> str:
        lengths = f"[{self.length}]"
        element = self.element
        while isinstance(element, ArrayType):
            lengths += f"[{element.length}]"
            element = element.element
        return f"{element}{lengths}"


@dataclass(frozen=True, slots=True)
class VoidType:
    """What a method without a value, or sending a message, gives."""

    def __str__(self) -> str:
        return "void"


@dataclass(frozen=True, slots=True)
class NullType:
    """The type of `null`, which fits every rebec type."""

    def __str__(self) -> str:
        return "null"


Type = PrimitiveType | RebecType | ArrayType | VoidType | NullType

INT = PrimitiveType("int")
SHORT = PrimitiveType("short")
BYTE = PrimitiveType("byte")
BOOLEAN = PrimitiveType("boolean")
FLOAT = PrimitiveType("float")
DOUBLE = PrimitiveType("double")
TIMER = PrimitiveType("Timer")
VOID = VoidType()
NULL = NullType()

PRIMITIVES: dict[str, PrimitiveType] = {
    kind.name: kind for kind in (INT, SHORT, BYTE, BOOLEAN, FLOAT, DOUBLE)
}
REAL = frozenset({FLOAT, DOUBLE})
NUMERIC = frozenset({INT, SHORT, BYTE}) | REAL


def arithmetic_type(left: Type, right: Type) -> PrimitiveType:
    """The type that two numbers are computed and compared in, as in Java and C++."""
    kinds = {left, right}
    return DOUBLE if DOUBLE in kinds else FLOAT if FLOAT in kinds else INT


ANY_REBEC = RebecType("ReactiveClass")
"""What `sender` is: a rebec of a class that only a cast can tell; no class has this name."""


Dialect = Literal["timed", "core"]
SymbolKind = Literal["env", "state", "known", "local", "parameter", "builtin", "definition"]
Value = int | float | bool | None  # None is `null`
Elements = tuple["Value | Elements", ...]
"""The values of an array of constants; arrays of arrays nest."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """What a `syntax.Name` refers to.

    `builtin` is one of self, sender, now, currentMessageArrival, currentMessageDeadline and
    currentMessageWaitingTime. `value` is that of an env constant or the initial one of a state
    variable, `elements` the same for an array. `definition` is a name that a property file defines;
    there `known` is a rebec of main.
    """

    kind: SymbolKind
    name: str
    type: Type
    value: Value = None
    elements: Elements = ()


@dataclass(frozen=True, slots=True)
class CheckedServer:
    """A message server that instances of a class really have (own, inherited or overriding)."""

    name: str
    number: int
    """Position among the class's servers, base class first: the tie-break of a sorted bag."""
    priority: int | None
    global_priority: int | None
    parameters: tuple[Symbol, ...]
    tree: syntax.MessageServer
    owner: str
    """The class whose text holds the body."""


@dataclass(frozen=True, slots=True)
class CheckedClass:
    """A reactive class with everything it inherits laid flat, base class first."""

    name: str
    base: str | None
    abstract: bool
    queue_size: int
    known_rebecs: tuple[Symbol, ...]
    state_variables: tuple[Symbol, ...]
    servers: tuple[CheckedServer, ...]
    methods: dict[str, syntax.Method]
    constructors: tuple[syntax.Constructor, ...]
    """The class's own constructors, with different numbers or types of parameters."""
    tree: syntax.ReactiveClass
    ancestors: tuple[str, ...]
    """Base class, its base class, and so on."""
    interfaces: tuple[str, ...] = ()
    """The interfaces that it implements, and those that they and its base classes have."""
    constants: dict[str, Value] = field(default_factory=dict)
    """Numbers and booleans that message servers and methods read, and that have no other place."""
    initial: CheckedServer | None = field(init=False, repr=False, compare=False)
    """The message server whose message every rebec of the class has at the start, if any."""

    def __post_init__(self) -> None:
        found = next((server for server in self.servers if server.name == "initial"), None)
        object.__setattr__(self, "initial", found)

    def is_a(self, name: str) -> bool:
        """Whether the class is another, extends it or implements it."""
        return name == self.name or name in self.ancestors or name in self.interfaces


@dataclass(frozen=True, slots=True)
class CheckedInterface:
    """What an interface promises, with everything of the interfaces that it extends."""

    name: str
    ancestors: tuple[str, ...]
    """The interfaces that it extends, and those that they extend."""
    servers: tuple[CheckedServer, ...]
    tree: syntax.Interface


@dataclass(frozen=True, slots=True)
class CheckedInstance:
    """One rebec of main."""

    name: str
    class_name: str
    bindings: tuple[str, ...]
    """Names of the instances bound to the class's known rebecs, in their order."""
    arguments: tuple[Value | str, ...]
    """Arguments of the constructor or of `initial` as values; a rebec is given by its name."""
    constructor: syntax.Constructor | None
    """The constructor that is called, after overload resolution; None: there is none."""
    parameters: tuple[syntax.Parameter, ...]
    """What the arguments are for."""
    priority: int | None
    tree: syntax.Instance


BY_NODE = (
    *("types", "symbols", "constants", "choice_sites", "declared_types"),
    *("super_constructors", "distributions", "choice_streams"),
)
"""What a checked model says of nodes of its tree, which it finds by their identity."""


@dataclass(frozen=True)
class CheckedModel:
    """A model that has passed the checker. Build it with `rebecsim.lang.check_model`."""

    tree: syntax.Model
    dialect: Dialect
    env: dict[str, Symbol]
    classes: dict[str, CheckedClass]
    interfaces: dict[str, CheckedInterface]
    instances: tuple[CheckedInstance, ...]
    uses_global_priority: bool
    types: dict[int, Type] = field(default_factory=dict, repr=False)
    symbols: dict[int, Symbol] = field(default_factory=dict, repr=False)
    constants: dict[int, Value] = field(default_factory=dict, repr=False)
    choice_sites: dict[int, int] = field(default_factory=dict, repr=False)
    declared_types: dict[int, Type] = field(default_factory=dict, repr=False)
    super_constructors: dict[int, syntax.Constructor | None] = field(
        default_factory=dict, repr=False
    )
    distributions: dict[int, Distribution] = field(default_factory=dict, repr=False)
    open_ends: frozenset[int] = field(default=frozenset(), repr=False)
    functions: frozenset[int] = field(default=frozenset(), repr=False)
    choice_streams: dict[int, int] = field(default_factory=dict, repr=False)
    whole_numbers: bool = False
    """Whole numbers are Python's: one that leaves 32 bits is an error, and does not wrap."""
    lacks: str = ""
    """Why the tree has no constructors, though the model has; empty if it has all."""
    warnings: tuple[Diagnostic, ...] = ()
    """What hardly means what the author wants, in the order of the text."""

    def type_of(self, node: syntax.Expression) -> Type:
        """The type of an expression of the tree."""
        return self.types[id(node)]

    def symbol_of(self, node: syntax.Name) -> Symbol:
        """What a name refers to."""
        return self.symbols[id(node)]

    def constant_of(self, node: syntax.Expression) -> Value:
        """The value of a constant expression (array length, choice alternative, priority).

        Raises KeyError for an expression that is not constant.
        """
        return self.constants[id(node)]

    def is_constant(self, node: syntax.Expression) -> bool:
        """Whether the checker has folded the expression to a value (literals, env, arithmetic)."""
        return id(node) in self.constants

    def choice_site(self, node: syntax.Choice) -> int:
        """The number of a `?(...)` in the message servers of its class, from 1, in reading order.

        A class goes on counting where its base class stopped, so that the sites of one rebec have
        different numbers. Each site draws from a random stream of its own, so that two models
        which differ only in a policy see the same workload.
        """
        return self.choice_sites[id(node)]

    def line_of(self, node: syntax.Node) -> int | str:
        """The line that a node stands in; in a file that the model imports, also which one."""
        own, place = self.tree.span.file, node.span
        is_own = own in (place.file, syntax.NOWHERE.file)
        return place.line if is_own else f"{place.line} of {place.file}"

    def shares_of(self, node: syntax.Choice) -> Shares | None:
        """How likely the alternatives of a choice are; None for a choice without weights."""
        return shares_of(tuple(map(self._number, node.weights))) if node.weights else None

    def distribution_of(self, node: syntax.Choice) -> Distribution | None:
        """What a choice `?(exponential(3))` draws from; None for one between alternatives."""
        return self.distributions.get(id(node))

    @property
    def drawn(self) -> tuple[Distribution, ...]:
        """The distributions that its rebecs draw from, those of unused classes left out."""
        if not self.distributions:
            return ()
        owners = [self.classes[each.class_name] for each in self.instances]
        bodies = {
            id(each): each
            for owner in owners
            for each in (*(server.tree for server in owner.servers), *owner.methods.values())
        }
        nodes = (node for each in bodies.values() for node in walk(each))
        found = (self.distributions.get(id(node)) for node in nodes)
        return tuple(dict.fromkeys(each for each in found if each is not None))

    def _number(self, node: syntax.Expression) -> float:
        value = self.constants[id(node)]
        assert isinstance(value, int | float)
        return value

    def choice_stream(self, node: syntax.Choice) -> int:
        """The number of the random stream that a choice draws from, that of its site.

        In Python it is the `site` that was given, so that several choices may share one.
        """
        return self.choice_streams.get(id(node), self.choice_sites[id(node)])

    def is_function(self, node: syntax.Call) -> bool:
        """Whether a call is one of the language: `pow`, `sqrt`, or an operation on a timer."""
        return id(node) in self.functions

    def declared_type(self, node: syntax.TypeName) -> Type:
        """The type that a declaration or cast names, with the lengths of arrays."""
        return self.declared_types[id(node)]

    def constructor_number(self, constructor: syntax.Constructor) -> int:
        """The position of a constructor among those of its class, from 0."""
        return next(
            number
            for checked in self.classes.values()
            for number, each in enumerate(checked.constructors)
            if each is constructor
        )

    def server_of(self, node: syntax.Send) -> CheckedServer:
        """The message server that a message is for, as the type of its receiver has it."""
        receiver = self.type_of(node.receiver)
        assert isinstance(receiver, RebecType)
        found = find_server(self.classes, self.interfaces, receiver.name, node.server)
        assert found is not None
        return found

    def has_open_end(self, body: syntax.Block) -> bool:
        """Whether a method can end without giving its value; no caller uses the value then."""
        return id(body) in self.open_ends

    def super_constructor(self, node: syntax.Call) -> syntax.Constructor | None:
        """The constructor of the base class that a `super(...)` calls; None: it has none."""
        return self.super_constructors[id(node)]


def find_server(
    classes: dict[str, CheckedClass],
    interfaces: dict[str, CheckedInterface],
    name: str,
    server: str,
) -> CheckedServer | None:
    """The message server of a class or interface, which an abstract class may have promised."""
    checked = classes.get(name)
    places: list[CheckedClass | CheckedInterface] = []
    if checked is not None:
        places = [checked, *(interfaces[each] for each in checked.interfaces)]
    elif name in interfaces:
        places = [interfaces[name]]
    return next((each for place in places for each in place.servers if each.name == server), None)


_COMMENTS = re.compile(r"(\s|//[^\n]*|/\*.*?\*/)*", re.S)
_MARK = re.compile(r"^[\s/*]*rebeca:[ \t]*core\b[\s.*/]*$", re.M | re.I)


def declared_dialect(text: str) -> Dialect | None:
    """Give the dialect that the comments before the first declaration name, by `// rebeca: core`.

    None if they say nothing: the model is in the dialect that it is read as.
    """
    found = _COMMENTS.match(text)
    return "core" if found is not None and _MARK.search(found.group()) else None


def needs_time(model: CheckedModel) -> bool:
    """Whether anything in a model has a meaning in time only."""
    return any(_is_timed(model, node) for node in walk(model.tree))


def _is_timed(model: CheckedModel, node: syntax.Node) -> bool:
    match node:
        case syntax.Delay():
            return True
        case syntax.Annotation(name=name):
            return name in ("priority", "globalPriority")
        case syntax.Send(after=after, deadline=deadline):
            return after is not None or deadline is not None
        case syntax.Name():
            symbol = model.symbols.get(id(node))
            builtin = symbol is not None and symbol.kind == "builtin"
            return builtin and node.identifier not in ("self", "sender")
        case syntax.TypeName(name=name):
            return name == TIMER.name and model.declared_types.get(id(node)) == TIMER
    return False

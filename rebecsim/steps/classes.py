"""Read a model of Python classes as the checked tree of one in Rebeca.

What a run begins with is what the constructors have left in the rebecs, whatever they did. Where
one of them cannot be translated to Rebeca, the tree has none, and cannot stand for the whole model.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from types import FunctionType
from typing import Any

from rebecsim.actors import Instance, Model, System
from rebecsim.actors.rebec import LOWEST_PRIORITY, Interface, MessageServer, Rebec
from rebecsim.actors.system import RebecNamed
from rebecsim.actors.values import Since
from rebecsim.actors.violations import Violation
from rebecsim.distributions import Distribution
from rebecsim.errors import UserError
from rebecsim.lang import CheckedModel, RebecaError, check_model, syntax, walk
from rebecsim.lang.checked import BOOLEAN, BYTE, INT, REAL, SHORT, TIMER, ArrayType, RebecType, Type
from rebecsim.lang.syntax import NOWHERE
from rebecsim.steps.annotations import (
    is_interface,
    refused,
    signature_of,
    type_of_known,
    type_of_state,
)
from rebecsim.steps.loops import LoopReader
from rebecsim.steps.pieces import ClassFacts, Program, constant, initial_of, type_name
from rebecsim.steps.reached import names_in
from rebecsim.steps.source import ClassSource, NotUnderstoodError, class_source
from rebecsim.steps.unrolled import is_text, unrolled

_MOST_PASSES = 30
_CONSTANTS = (bool, int, float, tuple, Distribution)
_CONSTRUCTOR = re.compile(r"__init__|_construct_\d+")
_BITS: dict[Type, int] = {INT: 31, SHORT: 15, BYTE: 7}


def understood(model: Model) -> tuple[CheckedModel | None, str]:
    """Read what the message servers of a model do; or None, and why that is not understood."""
    try:
        return steps_of(model), ""
    except NotUnderstoodError as error:
        return None, str(error)


def steps_of(model: Model) -> CheckedModel:
    """Read what the message servers of a model in Python do.

    Raises NotUnderstoodError, with file, line and reason, for what cannot be translated to Rebeca.
    """
    try:
        system = model.start()
    except (Violation, UserError) as error:
        first = model.instances[0].reactive_class
        raise refused(first, f"a constructor fails: {error}") from error
    program = Program()
    _declare(program, model)
    _note_start(program, system)
    try:
        return _read(program, model, constructs=True)
    except NotUnderstoodError as error:
        return replace(_read(program, model, constructs=False), lacks=str(error))


def _read(program: Program, model: Model, *, constructs: bool) -> CheckedModel:
    """Read the bodies until their types and signs are known, those of constructors if wanted."""
    for _ in range(_MOST_PASSES):
        program.changed = False
        program.sites.clear()
        tree = _Writer(program, model, constructs).model()
        if not program.changed:
            return _checked(program, model, tree)
    raise refused(model.instances[0].reactive_class, "the types of its locals are not found")


def _declare(program: Program, model: Model) -> None:
    """Find the classes of a model, their variables and the parameters of what they do."""
    lineage: dict[type, None] = {}
    for instance in model.instances:
        for each in reversed(instance.reactive_class.__mro__):
            if each not in (Rebec, Interface, object):
                lineage[each] = None
    for each in lineage:
        if not issubclass(each, Rebec) and not is_interface(each):
            raise refused(each, "is neither a Rebec nor an Interface")
        if each.__name__ in program.names.values():
            raise refused(each, "two classes have the same name")
        program.names[each] = each.__name__
    for each in lineage:
        if issubclass(each, Rebec):
            program.classes[each] = _facts(program, model, each)
        else:
            functions = [declared[1] for _, declared in _declared_servers(each)]
            source = class_source(each, functions)
            for function in functions:
                tree = source.function(function, function.__name__)
                signature = signature_of(program, source, tree, function)
                program.signatures[function] = signature
    for facts in program.classes.values():
        for function, name in _own_functions(facts.owner):
            tree = facts.source.function(function, name)
            try:
                signature = signature_of(program, facts.source, tree, function)
            except NotUnderstoodError:
                if name in facts.servers:
                    raise
                continue  # a method that nothing of the model may call
            program.signatures[function] = signature


def _constructor(owner: type[Rebec], name: str) -> FunctionType | None:
    """Give the constructor of a class that is called by this name."""
    found = getattr(owner, name)
    return None if found is Rebec.__init__ else found


def _declared_servers(owner: type) -> list[tuple[str, tuple[str, FunctionType, int, int]]]:
    return [
        (name, member.__message_server__)
        for name, member in vars(owner).items()
        if hasattr(member, "__message_server__")
    ]


def _own_functions(owner: type[Rebec]) -> list[tuple[FunctionType, str]]:
    """Give the message servers and methods that stand in the text of a class."""
    servers = [(declared[1], name) for name, declared in _declared_servers(owner)]
    methods = [
        (member, name)
        for name, member in vars(owner).items()
        if isinstance(member, FunctionType)
        and not hasattr(member, "__message_server__")
        and not hasattr(member, "__wrapped__")
        and not name.startswith("__")
        and not _CONSTRUCTOR.fullmatch(name)
    ]
    return [*servers, *methods]


def _own_constructors(owner: type[Rebec]) -> list[tuple[str, FunctionType]]:
    return [
        (name, member)
        for name, member in vars(owner).items()
        if isinstance(member, FunctionType) and _CONSTRUCTOR.fullmatch(name)
    ]


def _given_anew(owner: type[Rebec]) -> set[str]:
    """Name the constants that stand in the text of a class."""
    return {name for name, value in vars(owner).items() if isinstance(value, _CONSTANTS)}


def _read_anew(
    program: Program, owner: type[Rebec]
) -> Iterator[tuple[ClassSource, FunctionType, str]]:
    """Give what a class inherits and what reads a constant of it that it gives another value.

    Of each function the text of the class that it stands in, itself, and its name.
    """
    anew = _given_anew(owner)
    seen = {name for _, name in _own_functions(owner)}
    for each in owner.__mro__[1:]:
        if anew and issubclass(each, Rebec) and each is not Rebec:
            source = program.classes[each].source
            for function, name in _own_functions(each):
                if name not in seen and anew & names_in(source.function(function, name)):
                    yield source, function, name
                seen.add(name)


def _facts(program: Program, model: Model, owner: type[Rebec]) -> ClassFacts:
    bases = [each for each in owner.__bases__ if issubclass(each, Rebec)]
    if len(bases) != 1:
        raise refused(owner, "extends several classes of rebecs")
    base = program.classes.get(bases[0])
    own = _own_functions(owner)
    members = [*(function for function, _ in own)]
    around = members[0] if members else None
    source = class_source(owner, members)
    state = {} if base is None else dict(base.state)
    known = {} if base is None else dict(base.known)
    methods = {} if base is None else dict(base.methods)
    methods |= {name: function for function, name in own if name not in owner.__servers__}
    for declared in owner.__state_variables__[len(state) :]:
        kind = type_of_state(program, source, declared, around)
        state[declared.name] = (declared.rebeca_name, kind)
    for place, one in enumerate(owner.__known_rebecs__):
        if one.name not in known:
            bound = {
                model.instances[model.positions[instance.knows[place]]].reactive_class
                for instance in model.instances
                if issubclass(instance.reactive_class, owner)
            }
            known[one.name] = type_of_known(program, source, one, bound, around)
    return ClassFacts(owner, source, owner.__name__, state, known, owner.__servers__, methods)


def _note_start(program: Program, system: System) -> None:
    """Note what the constructors have left: signs, and values that do not fit their variables."""
    for rebec in system.rebecs:
        facts = program.classes[type(rebec)]
        for name, (_, kind) in facts.state.items():
            value = getattr(rebec, name)
            if not _fits(program, value, kind):
                raise facts.source.refused(
                    facts.source.tree, f"`{name}` starts as {value!r}, not of type {kind}"
                )
            if _is_signed(value):
                program.signed.add(("state", name))
        for message in rebec._bag:
            name = message.server.handler.__name__
            signature = program.signatures[message.server.handler]  # type: ignore[index]
            if len(signature.names) != len(message.arguments):
                raise facts.source.refused(
                    facts.source.tree, f"`{name}` starts with other arguments"
                )
            for parameter, kind, value in zip(
                signature.names, signature.types, message.arguments, strict=True
            ):
                if not _fits(program, value, kind):
                    raise facts.source.refused(
                        facts.source.tree, f"`{name}` starts with {value!r}, not of type {kind}"
                    )
                if _is_signed(value):
                    program.signed.add(("parameter", name, parameter))


def _fits(program: Program, value: Any, kind: Type) -> bool:
    if isinstance(kind, ArrayType):
        return (
            type(value) is list
            and len(value) == kind.length
            and all(_fits(program, each, kind.element) for each in value)
        )
    if isinstance(kind, RebecType):
        owners = [each for each, name in program.names.items() if name == kind.name]
        return value is None or isinstance(value, tuple(owners))
    if kind == BOOLEAN:
        return type(value) is bool
    if kind == TIMER:
        return value == -1 or isinstance(value, Since)
    if kind in REAL:
        return type(value) is float
    bits = _BITS[kind]
    return type(value) is int and -(2**bits) <= value < 2**bits


def _is_signed(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_is_signed, value))
    return type(value) is int and value < 0


class _Writer:
    """Writes the tree of a model, in one pass over the text of its classes."""

    def __init__(self, program: Program, model: Model, constructs: bool) -> None:
        self.program = program
        self.model_ = model
        self.constructs = constructs

    def model(self) -> syntax.Model:
        """Write the model."""
        classes = [self._class(each) for each in self.program.classes.values()]
        interfaces = [self._interface(each) for each in self.program.names if is_interface(each)]
        instances = [
            syntax.Instance(
                instance.reactive_class.__name__,
                instance.name,
                tuple(syntax.Name(each) for each in instance.knows),
                self._arguments(instance),
                self._annotations(instance.priority),
            )
            for instance in self.model_.instances
        ]
        env = tuple(self.program.env.values())
        return syntax.Model(env, tuple(classes), tuple(instances), tuple(interfaces))

    def _arguments(self, instance: Instance) -> tuple[syntax.Expression, ...]:
        """Give the arguments of a constructor, where it is read, or of `initial`."""
        owner = instance.reactive_class
        given = tuple(instance.arguments)
        if "initial" not in owner.__servers__:
            if not self.constructs:
                return ()
            function = _constructor(owner, instance.constructor)
            given += () if function is None else (function.__defaults__ or ())
            taken = 0 if function is None else function.__code__.co_argcount - 1
            given = given[:taken] if len(given) <= taken else given
        return tuple(self._argument(each, owner) for each in given)

    def _argument(self, value: Any, owner: type[Rebec]) -> syntax.Expression:
        if isinstance(value, RebecNamed):
            return syntax.Name(value.name)
        found = constant(value, NOWHERE)
        if found is None:
            raise refused(owner, f"the argument {value!r} cannot be translated to Rebeca")
        return found.tree

    @staticmethod
    def _annotations(
        priority: int, global_priority: int = LOWEST_PRIORITY
    ) -> tuple[syntax.Annotation, ...]:
        given = {"priority": priority, "globalPriority": global_priority}
        return tuple(
            syntax.Annotation(name, syntax.IntLiteral(value))
            for name, value in given.items()
            if value != LOWEST_PRIORITY
        )

    def _interface(self, owner: type) -> syntax.Interface:
        bases = tuple(each.__name__ for each in owner.__bases__ if each is not Interface)
        servers = []
        for _, (name, function, *priorities) in _declared_servers(owner):
            signature = self.program.signatures[function]
            parameters = tuple(
                syntax.Parameter(type_name(kind, NOWHERE), each)
                for each, kind in zip(signature.names, signature.types, strict=True)
            )
            servers.append(
                syntax.MessageServer(name, parameters, None, self._annotations(*priorities))
            )
        return syntax.Interface(owner.__name__, bases, tuple(servers))

    def _class(self, facts: ClassFacts) -> syntax.ReactiveClass:
        owner, source = facts.owner, facts.source
        span = source.span(source.tree)
        base = next((each for each in owner.__bases__ if each in self.program.classes), None)
        inherited = None if base is None else self.program.classes[base]
        servers, methods = [], []
        own = [(source, *each) for each in _own_functions(owner)]
        for where, function, name in (*own, *_read_anew(self.program, owner)):
            here = replace(facts, source=where)
            if name in facts.servers:
                servers.append(self._server(here, facts.servers[name], function))
            elif name in self.program.called:
                methods.append(self._method(here, function, name))
        interfaces = tuple(each.__name__ for each in owner.__bases__ if is_interface(each))
        return syntax.ReactiveClass(
            facts.name,
            None if inherited is None else inherited.name,
            syntax.IntLiteral(owner.__queue_size__),
            tuple(
                syntax.Field(type_name(kind, span), name, span=span)
                for name, kind in facts.known.items()
                if inherited is None or name not in inherited.known
            ),
            tuple(
                syntax.Field(type_name(kind, span), shown, self._initial(facts, name), span=span)
                for name, (shown, kind) in facts.state.items()
                if inherited is None or name not in inherited.state
            ),
            self._constructors(facts) if self.constructs else (),
            tuple(servers),
            tuple(methods),
            abstract=not any(each.reactive_class is owner for each in self.model_.instances),
            interfaces=interfaces,
            span=span,
        )

    def _constructors(self, facts: ClassFacts) -> tuple[syntax.Constructor, ...]:
        """Write the constructors of a class; those that it inherits only call the inherited one.

        Raises NotUnderstoodError where one that the base class inherits itself reads a constant
        that has another value here.
        """
        anew = _given_anew(facts.owner)
        for each in (each for each in facts.owner.__mro__ if each in self.program.classes):
            source, found = self.program.classes[each].source, []
            for name, function in _own_constructors(each):
                tree = source.function(function, name)
                reads = bool(anew & names_in(tree))
                if reads and each is not facts.owner and "super" in names_in(tree):
                    raise source.refused(tree, f"`{facts.name}` gives its constants other values")
                signature = signature_of(self.program, source, tree, function)
                self.program.signatures[function] = signature
                reader = self._reader(replace(facts, source=source), function, name)
                body, span = reader.body(), reader.span(tree)
                if each is not facts.owner and not reads:
                    given = tuple(syntax.Name(one.name, span=span) for one in reader.parameters)
                    call = syntax.Call("super", given, span=span)
                    alone = syntax.ExpressionStatement(call, span=span)
                    body = syntax.Block((alone,), span=span)
                found.append(
                    syntax.Constructor(facts.name, tuple(reader.parameters), body, span=span)
                )
            if found:
                return tuple(found)
        return ()

    @staticmethod
    def _initial(facts: ClassFacts, name: str) -> syntax.Initial | None:
        declared = next(each for each in facts.owner.__state_variables__ if each.name == name)
        if declared.initial is None:
            return None
        return initial_of(declared.initial, facts.source.span(facts.source.tree))

    def _reader(self, facts: ClassFacts, function: FunctionType, name: str) -> LoopReader:
        program = self.program
        if function not in program.trees:
            program.trees[function] = unrolled(facts.source.function(function, name), function)
        tree = program.trees[function]
        return LoopReader(program, facts, function, tree, program.signatures[function])

    def _server(
        self, facts: ClassFacts, server: MessageServer, function: FunctionType
    ) -> syntax.MessageServer:
        reader = self._reader(facts, function, server.name)
        body = None if _is_abstract(reader.tree) else reader.body()
        return syntax.MessageServer(
            server.name,
            tuple(reader.parameters),
            body,
            self._annotations(server.priority, server.global_priority),
            abstract=body is None,
            span=reader.span(reader.tree),
        )

    def _method(self, facts: ClassFacts, function: FunctionType, name: str) -> syntax.Method:
        reader = self._reader(facts, function, name)
        span = reader.span(reader.tree)
        returns = reader.signature_of_this.returns
        body = None if _is_abstract(reader.tree) else reader.body()
        kind = None if returns is None else type_name(returns, span)
        return syntax.Method(
            name, kind, tuple(reader.parameters), body, abstract=body is None, span=span
        )


def _is_abstract(tree: ast.FunctionDef) -> bool:
    match [each for each in tree.body if not is_text(each)]:
        case [
            ast.Raise(ast.Name("NotImplementedError") | ast.Call(ast.Name("NotImplementedError")))
        ]:
            return True
    return False


def _checked(program: Program, model: Model, tree: syntax.Model) -> CheckedModel:
    """Check a tree as one of Rebeca, and that the checker takes it for what Python does."""
    try:
        checked = check_model(tree, "core" if model.core else "timed", from_python=True)
    except RebecaError as error:
        first = error.diagnostics[0]
        place = first.span
        raise NotUnderstoodError(place.file, place.line, first.message) from error
    for instance in model.instances:
        _compare(instance.reactive_class, checked)
    streams = {id(node): site for node, site in program.sites}
    choices = [each for each in walk(checked.tree) if isinstance(each, syntax.Choice)]
    if any(id(each) not in streams for each in choices):
        raise refused(model.instances[0].reactive_class, "its choices are not told apart")
    return replace(checked, choice_streams=streams, whole_numbers=True)


def _compare(owner: type[Rebec], checked: CheckedModel) -> None:
    """Raise NotUnderstoodError if the checker numbers something in another way."""
    found = checked.classes[owner.__name__]
    servers = {each.name: each.number for each in owner.__servers__.values()}
    variables = [each.rebeca_name for each in owner.__state_variables__]
    known = [each.name for each in owner.__known_rebecs__]
    if (
        {each.name: each.number for each in found.servers} != servers
        or [each.name for each in found.state_variables] != variables
        or [each.name for each in found.known_rebecs] != known
        or found.queue_size != owner.__queue_size__
    ):
        raise refused(owner, "its members are in another order in Rebeca")

"""Generate a Python module of Rebec classes from a checked model, and load models from files.

A model in Python is executed: see `rebecsim.trust` for one that another file names.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.abc import ExecutionLoader
from pathlib import Path, PurePath

from rebecsim.actors import Model
from rebecsim.actors.watchdog import SOURCE
from rebecsim.errors import UserError
from rebecsim.generate.code import (
    HELPERS,
    LocalNames,
    ModelNames,
    constructor_name,
    shown_name,
    words_in,
)
from rebecsim.generate.expressions import ExpressionWriter
from rebecsim.generate.statements import BodyWriter
from rebecsim.lang import Dialect, check_file, syntax
from rebecsim.lang.checked import (
    FLOAT,
    ArrayType,
    CheckedClass,
    CheckedInstance,
    CheckedInterface,
    CheckedModel,
    CheckedServer,
    Elements,
    PrimitiveType,
    RebecType,
    Symbol,
    Type,
    Value,
)
from rebecsim.lang.errors import read_source
from rebecsim.lang.traversal import assigned_names
from rebecsim.trust import is_program

_PYTHON_TYPES = {
    "int": "int",
    "short": "int",
    "byte": "int",
    "boolean": "bool",
    "float": "float",
    "double": "float",
    "Timer": "Since | int",
}


def python_source(model: CheckedModel, file: str = "") -> str:
    """Write a checked model as Python; `file` is the name of its source, for the comments.

    The text is made of the checked tree alone: names are identifiers of the grammar, numbers and
    texts are Python literals. Nothing of the model's text reaches the module unchecked.
    """
    source = shown_name(file)
    body = "\n".join(_ModuleWriter(model, source).lines())
    names = "".join(f"    {name},\n" for name in sorted(words_in(body) & HELPERS))
    return f"{_HEAD.format(source=source or 'A model', names=names)}{body}\n"


_HEAD = '''\
"""{source} as Python: written by rebecsim, not by hand.

Calling a message server sends a message; everything else happens at once. The comments name the
lines of the Rebeca text.
"""

from __future__ import annotations

from rebecsim.actors import (
{names})
'''


def build_model(model: CheckedModel, file: str = "") -> Model:
    """Make a model that can be run, by way of the module `python_source` writes.

    Only code generated from the checked tree is executed.
    """
    source = python_source(model, file)
    namespace: dict[str, object] = {"__name__": "rebecsim_generated", SOURCE: source}
    code = compile(source, f"<python of {PurePath(file).name}>", "exec")
    exec(code, namespace)  # noqa: S102 - written from the checked tree just above
    built = namespace["model"]
    assert isinstance(built, Model)
    return built


def _model_name(source: str) -> str:
    return re.sub(r"\W", "_", PurePath(source).stem) or "model"


@dataclass(frozen=True)
class _Function:
    """A message server, method or constructor."""

    name: str
    parameters: str
    returns: str
    decorator: str
    comment: str
    body: list[str]

    def lines(self) -> Iterator[str]:
        yield ""
        if self.decorator:
            yield f"    {self.decorator}"
        yield f"    def {self.name}(self{self.parameters}) -> {self.returns}:"
        yield f"        # {self.comment}"
        for line in self.body:
            yield f"        {line}"


class _ModuleWriter:
    """Writes what stands behind the imports of a module."""

    def __init__(self, model: CheckedModel, source: str) -> None:
        self.model = model
        self.source = source
        self.names = ModelNames(model)

    def lines(self) -> Iterator[str]:
        if self.model.env:
            yield ""
        for symbol in self.model.env.values():
            yield f"{self.names.constants[symbol.name]} = {_initial(symbol)}"
        for interface in reversed(self._special_first()):
            yield from self._interface(interface)
        for each in sorted(self.model.classes.values(), key=lambda each: len(each.ancestors)):
            yield from self._class(each)
        yield from ("", "", "model = Model(", f'    "{_model_name(self.source)}",', "    (")
        for instance in self.model.instances:
            yield f"        {self._instance(instance)},"
        yield "    ),"
        if self.model.dialect == "core":
            yield "    core=True,"
        if self.model.uses_global_priority and not self._orders_globally():
            yield "    globally_ordered=True,"
        yield ")"

    # --- interfaces ----------------------------------------------------------------------------

    def _special_first(self) -> list[CheckedInterface]:
        """Give all interfaces in one order, which is that of bases, as Python wants it to be."""
        return sorted(self.model.interfaces.values(), key=lambda each: -len(each.ancestors))

    def _nearest(self, names: Iterable[str]) -> list[str]:
        """Give the Python names of interfaces, without those that another of them extends."""
        wanted = set(names)
        listed = [each for each in self._special_first() if each.name in wanted]
        extended = {name for each in listed for name in each.ancestors}
        return [self.names.classes[each.name] for each in listed if each.name not in extended]

    def _interface(self, checked: CheckedInterface) -> Iterator[str]:
        bases = ", ".join(self._nearest(checked.tree.bases) or ("Interface",))
        yield from ("", "", f"class {self.names.classes[checked.name]}({bases}):")
        yield f'    """Interface of line {self.model.line_of(checked.tree)}."""'
        for server in checked.servers:
            if server.owner == checked.name:
                names = LocalNames(self.names)
                shown = [names.declare(each.name) for each in server.tree.parameters]
                yield from _Function(
                    name=self.names.callables[server.name],
                    parameters=self._typed(shown, server.tree.parameters),
                    returns="None",
                    decorator=self._decorator(server),
                    comment=self._comment(server.tree),
                    body=["raise NotImplementedError  # an interface"],
                ).lines()

    # --- classes -------------------------------------------------------------------------------

    def _class(self, checked: CheckedClass) -> Iterator[str]:
        name = self.names.classes[checked.name]
        options = f"queue_size={checked.queue_size}"
        if checked.name != name:
            options += f', rebeca_name="{checked.name}"'
        yield from ("", "", f"class {name}({self._class_bases(checked)}, {options}):")
        yield f'    """Reactive class of line {self.model.line_of(checked.tree)}."""'
        if checked.constants:
            yield ""
        for constant, value in checked.constants.items():
            yield f"    {self.names.variables[constant]} = {value!r}"
        known = {field.name for field in checked.tree.known_rebecs}
        yield from self._variables(
            (each, "known_rebec()") for each in checked.known_rebecs if each.name in known
        )
        state = {field.name for field in checked.tree.state_variables}
        yield from self._variables(
            (each, f"state_variable({self._declaration(each)})")
            for each in checked.state_variables
            if each.name in state
        )
        for function in self._functions(checked):
            yield from function.lines()

    def _variables(self, made: Iterable[tuple[Symbol, str]]) -> Iterator[str]:
        for number, (symbol, value) in enumerate(made):
            if number == 0:
                yield ""
            name = self.names.variables[symbol.name]
            yield f"    {name}: {self._annotation(symbol.type)} = {value}"

    def _class_bases(self, checked: CheckedClass) -> str:
        if checked.base is None:
            return ", ".join(["Rebec", *self._nearest(checked.interfaces)])
        inherited = self.model.classes[checked.base].interfaces
        new = [name for name in checked.interfaces if name not in inherited]
        return ", ".join([self.names.classes[checked.base], *self._nearest(new)])

    def _declaration(self, symbol: Symbol) -> str:
        name, options = symbol.name, ""
        if symbol.value is not None or symbol.elements:
            options = f", initial={_initial(symbol)}"
        if self.names.variables[name] != name:
            options += f', rebeca_name="{name}"'
        return _kind(symbol.type) + options

    def _annotation(self, kind: Type) -> str:
        match kind:
            case ArrayType(element):
                return f"list[{self._annotation(element)}]"
            case RebecType(name):
                return self.names.classes[name]
            case PrimitiveType(name):
                return _PYTHON_TYPES[name]
        return "None"

    # --- functions -----------------------------------------------------------------------------

    def _functions(self, checked: CheckedClass) -> Iterable[_Function]:
        """Write what stands in the text of a class."""
        for number, constructor in enumerate(checked.constructors):
            yield self._function(checked, constructor_name(number), constructor)
        for server in checked.servers:
            if server.owner == checked.name:
                name, decorator = self.names.callables[server.name], self._decorator(server)
                yield self._function(checked, name, server.tree, decorator=decorator)
        for method in checked.tree.methods:
            name = self.names.callables[method.name]
            yield self._function(checked, name, method, returns=method.return_type)

    def _decorator(self, server: CheckedServer) -> str:
        options = {
            "priority": server.priority,
            "global_priority": server.global_priority,
            "rebeca_name": None
            if self.names.callables[server.name] == server.name
            else server.name,
        }
        shown = ", ".join(
            f"{name}={value!r}" for name, value in options.items() if value is not None
        )
        return f"@message_server({shown})" if shown else "@message_server"

    def _function(
        self,
        owner: CheckedClass,
        name: str,
        tree: syntax.Constructor | syntax.MessageServer | syntax.Method,
        *,
        returns: syntax.TypeName | None = None,
        decorator: str = "",
    ) -> _Function:
        kind = None if returns is None else self.model.declared_type(returns)
        expressions = ExpressionWriter(self.model, owner, self.names)
        writer = BodyWriter(expressions, tree.parameters, kind)
        lines = ["raise NotImplementedError  # abstract"]
        if tree.body is not None:
            lines = writer.lines(tree.body)
            if isinstance(tree, syntax.MessageServer):  # the message stays as it was sent
                changed = assigned_names(tree.body)
                shown = zip(tree.parameters, writer.parameters, strict=True)
                lines[:0] = [
                    f"{name} = copied({name})"
                    for each, name in shown
                    if each.type.dimensions and each.name in changed
                ]
        return _Function(
            name=name,
            parameters=self._typed(writer.parameters, tree.parameters),
            returns="None" if kind is None else self._annotation(kind),
            decorator=decorator,
            comment=self._comment(tree),
            body=lines,
        )

    def _typed(self, names: Iterable[str], parameters: tuple[syntax.Parameter, ...]) -> str:
        """Write parameters behind `self`, by their names in Python."""
        return "".join(
            f", {shown}: {self._annotation(self.model.declared_type(parameter.type))}"
            for shown, parameter in zip(names, parameters, strict=True)
        )

    def _comment(self, node: syntax.Node) -> str:
        line = self.model.line_of(node)
        return f"{self.source}, line {line}" if self.source else f"line {line}"

    # --- main ----------------------------------------------------------------------------------

    def _orders_globally(self) -> bool:
        """Whether a class that has rebecs has a global priority."""
        return any(
            server.global_priority is not None
            for instance in self.model.instances
            for server in self.model.classes[instance.class_name].servers
        )

    def _instance(self, instance: CheckedInstance) -> str:
        parts = [f'"{instance.name}"', self.names.classes[instance.class_name]]
        if instance.bindings:
            known = ", ".join(f'"{name}"' for name in instance.bindings)
            parts.append(f"knows=[{known}]")
        shown = zip(instance.arguments, instance.parameters, strict=True)
        arguments = [_argument(value, self.model.declared_type(each.type)) for value, each in shown]
        if arguments:
            parts.append(f"arguments=[{', '.join(arguments)}]")
        if instance.constructor is not None:
            number = self.model.constructor_number(instance.constructor)
            if number:
                parts.append(f'constructor="{constructor_name(number)}"')
        if instance.priority is not None:
            parts.append(f"priority={instance.priority}")
        return f"Instance({', '.join(parts)})"


def _kind(kind: Type) -> str:
    match kind:
        case ArrayType(element, length):
            return f"{_kind(element)}[{length}]"
        case PrimitiveType(name):
            return name.capitalize()  # as `rebecsim.actors` calls it
    return "Reference"


def _initial(symbol: Symbol) -> str:
    """Write the value of a constant, or the one that a state variable starts with."""
    return _literal(symbol.elements or symbol.value, symbol.type)


def _literal(value: Value | Elements, kind: Type) -> str:
    if isinstance(value, tuple):
        assert isinstance(kind, ArrayType)
        return f"({', '.join(_literal(each, kind.element) for each in value)},)"
    return f"float32({value!r})" if kind == FLOAT else repr(value)


def _argument(value: Value | str, kind: Type) -> str:
    if isinstance(kind, RebecType) and isinstance(value, str):
        return f'RebecNamed("{value}")'
    assert not isinstance(value, str)
    return _literal(value, kind)


class LoadError(UserError):
    """A file that holds no model; the text names it and says what is missing."""


def load_model(path: Path, dialect: Dialect = "timed") -> Model:
    """Load a model.

    A `.rebeca` file is parsed and checked; none of its text is executed. A `.py` file is a program
    of the user's own: it is imported, and its global `model` is the model. Raises RebecaError for
    errors in a `.rebeca` file, LoadError otherwise.
    """
    return _from_python(path) if is_program(path) else load_checked(path, dialect)[0]


def load_checked(path: Path, dialect: Dialect = "timed") -> tuple[Model, CheckedModel | None]:
    """Load a model, with its checked tree; None for Python that has no meaning in Rebeca.

    Raises as `load_model` does.
    """
    if is_program(path):
        from rebecsim.steps import understood  # only where there is Python to read

        model = _from_python(path)
        return model, understood(model)[0]
    if path.suffix != ".rebeca":
        raise LoadError(f"{path}: is not a model: the file name must end in .rebeca or .py")
    checked = check_file(path, dialect)
    return build_model(checked, path.name), checked


def _from_python(path: Path) -> Model:
    if not path.is_file():
        raise LoadError(f"{path}: there is no such file")
    return python_model(read_source(path), path)


class _Text(ExecutionLoader):
    """Loads a module from its text."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text

    def get_filename(self, fullname: str) -> str:
        return str(self._path)

    def get_source(self, fullname: str) -> str:
        return self._text


def python_model(text: str, path: Path) -> Model:
    """Load the model of a module with this text, a program of the user's own, which is executed.

    `path` is where it comes from. Raises LoadError.
    """
    name = f"rebecsim_model_{path.stem}"
    spec = importlib.util.spec_from_loader(name, _Text(path, text), origin=str(path))
    assert spec is not None
    assert spec.loader is not None
    spec.has_location = True
    module = importlib.util.module_from_spec(spec)
    writes_bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # reading a model leaves nothing beside it
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever the user's program raises
        raise LoadError(f"{path}: {type(error).__name__}: {error}") from error
    finally:
        sys.dont_write_bytecode = writes_bytecode
    model = getattr(module, "model", None)
    if not isinstance(model, Model):
        raise LoadError(f"{path}: has no global `model` of type rebecsim.actors.Model")
    return model

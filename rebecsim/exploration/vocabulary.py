"""The names of a model given as Python classes, for the checker of properties.

For a model that was read from Rebeca text the `CheckedModel` itself is better: it also has env
constants and the classes of known rebecs.
"""

from __future__ import annotations

from rebecsim.actors import Array, Interface, Kind, Model, Rebec
from rebecsim.lang import CheckedClass, CheckedInstance, CheckedModel, Symbol, syntax
from rebecsim.lang.checked import CheckedInterface
from rebecsim.lang.types import ANY_REBEC, PRIMITIVES, TIMER, ArrayType, Type


def vocabulary(model: Model) -> CheckedModel:
    """Give the rebecs, classes and variables of a model as a checked model without bodies."""
    names = _class_names(model)
    return CheckedModel(
        tree=syntax.Model((), (), ()),
        dialect="core" if model.core else "timed",
        env={},
        classes={name: _class(name, each, names) for each, name in names.items()},
        interfaces={
            name: CheckedInterface(name, (), (), syntax.Interface(name, (), ()))
            for each in names
            for name in _interfaces(each)
        },
        instances=tuple(
            CheckedInstance(
                instance.name,
                names[instance.reactive_class],
                tuple(instance.knows),
                (),
                None,
                (),
                instance.priority,
                syntax.Instance(names[instance.reactive_class], instance.name, (), ()),
            )
            for instance in model.instances
        ),
        uses_global_priority=model.uses_global_priority,
    )


def _class_names(model: Model) -> dict[type[Rebec], str]:
    """Give every class a name of its own; Python allows two classes of one name."""
    names: dict[type[Rebec], str] = {}
    for instance in model.instances:
        each = instance.reactive_class
        if each not in names:
            name = each.__name__
            while name in names.values():
                name += "_"
            names[each] = name
    return names


def _interfaces(reactive_class: type[Rebec]) -> tuple[str, ...]:
    return tuple(
        each.__name__
        for each in reactive_class.__mro__
        if issubclass(each, Interface) and each is not Interface and not issubclass(each, Rebec)
    )


def _class(name: str, reactive_class: type[Rebec], names: dict[type[Rebec], str]) -> CheckedClass:
    return CheckedClass(
        name=name,
        base=None,
        abstract=False,
        queue_size=reactive_class.__queue_size__,
        known_rebecs=tuple(
            Symbol("known", known.name, ANY_REBEC) for known in reactive_class.__known_rebecs__
        ),
        state_variables=tuple(
            Symbol("state", variable.rebeca_name, _type(variable.kind))
            for variable in reactive_class.__state_variables__
        ),
        servers=(),
        methods={},
        constructors=(),
        tree=syntax.ReactiveClass(
            name, None, syntax.IntLiteral(reactive_class.__queue_size__), (), (), (), (), ()
        ),
        ancestors=tuple(names[each] for each in reactive_class.__mro__[1:] if each in names),
        interfaces=_interfaces(reactive_class),
    )


def _type(kind: Kind | Array) -> Type:
    if isinstance(kind, Array):
        return ArrayType(_type(kind.element), kind.length)
    return TIMER if kind.name == TIMER.name else PRIMITIVES.get(kind.name, ANY_REBEC)

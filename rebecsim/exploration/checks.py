"""Pose a problem: the transition system of a model and what is checked in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rebecsim.actors import Array, Interface, Kind, Model, Rebec, Violation
from rebecsim.exploration.analysis.absolute_time import may_delay
from rebecsim.exploration.predicates import PosedFormula
from rebecsim.exploration.properties import (
    Deciding,
    Predicate,
    Properties,
    Property,
    abstraction,
    decided_by,
)
from rebecsim.exploration.reduction import partial_order, reduced
from rebecsim.exploration.states.effects import Breach
from rebecsim.exploration.states.transitions import Mode, State, TransitionSystem
from rebecsim.lang import (
    CheckedClass,
    CheckedInstance,
    CheckedModel,
    CheckedProperties,
    PropertyFile,
    Symbol,
    parse_expression,
    syntax,
)
from rebecsim.lang.checked import CheckedInterface
from rebecsim.lang.traversal import walk
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


Reduction = bool | Literal["order", "both"]
"""The reduction: none, by symmetry, by partial order ("order"), or both."""

NO_MESSAGE_LEFT = Breach("deadlock", "no message is left")


def in_constructor(violation: Violation) -> Breach:
    """Give what a violation of a constructor is, before anything else happens."""
    text = f"{violation}, in a constructor" if str(violation) else "in a constructor"
    return Breach(violation.verdict, text)


@dataclass(frozen=True)
class Checks:
    """What is checked besides failed assertions.

    `deadlines`: a message served after its deadline. `overflows`: a message to a full queue;
    without this check queues have no bounds. `invariants`: expressions over the variables of
    rebecs, `rebec.variable`, that must be true in every state but the initial one.
    `deadlock`: a run must not end, see `Problem`. `terminal`: it may, but only in a state in which
    one of these expressions is true; this asks for `deadlock`, too.
    `properties`: a property file; `only` some of its names, if they are given. `fair`: formulas of
    LTL are about runs in which every rebec that could always act does so in the end.
    """

    deadlines: bool = True
    overflows: bool = True
    deadlock: bool = False
    terminal: Sequence[str] = ()
    invariants: Sequence[str] = ()
    properties: PropertyFile | CheckedProperties | None = None
    only: Sequence[str] = ()
    fair: bool = True

    def looked_for(self, mode: Mode) -> tuple[str, ...]:
        """Name what counts as a violation, beside the given properties."""
        kinds = {
            "failed assertions": True,
            "missed deadlines": self.deadlines and mode != "core",
            "full queues": self.overflows,
            "runs that end": self.deadlock or bool(self.terminal),
        }
        return tuple(name for name, counts in kinds.items() if counts)

    @property
    def asks_for_runs(self) -> bool:
        """Whether there are formulas of LTL or TCTL."""
        file = self.properties
        tree = file.tree if isinstance(file, CheckedProperties) else file
        return tree is not None and bool(tree.ltl or tree.tctl)

    def names(self) -> set[str]:
        """Give every name in the properties."""
        trees: list[Any] = [parse_expression(text, "<property>") for text in self.invariants]
        trees += [parse_expression(text, "<terminal>") for text in self.terminal]
        file = self.properties
        if file is not None:
            trees.append(file.tree if isinstance(file, CheckedProperties) else file)
        nodes = (node for tree in trees for node in walk(tree))
        return {
            node.identifier if isinstance(node, syntax.Name) else node.name
            for node in nodes
            if isinstance(node, syntax.Name | syntax.Member)
        }


@dataclass(frozen=True)
class Problem:
    """A transition system and the checks of it.

    In a state without transitions a run has ended: no message is left, and no message server is
    under way. Rebecs never wait inside a message server, so nothing in the language tells a task
    that is done from one that is stuck; the user says so. `deadlock` tells whether an end is a
    breach, unless a predicate of `terminal` allows it. `left_out` names the variables that are left
    out of the state, `deciding` those of them that decide something nevertheless. `formulas` are
    about runs; `fair` ones, see `Checks`. `looked_for` names what counts as a violation beside the
    given properties.
    """

    system: TransitionSystem
    properties: tuple[Property, ...] = ()
    terminal: tuple[Predicate, ...] = ()
    deadlock: bool = False
    left_out: tuple[str, ...] = ()
    deciding: tuple[Deciding, ...] = ()
    formulas: tuple[PosedFormula, ...] = ()
    fair: bool = True
    looked_for: tuple[str, ...] = ()

    @property
    def given_properties(self) -> int:
        """How many properties the user gave."""
        return len(self.properties) + len(self.formulas)

    @property
    def hidden_in_delays(self) -> tuple[str, ...]:
        """The properties of states that read rebecs which may wait in a `delay`.

        Floating time has no states within a message server, where it may be otherwise.
        """
        hidden = self._delaying()
        return tuple(each.breach.text for each in self.properties if each.reads & hidden)

    def formulas_here(self) -> tuple[PosedFormula, ...]:
        """Give the formulas that are judged on these states.

        Those of TCTL are about time, which floats; and of rebecs that may wait in a `delay`,
        floating time has no states between its parts. Such formulas need the timed transition
        system.
        """
        if self.system.mode == "TTS":
            return self.formulas
        hidden = self._delaying()
        return tuple(
            each for each in self.formulas if each.kind == "ltl" and not each.reads & hidden
        )

    def _delaying(self) -> frozenset[int]:
        if self.system.mode != "FTTS":
            return frozenset()
        return may_delay(self.system.model, self.system.checked)

    def broken_in(self, state: State) -> list[Breach]:
        """Give the breaches of the properties that do not hold in a state."""
        return [each.breach for each in self.properties if not each.holds(state)]

    def wrong_at_end(self, state: State) -> list[Breach]:
        """Give what is wrong with a state for having no transitions."""
        if not self.deadlock or any(allowed(state) for allowed in self.terminal):
            return []
        return [NO_MESSAGE_LEFT]

    def wrong_with(self, state: State) -> list[Breach]:
        """Give all that is wrong with a state itself: properties, or a deadlock."""
        ends = not self.system.expand(state)
        return self.broken_in(state) + (self.wrong_at_end(state) if ends else [])


def pose(
    model: Model,
    *,
    mode: Mode | None = None,
    checks: Checks | None = None,
    checked: CheckedModel | None = None,
    abstract: Sequence[str] = (),
    absolute: bool = False,
    reduce: Reduction = False,
    strict: bool = False,
) -> Problem:
    """Build the transition system of a model and compile what is to be checked.

    A model that was not read from Rebeca could be more than a function of its state: some of its
    message servers are run again to see that they do the same, with `strict` all of them.

    Raises Violation if a constructor does, UserError or RebecaError for what does not fit.
    """
    wanted = checks or Checks()
    left_out = abstraction(model, abstract)
    system = TransitionSystem(
        model,
        mode,
        absolute=absolute,
        deadlines=wanted.deadlines,
        overflows=wanted.overflows,
        abstracted=left_out.attributes,
        repeats="all" if strict else "sample" if checked is None or checked.lacks else "never",
        checked=checked,
    )
    names = Properties(system, checked or vocabulary(model), left_out)
    properties = [names.invariant(text) for text in wanted.invariants]
    formulas: tuple[PosedFormula, ...] = ()
    if wanted.properties is not None:
        file = names.checked(wanted.properties, wanted.only)
        properties += names.assertions(file)
        formulas = tuple(names.formulas(file))
    terminal = tuple(names.expression(text, "<terminal>", True) for text in wanted.terminal)
    named, written = wanted.names(), left_out.written
    order = None
    if reduce in ("order", "both"):
        order = partial_order(system, named, checked, written, wanted.overflows)
    if reduce in (True, "both"):
        system = reduced(system, named, checked, written, order)
    else:
        system.partial_order = order
    return Problem(
        system,
        tuple(properties),
        terminal,
        wanted.deadlock or bool(terminal),
        left_out.written,
        decided_by(model, left_out, checked),
        formulas,
        wanted.fair,
        wanted.looked_for(system.mode),
    )

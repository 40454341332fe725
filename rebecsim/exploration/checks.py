"""Pose a problem: the transition system of a model, what is checked in it, limits of the search."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rebecsim.actors import Array, Interface, Kind, Model, Rebec, Violation
from rebecsim.actors.watchdog import PATIENCE
from rebecsim.distributions import values_tried
from rebecsim.errors import UserError
from rebecsim.exploration.analysis.footprints import may_delay
from rebecsim.exploration.predicates import Function, PosedFormula
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
from rebecsim.lang.checked import ANY_REBEC, PRIMITIVES, TIMER, ArrayType, CheckedInterface, Type
from rebecsim.lang.traversal import walk

Bound = Literal["states", "seconds", "memory", "interrupt", "horizon", "depth", "walks"]
"""What kept a search from covering the whole state space."""

_STATUS = Path("/proc/self/status")
_MEGABYTE = 1_000_000
_MARGIN = 3_000_000
"""The bytes that states may take between two measurements, and showing the result after them."""


@dataclass(frozen=True)
class Limits:
    """The bounds of a search; None is no bound.

    `states` to store, `seconds` of wall time, `memory` of the whole process in megabytes (10**6
    bytes, resident), `horizon` in model time: states later than it are not followed any further.
    A message server or constructor may run for `patience` seconds. Once `is_interrupted` says so,
    the search ends with what it has found.
    Raises UserError for a bound that is not positive (the horizon may be 0).

    >>> rs.Limits(states=1000, seconds=60).states
    1000
    """

    states: int | None = None
    seconds: float | None = None
    memory: float | None = None
    horizon: int | None = None
    patience: float = PATIENCE
    is_interrupted: Callable[[], bool] = lambda: False

    def __post_init__(self) -> None:
        for name in ("states", "seconds", "memory"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UserError(f"the limit of {name} must be above 0, not {value}")
        if self.horizon is not None and self.horizon < 0:
            raise UserError(f"the horizon must be 0 or more, not {self.horizon}")
        if self.memory is not None and resident_bytes() is None:
            raise UserError("this system does not report memory use, so memory cannot be limited")


def resident_bytes(process: int | None = None) -> int | None:
    """Give the memory that a process takes up, in bytes; None where the system does not say.

    It is this process unless another is named. Where only the peak of this one so far is known, it
    is that.
    """
    try:
        pages = int(Path(f"/proc/{process or 'self'}/statm").read_bytes().split()[1])
    except (OSError, ValueError, IndexError):
        return None if process is not None else _peak_of_usage()
    import resource

    return pages * resource.getpagesize()


def peak_bytes() -> int | None:
    """Give the most memory that this process has ever taken up, in bytes, as the system counts it.

    That is the resident memory of the whole process, also before a search, and with what was taken
    up for a moment only. None where the system does not say.
    """
    try:
        line = next(each for each in _STATUS.read_text().splitlines() if each.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError, StopIteration):
        return _peak_of_usage()


def _peak_of_usage() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class Meter:
    """Measures a search against its limits."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._started = time.perf_counter()
        self.before = self.memory()
        self.reached: Bound | None = None
        """The bound that was exceeded first; it stays, also if memory is given back later."""

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return time.perf_counter() - self._started

    @property
    def seconds_left(self) -> float:
        """How much wall time is left until the limit."""
        limit = self._limits.seconds
        return math.inf if limit is None else limit - self.seconds

    def memory(self) -> int:
        """Measure the memory that the process takes up now, in bytes."""
        return resident_bytes() or 0

    @contextmanager
    def leaving_out(self) -> Iterator[None]:
        """Do not count what is taken up meanwhile as growth; limits still count it."""
        before = self.memory()
        yield
        self.before += self.memory() - before

    def would_exceed(self, more: int) -> bool:
        """Say whether taking so many more bytes would go beyond the limit of memory."""
        limit = self._limits.memory
        return limit is not None and self.memory() + more > limit * _MEGABYTE

    def exceeded(self, growth: Callable[[], int] = lambda: 0) -> Bound | None:
        """Say which limit is exceeded, time or memory, or that the search was interrupted.

        `growth` gives the bytes that tables will need before the next measurement.
        """
        bound: Bound | None = None
        if self._limits.is_interrupted():
            bound = "interrupt"
        elif self.seconds_left < 0:
            bound = "seconds"
        elif self._limits.memory is not None and self.would_exceed(growth() + _MARGIN):
            bound = "memory"
        self.reached = self.reached or bound
        return bound

    def is_over(self) -> bool:
        """Whether a limit is exceeded."""
        return self.exceeded() is not None


def bytes_to_grow(tables: Iterable[Sized], coming: int) -> int:
    """Give the bytes that dictionaries need when so many entries may come to each of them.

    One that has to grow needs twice its memory more, all at once.
    """
    return sum(2 * sys.getsizeof(table) for table in tables if _grows(len(table), coming))


def _grows(entries: int, coming: int) -> bool:
    """Whether CPython enlarges a dictionary of so many entries when more come.

    Its table has a power of two of slots, of which two thirds are used.
    """
    slots = 1 << max((entries * 3 // 2).bit_length() - 1, 3)
    while slots * 2 // 3 < entries:
        slots *= 2
    return entries + coming > slots * 2 // 3


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
    LTL are about runs in which every rebec that could always act does so in the end. `finals`: a
    variable, `rebec.variable`, whose values where runs end the result tells if all were seen.

    >>> rs.Checks(invariants=("office.left >= 0",)).deadlines
    True
    """

    deadlines: bool = True
    overflows: bool = True
    deadlock: bool = False
    terminal: Sequence[str] = ()
    invariants: Sequence[str] = ()
    properties: PropertyFile | CheckedProperties | None = None
    only: Sequence[str] = ()
    fair: bool = True
    finals: str = ""

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
    given properties. `names` are those that further expressions may be over.
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
    names: Properties | None = None

    def expression(self, text: str, what: str, is_condition: bool) -> Function:
        """Compile a condition, or a number, as `Properties.expression` does."""
        assert self.names is not None, "only a problem that was posed has names"
        return self.names.expression(text, what, is_condition)

    @property
    def given_properties(self) -> int:
        """How many properties the user gave."""
        return len(self.properties) + len(self.formulas)

    def cut(self, checked: CheckedModel | None) -> tuple[str, ...]:
        """Say of each distribution which values were tried, if these were not all.

        Without a `checked` model, those are known that messages so far have drawn from.
        """
        drawn = self.system.runner.drawn if checked is None else checked.drawn
        return values_tried(drawn) if drawn else ()

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
        names,
    )

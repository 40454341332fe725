"""What rebecs are, in Python, and when they may act.

Writing a model: `Rebec`, `Interface`, `message_server`, `state_variable`, `known_rebec`, the kinds
`Int`, `Short`, `Byte`, `Boolean`, `Float`, `Double`, `Reference`, `Timer` (`Since`, `STOPPED`,
`durations`), their arithmetic (`int32`, `int16`, `int8`, `float32`, `float_quotient`,
`double_quotient`, `power`, `square_root`, `quotient`, `remainder`, `truncate`), the operations of
assertions, indices, casts and nested assignments (`require`, `element`, `refer`, `store`,
`assign`), `Model`, `Instance` and `RebecNamed` for main.

Running it: `System`, `Step`, `ready`, `alternatives`, `steps`, `enabled`, `execute`,
`next_time`, and `Agenda` for systems of many rebecs; what can go wrong: `Violation` and its kinds
`AssertionFailedError`, `DeadlineMissedError`, `QueueOverflowError`, `ModelError` for a model that
does not fit together, and `ModelCodeError` for one whose own code raises an exception.

Resolving nondeterminism: `RandomScheduler`, `RankedScheduler`, `FifoScheduler`,
`ReplayScheduler`, `Recorder`, `RandomValues`, `FirstValues`, `Streams`, `ChoiceLaw`; a run as a
record: `Run`, `Choice`, `ReplayError`.
"""

from rebecsim.actors.agenda import Agenda
from rebecsim.actors.choice import Choice, ReplayError, Run
from rebecsim.actors.failures import ModelCodeError
from rebecsim.actors.kinds import (
    Array,
    Boolean,
    Byte,
    Double,
    Float,
    Int,
    Kind,
    Reference,
    Short,
    double_quotient,
    float32,
    float_quotient,
    int8,
    int16,
    int32,
    power,
    quotient,
    remainder,
    square_root,
    truncate,
)
from rebecsim.actors.message import Bag, Message
from rebecsim.actors.operations import assign, element, refer, require, store
from rebecsim.actors.randomness import CHOICE_LAWS, ChoiceLaw, Stream, Streams
from rebecsim.actors.rebec import (
    Interface,
    MessageServer,
    Rebec,
    StateVariable,
    known_rebec,
    message_server,
    state_variable,
)
from rebecsim.actors.schedulers import (
    FifoScheduler,
    FirstValues,
    RandomScheduler,
    RandomValues,
    RankedScheduler,
    Recorder,
    ReplayScheduler,
    Scheduler,
)
from rebecsim.actors.semantics import (
    Step,
    alternatives,
    enabled,
    execute,
    next_time,
    ready,
    steps,
)
from rebecsim.actors.system import Instance, Model, ModelError, RebecNamed, System
from rebecsim.actors.timers import STOPPED, Since, Timer, durations
from rebecsim.actors.violations import (
    AssertionFailedError,
    DeadlineMissedError,
    QueueOverflowError,
    Violation,
)

__all__ = [
    "CHOICE_LAWS",
    "STOPPED",
    "Agenda",
    "Array",
    "AssertionFailedError",
    "Bag",
    "Boolean",
    "Byte",
    "Choice",
    "ChoiceLaw",
    "DeadlineMissedError",
    "Double",
    "FifoScheduler",
    "FirstValues",
    "Float",
    "Instance",
    "Int",
    "Interface",
    "Kind",
    "Message",
    "MessageServer",
    "Model",
    "ModelCodeError",
    "ModelError",
    "QueueOverflowError",
    "RandomScheduler",
    "RandomValues",
    "RankedScheduler",
    "Rebec",
    "RebecNamed",
    "Recorder",
    "Reference",
    "ReplayError",
    "ReplayScheduler",
    "Run",
    "Scheduler",
    "Short",
    "Since",
    "StateVariable",
    "Step",
    "Stream",
    "Streams",
    "System",
    "Timer",
    "Violation",
    "alternatives",
    "assign",
    "double_quotient",
    "durations",
    "element",
    "enabled",
    "execute",
    "float32",
    "float_quotient",
    "int8",
    "int16",
    "int32",
    "known_rebec",
    "message_server",
    "next_time",
    "power",
    "quotient",
    "ready",
    "refer",
    "remainder",
    "require",
    "square_root",
    "state_variable",
    "steps",
    "store",
    "truncate",
]

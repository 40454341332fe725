from .agenda import Agenda as Agenda, agenda_for as agenda_for
from .choice import Choice as Choice, ReplayError as ReplayError, Run as Run
from .failures import ModelCodeError as ModelCodeError
from .kinds import (
    Array as Array,
    Boolean as Boolean,
    Byte as Byte,
    Double as Double,
    Float as Float,
    Int as Int,
    Kind as Kind,
    Reference as Reference,
    Short as Short,
    double_quotient as double_quotient,
    float32 as float32,
    float_quotient as float_quotient,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    power as power,
    quotient as quotient,
    remainder as remainder,
    square_root as square_root,
    truncate as truncate,
)
from .message import Bag as Bag, Message as Message, PlainMessage as PlainMessage
from .operations import (
    assign as assign,
    element as element,
    refer as refer,
    require as require,
    store as store,
)
from .randomness import (
    CHOICE_LAWS as CHOICE_LAWS,
    ChoiceLaw as ChoiceLaw,
    Stream as Stream,
    Streams as Streams,
)
from .rebec import (
    Interface as Interface,
    MessageServer as MessageServer,
    Rebec as Rebec,
    StateVariable as StateVariable,
    known_rebec as known_rebec,
    message_server as message_server,
    state_variable as state_variable,
)
from .schedulers import (
    FifoScheduler as FifoScheduler,
    FirstValues as FirstValues,
    RandomScheduler as RandomScheduler,
    RandomValues as RandomValues,
    RankedScheduler as RankedScheduler,
    Recorder as Recorder,
    ReplayScheduler as ReplayScheduler,
    Scheduler as Scheduler,
)
from .semantics import (
    Step as Step,
    alternatives as alternatives,
    enabled as enabled,
    execute as execute,
    next_time as next_time,
    ready as ready,
    serve as serve,
    steps as steps,
)
from .system import (
    Instance as Instance,
    Model as Model,
    ModelError as ModelError,
    RebecNamed as RebecNamed,
    System as System,
)
from .timers import STOPPED as STOPPED, Since as Since, Timer as Timer, durations as durations
from .violations import (
    AssertionFailedError as AssertionFailedError,
    DeadlineMissedError as DeadlineMissedError,
    QueueOverflowError as QueueOverflowError,
    Violation as Violation,
)

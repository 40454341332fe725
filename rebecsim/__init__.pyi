from .actors import (
    Array as Array,
    Boolean as Boolean,
    Byte as Byte,
    Double as Double,
    Float as Float,
    Instance as Instance,
    Int as Int,
    Model as Model,
    Rebec as Rebec,
    Reference as Reference,
    Short as Short,
    known_rebec as known_rebec,
    message_server as message_server,
    require as require,
    state_variable as state_variable,
)
from .errors import UserError as UserError
from .exploration import Checks as Checks, Limits as Limits
from .interface import (
    Comparison as Comparison,
    Drawing as Drawing,
    Estimated as Estimated,
    EstimatedRare as EstimatedRare,
    Exact as Exact,
    Explored as Explored,
    FoundRaces as FoundRaces,
    LoadedModel as LoadedModel,
    ManyRuns as ManyRuns,
    Simulated as Simulated,
    compare as compare,
    estimate as estimate,
    exact as exact,
    explore as explore,
    load as load,
    loads as loads,
    open as open,
    races as races,
    rare as rare,
    run as run,
    simulate as simulate,
    size as size,
)
from .lang import RebecaError as RebecaError

__version__: str

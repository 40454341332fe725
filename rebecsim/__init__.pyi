from .exploration import Checks as Checks, Limits as Limits
from .interface import (
    compare as compare,
    estimate as estimate,
    exact as exact,
    explore as explore,
    load as load,
    loads as loads,
    races as races,
    rare as rare,
    run as run,
    simulate as simulate,
    size as size,
)

__version__: str

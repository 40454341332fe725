from .checks import Checks as Checks
from .counterexamples import (
    Question as Question,
    Recorded as Recorded,
    load_recorded as load_recorded,
    recurring as recurring,
    replay as replay,
    save_recorded as save_recorded,
)
from .exploring import explore as explore
from .limits import Bound as Bound, Limits as Limits
from .paths import Path as Path, PathStep as PathStep, path_along as path_along
from .predicates import AbstractedVariableError as AbstractedVariableError
from .races import (
    Contender as Contender,
    RaceGroup as RaceGroup,
    RaceKind as RaceKind,
    Races as Races,
    find_races as find_races,
)
from .result import Result as Result, Violated as Violated
from .search import Progress as Progress, Search as Search, SearchEnded as SearchEnded
from .states.effects import Breach as Breach, Verdict as Verdict
from .states.transitions import Mode as Mode, TransitionSystem as TransitionSystem
from .strategies import (
    BreadthFirst as BreadthFirst,
    DepthBounded as DepthBounded,
    DepthFirst as DepthFirst,
    RandomWalks as RandomWalks,
    Strategy as Strategy,
)

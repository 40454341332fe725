from .checks import (
    NO_MESSAGE_LEFT as NO_MESSAGE_LEFT,
    Bound as Bound,
    Checks as Checks,
    Limits as Limits,
    Problem as Problem,
    Reduction as Reduction,
    peak_bytes as peak_bytes,
    pose as pose,
    vocabulary as vocabulary,
)
from .exploring import explore as explore
from .paths import (
    Path as Path,
    PathStep as PathStep,
    path_along as path_along,
    shown_variables as shown_variables,
    step_of as step_of,
    written_name as written_name,
)
from .predicates import (
    AbstractedVariableError as AbstractedVariableError,
    Function as Function,
    PropertyWriter as PropertyWriter,
)
from .properties import abstraction as abstraction
from .races import (
    Contender as Contender,
    RaceGroup as RaceGroup,
    RaceKind as RaceKind,
    Races as Races,
    find_races as find_races,
)
from .result import (
    Ends as Ends,
    PropertyVerdict as PropertyVerdict,
    Question as Question,
    Recorded as Recorded,
    Result as Result,
    Violated as Violated,
    load_recorded as load_recorded,
    recurring as recurring,
    replay as replay,
    save_recorded as save_recorded,
    step_to_json as step_to_json,
)
from .search import (
    Progress as Progress,
    Search as Search,
    SearchEnded as SearchEnded,
    StopAt as StopAt,
)
from .state_graph import (
    Neighbourhood as Neighbourhood,
    QueuedMessage as QueuedMessage,
    RebecState as RebecState,
    StateSpace as StateSpace,
    Transition as Transition,
    neighbourhood_of as neighbourhood_of,
    state_space as state_space,
)
from .states.effects import (
    Breach as Breach,
    BreachKey as BreachKey,
    Outcome as Outcome,
    Verdict as Verdict,
)
from .states.transitions import (
    MODES as MODES,
    Cause as Cause,
    Mode as Mode,
    State as State,
    Successor as Successor,
    TransitionSystem as TransitionSystem,
)
from .strategies import (
    BreadthFirst as BreadthFirst,
    DepthBounded as DepthBounded,
    DepthFirst as DepthFirst,
    RandomWalks as RandomWalks,
    Strategy as Strategy,
)

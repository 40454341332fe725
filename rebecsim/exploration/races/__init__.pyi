from .finding import MOST_FOLLOWED as MOST_FOLLOWED, find_races as find_races
from .result import (
    RACE_KINDS as RACE_KINDS,
    Contender as Contender,
    Distance as Distance,
    RaceBound as RaceBound,
    RaceGroup as RaceGroup,
    RaceKind as RaceKind,
    Races as Races,
    Unexplained as Unexplained,
    Witness as Witness,
    WitnessOrder as WitnessOrder,
)

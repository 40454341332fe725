from .decision_process import GOALS as GOALS, Goal as Goal
from .quantities import (
    Quantity as Quantity,
    QuantityKind as QuantityKind,
    quantities_of as quantities_of,
)
from .solving import (
    ExactOrders as ExactOrders,
    ExactValue as ExactValue,
    exact_orders as exact_orders,
)
from .splitting import Levels as Levels, SplitRuns as SplitRuns

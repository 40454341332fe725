from .check import (
    Checked as Checked,
    Checker as Checker,
    NotAllowedError as NotAllowedError,
    check_log as check_log,
)
from .conductor import LiveLimits as LiveLimits
from .log import (
    ENDINGS as ENDINGS,
    Ending as Ending,
    Lateness as Lateness,
    Log as Log,
    Sent as Sent,
    Served as Served,
    lateness as lateness,
    load_log as load_log,
    save_log as save_log,
)
from .runtime import LiveRun as LiveRun, run_live as run_live
from .stepper import (
    Alternative as Alternative,
    Breakpoint as Breakpoint,
    Stepper as Stepper,
    Stop as Stop,
    Turn as Turn,
)

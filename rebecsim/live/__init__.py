"""Running models for real: every rebec an actor in a thread of its own.

`run_live` runs a model up to `Limits` and gives a `LiveRun`: its `Log` of messages `Served`, what
they `Sent`, and the `Ending` with one of the `ENDINGS`. `save_log` and `load_log` keep it in files.

`check_log` shows that the semantics allows a run, message by message, and gives it as `Checked`;
a `Checker` does so while it runs. `NotAllowedError` is raised for a run that is not allowed.
`lateness` says how far a run was behind real time, as `Lateness`.

`Stepper` is a run that a person steers, one `Turn` and `Alternative` at a time and back again; by
itself it goes on to a `Breakpoint` and says by a `Stop` why it has stopped.
"""

from rebecsim.live.check import Checked, Checker, NotAllowedError, check_log
from rebecsim.live.conductor import Limits
from rebecsim.live.lateness import Lateness, lateness
from rebecsim.live.log import ENDINGS, Ending, Log, Sent, Served, load_log, save_log
from rebecsim.live.runtime import LiveRun, run_live
from rebecsim.live.stepper import Alternative, Breakpoint, Stepper, Stop, Turn

__all__ = [
    "ENDINGS",
    "Alternative",
    "Breakpoint",
    "Checked",
    "Checker",
    "Ending",
    "Lateness",
    "Limits",
    "LiveRun",
    "Log",
    "NotAllowedError",
    "Sent",
    "Served",
    "Stepper",
    "Stop",
    "Turn",
    "check_log",
    "lateness",
    "load_log",
    "run_live",
    "save_log",
]

"""Run models in real time: every rebec is an actor in a thread of its own.

`run_live` runs a model up to `LiveLimits` and gives a `LiveRun`: its `Log` of messages `Served`,
what they `Sent`, and the `Ending` with one of the `ENDINGS`. `save_log` and `load_log` keep it in
files.

`check_log` shows that the semantics allows a run, message by message, and gives it as `Checked`;
a `Checker` does so while it runs. `NotAllowedError` is raised for a run that is not allowed.
`lateness` says how far a run was behind real time, as `Lateness`.

`Stepper` is a run that a person steers, one `Turn` and `Alternative` at a time and back again; by
itself it goes on to a `Breakpoint` and says by a `Stop` why it has stopped.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

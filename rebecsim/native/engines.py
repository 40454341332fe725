"""The names of the engines, which of them can be used, and from when compiled code pays off.

How large a search or a study becomes is not known before; what has been done tells. A threshold is
right if by then about as much time has gone as the fast way takes to begin: then a wrong guess
costs at most twice the time. `python benchmarks/thresholds.py` measures both. What it said on
2026-11-22, on 2 processors that were busy with other work, is below; the product of seconds and
pace is the same on a machine that is faster at both.

======================= =========== ============================ =============================
Work                    Python does compiled code loads in       compiled code is made in
======================= =========== ============================ =============================
searching, `yarn_fifo4` 47,000 /s   0.9 s: 41,000 states         8 s: 490,000 states
serving in a search     9,800 /s    0.06 s: 600 messages         11 s, the step alone 4 s:
                                                                 28,000 messages
simulating              23,000 /s   0.8 s: 18,000 time units     10 s, the step alone 4 s:
                                                                 96,000 time units
======================= =========== ============================ =============================

The models of the last two rows are `resource_manager_edf3`. The loops are made once on every
machine, the step once for every model.
"""

from __future__ import annotations

from typing import Literal

from rebecsim.extras import is_installed, require

EngineUsed = Literal["python", "native"]

Engine = Literal["auto", "python", "native"]
"""`python` runs Rebec classes, `native` compiled code; both give the same results. `auto` begins in
Python, which needs no compiling, and goes over to compiled code where there is much to do."""

FINGERPRINT_BITS = 62
"""By how many bits hash compaction tells states apart."""


def usable(engine: Engine) -> Engine:
    """Give the engine to use: without Numba that is Python where any would do.

    Raises MissingPackagesError where compiled code is asked for and there is no compiler.
    """
    if engine == "python" or is_installed("numba"):
        return engine
    if engine == "native":
        require("the native engine", "numba")
    return "python"


# --- searching -----------------------------------------------------------------------------------

SEARCH_LOADS = 20_000
"""States after which a search goes on in compiled code that is on disk: half of what loading is
worth, as most searches that have come so far go on for long."""

SEARCH_COMPILES = 200_000
"""States after which it goes on if the loop has to be compiled first: half of it too."""

SECONDS_TO_COMPILE = 60.0
"""Seconds that must be left of a limit of time for compiling, which cannot be interrupted: several
times what the table says, for slow machines."""

BYTES_TO_COMPILE = 300_000_000
"""Bytes that must be left of a limit of memory for compiled code: loading the loop of the search
has taken 110 MB, compiling it 175 MB; message servers come on top."""

SERVED_PER_STATE = 0.25
"""Messages for each state, new to Python, up to which a search is handed over. With more, as in a
chain of states with ever new times, serving is nearly all the work, and only Python can do it."""

SERVING_LOADS = 2_000
"""Messages that Python has served in a search, each in one state of its rebec, after which a step
on disk serves them: above what loading is worth, since its tables are filled anew."""

SERVING_COMPILES = 40_000
"""Messages after which the step is compiled: between what the step alone is worth and the 74,000 of
step and loop."""

STATES_FOR_THREADS = 4_000
"""States that must wait to be expanded for two threads to search: with less, they would wait for
each other. Some batches of successors; no crossing has been measured."""

ANSWERS_FOR_THREADS = 100
"""New answers, in 5,000 states that one thread has expanded, up to which two threads begin: while
one question is answered both wait. `yarn_fifo4` and `philosophers6` are below 50 after 20,000
states, `resource_manager_edf3` needs more than 1,000 until its end."""

PRODUCT_LOADS = 200_000
"""Transitions of a graph, times the states of an automaton, from which on compiled code on disk
looks for runs that the automaton accepts. A guess: Python follows about a million in a second."""

PRODUCT_COMPILES = 3_000_000
"""Transitions from which on that is compiled, which takes some seconds; also a guess."""

# --- simulating ----------------------------------------------------------------------------------

RUNS_LOAD = 4_000
"""Time units, replications together, from which on one task takes compiled code that is on disk. It
is less than loading is worth: a worker process loads it once for many tasks."""

STUDY_LOADS = 40_000
"""Time units, all replications of a study together, from which on its tasks ask that at all: twice
what loading is worth, as each worker process loads it."""

RUNS_COMPILE = 60_000
"""Time units from which on a task compiles: nearly what the step of a model is worth."""

UNITS_PER_MESSAGE = 20
"""Time units that a message counts as where only messages are limited: a guess, on the side of
compiled code."""


class TimeTooLargeError(Exception):
    """A time, or span of time, that has no place in the tables of compiled code."""

"""Errors whose cause is outside rebecsim, such as wrong input; the program's exit codes."""

from __future__ import annotations

from enum import IntEnum


class UserError(Exception):
    """Bad input: the text names the place and says what to do. Programs exit with code 2."""


class ArgumentError(UserError):
    """A wrong argument of a function; a command reports it for its option.

    Attributes:
        argument: its name.
        fault: what is wrong with it.
    """

    def __init__(self, argument: str, fault: str) -> None:
        super().__init__(argument, fault)
        self.argument = argument
        self.fault = fault

    def __str__(self) -> str:
        return f"{self.argument}: {self.fault}"


class WorkerKilledError(Exception):
    """Who did the work has ended before it was done; the text says how to go on."""

    def __init__(
        self,
        how_to_go_on: str = "go on with --resume",
        what: str = "a worker process was killed, perhaps because memory ran out",
    ) -> None:
        super().__init__(f"{what}; finished cells are kept: {how_to_go_on}")


class ExitCode(IntEnum):
    """How a command ended.

    Small numbers are about what was asked; from 64 on, those of `sysexits.h` are about the program
    and the machine, and from 128 on, as in a shell, about a signal.
    """

    FINE = 0
    """Done, and nothing is wrong."""

    VIOLATED = 1
    """Something is violated: a property, a deadline, the rules of a schedule, an expected count,
    a layout.
    """

    BAD_INPUT = 2
    """What was given cannot be used; the message names file, line or field."""

    UNDECIDED = 3
    """A limit was reached before the answer was known."""

    MODEL_FAILED = 4
    """The model's own code raised an exception, or a message server of it does not end."""

    RESERVATION = 5
    """A verdict with a reservation that matters: what was left out may decide it."""

    INTERNAL_ERROR = 70
    """A mistake of this program."""

    NOT_WRITTEN = 74
    """Output could not be written, for example because the disk is full."""

    WORKER_KILLED = 75
    """A worker process was killed; finished cells are kept."""

    INTERRUPTED = 130
    """Ctrl-C."""

    CLOSED_PIPE = 141
    """Who read the output has stopped to, as `head` does; nothing is said."""

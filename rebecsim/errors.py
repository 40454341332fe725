"""Errors whose cause is outside rebecsim, such as wrong input or a killed worker."""


class UserError(Exception):
    """Bad input: the text names the place and says what to do. Programs exit with code 2."""


class ArgumentError(UserError):
    """A wrong argument of a function; a command says the same of its option.

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

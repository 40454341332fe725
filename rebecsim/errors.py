"""Errors whose cause is outside rebecsim, such as wrong input or a killed worker."""


class UserError(Exception):
    """Bad input: the text names the place and says what to do. Programs exit with code 2."""


class WorkerKilledError(Exception):
    """Who did the work has ended before it was done; the text says how to go on."""

    def __init__(
        self,
        how_to_go_on: str = "go on with --resume",
        what: str = "a worker process was killed, perhaps because memory ran out",
    ) -> None:
        super().__init__(f"{what}; finished cells are kept: {how_to_go_on}")

"""What can go wrong that is no mistake of this program."""


class UserError(Exception):
    """Bad input: the text names the place and says what to do. Programs exit with code 2."""


class WorkerKilledError(Exception):
    """A worker process has ended before its work was done; the text says how to go on."""

    def __init__(self, how_to_go_on: str = "go on with --resume") -> None:
        super().__init__(
            "a worker process was killed, as the system does when memory runs out; "
            f"what is finished is kept: {how_to_go_on}"
        )

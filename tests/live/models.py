"""Small models in Python for the tests of live runs."""

from __future__ import annotations

import threading

from rebecsim.actors import (
    Instance,
    Int,
    Model,
    Rebec,
    known_rebec,
    message_server,
    require,
    state_variable,
)

RELEASE = threading.Event()
"""Lets the message server go on that waits outside of Python."""


class Writer(Rebec, queue_size=3):
    """Writes its number into the register, once or again and again."""

    register: Register = known_rebec()

    def __init__(self, number: int) -> None:
        self.write(number)

    @message_server
    def write(self, number: int) -> None:
        self.register.put(number)


class Register(Rebec, queue_size=9):
    """Remembers in which order it was written."""

    history: int = state_variable(Int)

    @message_server
    def put(self, number: int) -> None:
        self.history = 10 * self.history + number


def writers(count: int, *, core: bool = False) -> Model:
    """Several writers that race for one register."""
    return Model(
        "writers",
        (
            Instance("register", Register),
            *(
                Instance(f"w{number}", Writer, ["register"], [number])
                for number in range(1, count + 1)
            ),
        ),
        core,
    )


class Station(Rebec, queue_size=300):
    """Passes tokens on around a ring, counting them."""

    next: Station = known_rebec()
    served: int = state_variable(Int)

    def __init__(self, tokens: int, hops: int) -> None:
        for _ in range(tokens):
            self.token(hops - 1)

    @message_server
    def token(self, left: int) -> None:
        self.served += 1
        if left > 0:
            self.next.token(left - 1)


def ring(stations: int, messages: int, *, core: bool = False) -> Model:
    """A ring in which every station starts a token; so many messages are served in all."""
    return Model(
        "ring",
        tuple(
            Instance(
                f"s{number}",
                Station,
                [f"s{(number + 1) % stations}"],
                [1, messages // stations],
            )
            for number in range(stations)
        ),
        core,
    )


class Troublemaker(Rebec, queue_size=3):
    """Does what a message server should not do."""

    count: int = state_variable(Int)

    def __init__(self, trouble: str) -> None:
        self.begin(trouble)

    @message_server
    def begin(self, trouble: str) -> None:
        self.count += 1
        match trouble:
            case "raise":
                raise KeyError(trouble)
            case "loop":
                while True:
                    self.count += 1
            case "block":
                RELEASE.wait(60)
            case "flood":
                while True:
                    self.begin("quiet")
            case "assert":
                require(self.count > 1, "count > 1")
            case "late":
                self.begin("quiet", deadline=3)
                self.delay(5)
            case "elsewhere":
                errors: list[Exception] = []
                thread = threading.Thread(target=self._begin_into, args=(errors,))
                thread.start()
                thread.join()
                raise errors[0]

    def _begin_into(self, errors: list[Exception]) -> None:
        try:
            self.begin("quiet")
        except Exception as error:
            errors.append(error)


def troublemaker(trouble: str, bystanders: int = 0) -> Model:
    """A rebec that makes trouble, and others that have nothing to do with it."""
    return Model(
        "trouble",
        (
            Instance("culprit", Troublemaker, (), [trouble]),
            *(
                Instance(f"bystander{number}", Troublemaker, (), ["quiet"])
                for number in range(bystanders)
            ),
        ),
    )

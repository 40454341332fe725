from __future__ import annotations

import pytest

from rebecsim.actors import (
    Agenda,
    Instance,
    Int,
    Model,
    Rebec,
    RebecNamed,
    execute,
    message_server,
    ready,
    state_variable,
    steps,
)


class Walker(Rebec, queue_size=50):
    """Pokes others at times that depend on what it has seen, and is busy now and then."""

    seen: int = state_variable(Int)

    def __init__(self, number: int, *others: Walker) -> None:
        self.number = number
        self.others = others
        self.poke(after=number % 3)

    @message_server
    def poke(self) -> None:
        self.seen += 1
        if self.seen % 4 == 0:
            self.delay(2)
        if self.seen < 12:
            self.others[(self.number * self.seen) % len(self.others)].poke(after=self.seen % 3)
            if self.seen % 3 == 0:
                self.poke(after=1)


def model(rebecs: int) -> Model:
    names = [f"w{number}" for number in range(rebecs)]
    return Model(
        "walkers",
        tuple(
            Instance(name, Walker, (), (number, *map(RebecNamed, names)), priority=1 + number % 2)
            for number, name in enumerate(names)
        ),
    )


@pytest.mark.parametrize("priorities", [True, False])
@pytest.mark.parametrize("rebecs", [1, 2, 7, 30])
def test_it_always_answers_what_ready_answers(rebecs: int, priorities: bool) -> None:
    system = model(rebecs).start()
    agenda = Agenda(system)
    served = 0
    while True:
        expected = ready(system, priorities)
        assert agenda.ready(priorities) == expected
        if not expected[1]:
            break
        possible = steps(expected[1])
        step = possible[served * 7 % len(possible)]
        execute(system, step)
        agenda.served(step.rebec)
        served += 1
    assert served > 3 * rebecs

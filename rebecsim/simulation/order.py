"""The order in which messages of one time unit are served.

Which of them goes first is nobody's decision in a distributed system: results that depend on it
say something about the race and not about the policy. The orders other than `random` show how
far it matters, by resolving every race between a tick and the rest in one way.
"""

from __future__ import annotations

from typing import Literal, get_args

from rebecsim.actors import (
    ChoiceLaw,
    FifoScheduler,
    Message,
    RandomScheduler,
    RandomValues,
    RankedScheduler,
    Scheduler,
    Streams,
)

Order = Literal["random", "updates-first", "ticks-first", "fifo"]
ORDERS: tuple[Order, ...] = get_args(Order)


def scheduler_for(order: Order, tick: str, streams: Streams, choice_law: ChoiceLaw) -> Scheduler:
    """Make the scheduler of an order; `tick` names the message server that passes time.

    random: every order is equally likely. updates-first: a tick is served when nothing else is
    left at its time. ticks-first: a tick is served before everything else. fifo: in the order of
    sending. Values of choices are drawn at random in all of them, from the same streams.
    """

    def is_tick(message: Message) -> int:
        return message.server.name == tick

    def is_no_tick(message: Message) -> int:
        return message.server.name != tick

    match order:
        case "random":
            return RandomScheduler(streams, choice_law)
        case "updates-first":
            return RankedScheduler(streams, choice_law, is_tick)
        case "ticks-first":
            return RankedScheduler(streams, choice_law, is_no_tick)
        case "fifo":
            return FifoScheduler(RandomValues(streams, choice_law))

"""The orders of messages that scenarios name, of models in which a message server passes time.

In a distributed system nothing decides which message of one time unit is served first: results that
depend on it say something about the race and not about the policy. The orders other than `random`
show how far it matters, as each resolves every race between a tick and the rest in one way.
"""

from __future__ import annotations

from typing import Literal, get_args

from rebecsim.simulation import MessageOrder

Order = Literal["random", "updates-first", "ticks-first", "fifo"]
ORDERS: tuple[Order, ...] = get_args(Order)


def message_order(order: Order, tick: str | None) -> MessageOrder:
    """Give an order by its name; `tick` is the message server that passes time.

    random: every order is equally likely. updates-first: a tick is served when nothing else is
    left at its time. ticks-first: a tick is served before everything else. fifo: in the order of
    sending.
    """
    match order:
        case "updates-first":
            return MessageOrder(last=tick or "")
        case "ticks-first":
            return MessageOrder(first=tick or "")
    return MessageOrder(is_fifo=order == "fifo")

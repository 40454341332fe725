"""The loops of a network of flows: max-min fair rates, and what they lead to.

Flows that take the same links are one class, and all have the same rate. To find the rates, all of
them grow alike until a link is full, which is the one with the least capacity for each flow that is
not yet fixed; its flows keep their rate, and the others go on (progressive filling). What comes out
is the only allocation in which no flow could have more without another one that has no more than it
having less.

These are plain functions of sequences of numbers. `compiled_loops` has the same ones compiled: what
they give is the same to the last bit."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

LINKS_OF_PATH = 4
"""Places that each class has for its links; those that are left over hold -1."""


def fair_rates(
    classes: int,
    paths: Sequence[int],
    counts: Sequence[int],
    rates: MutableSequence[float],
    capacities: Sequence[float],
    left: MutableSequence[float],
    load: MutableSequence[int],
    used: MutableSequence[int],
    first: MutableSequence[int],
    members: MutableSequence[int],
) -> None:
    """Put the rate of a flow of each class into `rates`.

    `paths` holds `LINKS_OF_PATH` places for each class, `counts` how many flows it has. The other
    sequences are for working: `left`, `load`, `used` and `first` with a place for each link, `load`
    with zeros, as it is left; `members` with one for each place of `paths`.
    """
    links = 0
    for each in range(classes):
        rates[each] = -1.0
        for place in range(each * 4, each * 4 + 4):
            link = paths[place]
            if link >= 0:
                if load[link] == 0:
                    used[links] = link
                    links += 1
                    left[link] = capacities[link]
                    first[link] = 0
                load[link] += counts[each]
                first[link] += 1
    start = 0
    for which in range(links):  # start of the members of each link
        link = used[which]
        size = first[link]
        first[link] = start
        start += size
    for each in range(classes):
        for place in range(each * 4, each * 4 + 4):
            link = paths[place]
            if link >= 0:
                members[first[link]] = each
                first[link] += 1  # afterwards their end
    while links > 0:
        tightest = used[0]
        share = left[tightest] / load[tightest]
        for which in range(1, links):
            link = used[which]
            other = left[link] / load[link]
            if other < share or (other == share and link < tightest):
                share = other
                tightest = link
        member = first[tightest]
        missing = load[tightest]
        while missing > 0:
            member -= 1
            each = members[member]
            if rates[each] < 0.0:
                rates[each] = share
                missing -= counts[each]
                for place in range(each * 4, each * 4 + 4):
                    link = paths[place]
                    if link >= 0:
                        left[link] = max(left[link] - share * counts[each], 0.0)
                        load[link] -= counts[each]
        kept = 0
        for which in range(links):
            if load[used[which]] > 0:
                used[kept] = used[which]
                kept += 1
        links = kept


def go_on(
    elapsed: float,
    classes: int,
    paths: Sequence[int],
    counts: Sequence[int],
    rates: Sequence[float],
    served: MutableSequence[float],
    carried: MutableSequence[float],
) -> None:
    """Let time pass: what each flow of a class has been served, and what links have carried."""
    for each in range(classes):
        sent = elapsed * rates[each]
        served[each] += sent
        sent *= counts[each]
        for place in range(each * 4, each * 4 + 4):
            link = paths[place]
            if link >= 0:
                carried[link] += sent


def next_end(
    classes: int, served: Sequence[float], heads: Sequence[float], rates: Sequence[float]
) -> float:
    """Give after what time the first flow ends; -1: there is none."""
    least = -1.0
    for each in range(classes):
        missing = (heads[each] - served[each]) / rates[each]
        if least < 0.0 or missing < least:
            least = max(missing, 0.0)
    return least


def ending(
    instant: float,
    classes: int,
    served: Sequence[float],
    heads: Sequence[float],
    rates: Sequence[float],
    found: MutableSequence[int],
) -> int:
    """Put the classes of which a flow ends within an instant into `found`, and say how many."""
    number = 0
    for each in range(classes):
        if heads[each] - served[each] <= rates[each] * instant:
            found[number] = each
            number += 1
    return number

"""Max-min fair rates by progressive filling.

Flows that take the same links are one class, and all have the same rate. All rates grow alike
until a link is full, which is the one with the least capacity for each flow that is not yet fixed;
its flows keep their rate, and the others go on. What comes out is the only allocation in which no
flow could have more without another one that has no more than it having less.

The function is plain Python over sequences of numbers, and can be compiled (`flows`).
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

LINKS_OF_PATH = 4
"""Places that each class has for its links; those that are left over hold -1."""


def fill(
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
    sequences are for working: `left`, `load` and `first` with a place for each link, `load` with
    zeros, as it is left; `used` with one for each link, `members` with one for each of `paths`.
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
    for which in range(links):  # where the members of each link begin
        link = used[which]
        size = first[link]
        first[link] = start
        start += size
    for each in range(classes):
        for place in range(each * 4, each * 4 + 4):
            link = paths[place]
            if link >= 0:
                members[first[link]] = each
                first[link] += 1  # and now, where they end
    while links > 0:
        tightest = 0
        share = left[used[0]] / load[used[0]]
        for which in range(1, links):
            link = used[which]
            other = left[link] / load[link]
            if other < share or (other == share and link < used[tightest]):
                share = other
                tightest = which
        link = used[tightest]
        end = first[link]
        begin = end
        todo = load[link]
        while todo > 0:
            begin -= 1
            each = members[begin]
            if rates[each] >= 0.0:
                continue
            rates[each] = share
            todo -= counts[each]
            for place in range(each * 4, each * 4 + 4):
                other_link = paths[place]
                if other_link >= 0:
                    left[other_link] = max(left[other_link] - share * counts[each], 0.0)
                    load[other_link] -= counts[each]
        kept = 0
        for which in range(links):
            if load[used[which]] > 0:
                used[kept] = used[which]
                kept += 1
        links = kept

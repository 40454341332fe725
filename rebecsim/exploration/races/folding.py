"""Find groups of races that differ only by an exchange of interchangeable rebecs."""

from __future__ import annotations

from collections.abc import Sequence

from rebecsim.exploration.races.result import Contender, RaceGroup
from rebecsim.exploration.states.transitions import TransitionSystem
from rebecsim.exploration.symmetry import symmetries


def alike(system: TransitionSystem, groups: Sequence[RaceGroup]) -> tuple[tuple[int, ...], ...]:
    """Put groups together, by their places, that some symmetry of the model takes to each other."""
    names = [str(rebec) for rebec in system.runner.rebecs]
    exchanges = [
        {name: names[image] for name, image in zip(names, renaming.images, strict=True)}
        for renaming in symmetries(system)
    ]
    found: dict[tuple[object, ...], list[int]] = {}
    for place, group in enumerate(groups):
        images = min(
            sorted(_renamed(each, exchange) for each in group.contenders) for exchange in exchanges
        )
        found.setdefault((group.kind, *images), []).append(place)
    return tuple(map(tuple, found.values()))


def _renamed(contender: Contender, exchange: dict[str, str]) -> Contender:
    sender = exchange.get(contender.sender, contender.sender)  # it may be nobody
    return Contender(exchange[contender.rebec], contender.server, sender)

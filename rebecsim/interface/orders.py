"""The best, the worst and the mean over all orders of messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

from rebecsim.actors import ChoiceLaw
from rebecsim.errors import UserError
from rebecsim.exploration import Limits, Path, Progress
from rebecsim.exploration.orders import GOALS, ExactOrders, Goal, exact_orders, quantities_of
from rebecsim.files import write_json
from rebecsim.interface.exploring import MINUTE, warn_of_minute
from rebecsim.interface.loading import AnyModel, Texts, as_loaded, texts
from rebecsim.interface.shown import Shown, Tabular, grouped_parts

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Group


@dataclass(frozen=True)
class Exact(Shown, Tabular):
    """What all orders of the messages of a model come to.

    Attributes:
        orders: all that was found.
    """

    orders: ExactOrders

    @property
    def until(self) -> int:
        """The time up to which it holds; less than was asked for where a limit was reached."""
        return self.orders.until

    def __getitem__(self, text: str) -> dict[Goal, float]:
        """Give the values of a quantity by its expression; that of violations is "goes wrong".

        Raises UserError if it was not asked for.
        """
        value = self.orders.values[self._place(text)]
        return {goal: value[goal] for goal in GOALS}

    def run(self, text: str, goal: Goal, seed: int = 0) -> Path:
        """Give a run in which messages are picked so that a quantity comes to its goal.

        What the model chooses is drawn from the seed. Raises UserError for an unknown quantity.
        """
        return self.orders.run(self._place(text), goal, seed)

    def save_run(self, path: str | File, text: str, goal: Goal, seed: int = 0) -> None:
        """Write such a run, for `rebecsim simulate --replay`.

        Raises UserError for an unknown quantity, and for runs that go on after a missed deadline,
        OSError.
        """
        run = self.run(text, goal, seed).run
        if run is None:
            raise UserError(
                "`simulate` always checks deadlines, so it cannot replay this run; "
                "leave out `--no-deadlines`"
            )
        write_json(File(path), run.to_json())

    def to_json(self) -> dict[str, Any]:
        """Give all values as plain ones."""
        return self.orders.to_json()

    def to_arrow(self) -> pa.Table:
        """Give a row for each quantity."""
        import pyarrow as pa

        return pa.Table.from_pylist([each.to_json() for each in self.orders.values])

    def __rich__(self) -> Group:
        """Give the report of `rebecsim exact`."""

        from rebecsim.report.verdicts import exact_parts

        return grouped_parts(exact_parts(self.orders))

    def __repr__(self) -> str:
        return f"<Exact {self.orders.model}: up to time {self.until}>"

    def _place(self, text: str) -> int:
        names = [each.quantity.text or each.quantity.kind for each in self.orders.values]
        if text not in names:
            raise UserError(f"{text!r} was not requested; there are {', '.join(names)}")
        return names.index(text)


def exact(
    model: AnyModel,
    *,
    until: int,
    rewards: Texts = (),
    finals: Texts = (),
    reach: Texts = (),
    goes_wrong: bool = False,
    law: ChoiceLaw = "fair",
    deadlines: bool = True,
    limits: Limits | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Exact:
    """Find the least, the mean and the most that all orders of messages can come to.

    Args:
        model: a loaded model, one in Python, or the path of one.
        until: the model time up to which messages are served.
        rewards: numbers, such as "ann.tickets": by how much each increases in a run.
        finals: numbers: the value of each at the end of a run.
        reach: conditions: the probability that each is ever true.
        goes_wrong: whether the probability of a violation is asked for.
        law: how choices are drawn.
        deadlines: whether a missed deadline ends a run; else it is served.
        limits: where to stop, after a minute unless given; then the values are those of a shorter
            time.
        progress: is told how far the search is.

    Raises UserError or RebecaError for what does not fit the model, or a model in which time need
    not advance, EndlessError for a message server that does not end.

    >>> found = rs.exact("ticket_service.rebeca", until=12, reach="ann.tickets == 2")
    >>> found["ann.tickets == 2"]
    {'minimum': 0.671875, 'expected': 0.80078125, 'maximum': 0.921875}
    """
    loaded = as_loaded(model)
    found = exact_orders(
        loaded.model,
        quantities_of(texts(rewards), texts(finals), texts(reach), goes_wrong),
        until,
        checked=loaded.checked,
        law=law,
        deadlines=deadlines,
        limits=limits or MINUTE,
        progress=progress,
    )
    if limits is None and found.bound is not None:
        warn_of_minute(loaded, [found.bound])
    return Exact(found)

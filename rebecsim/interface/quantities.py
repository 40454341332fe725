"""Figures over all orders of messages, and probabilities estimated from random runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as File
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from rebecsim.actors import ChoiceLaw
from rebecsim.clusters.kinds import executor_with_plugins
from rebecsim.clusters.model.chances import (
    Chance,
    ChanceQuestion,
    Chances,
    Effort,
    RareChance,
    RareQuestion,
    chances,
    looks_of,
    rare_chance,
    repetitions,
    walks_of,
)
from rebecsim.errors import ArgumentError, UserError
from rebecsim.exploration import Limits, Path, Progress
from rebecsim.exploration.orders import (
    GOALS,
    ExactOrders,
    Goal,
    Levels,
    exact_orders,
    quantities_of,
)
from rebecsim.files import write_json
from rebecsim.interface.exploring import MINUTE, warn_of_minute
from rebecsim.interface.loading import AnyModel, Texts, as_loaded, texts
from rebecsim.interface.shown import Shown, Tabular, grouped_parts
from rebecsim.native.engines import Engine
from rebecsim.studies.estimates import Proportion, require_level
from rebecsim.studies.executors import available_workers, simulation_modules

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Group


@dataclass(frozen=True)
class Exact(Shown, Tabular):
    """What all orders of the messages of a model come to.

    Attributes:
        orders: all that was found.

    >>> print(rs.exact("ticket_service.rebeca", until=12, reach="ann.tickets == 2"))
    ticket_service up to time 12: ...
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


class RunsDrawn(TypedDict, total=False):
    """How runs are drawn, and by how many processes; the result does not depend on these.

    Attributes:
        law: how choices are drawn, "fair" unless given.
        deadlines: whether a missed deadline ends a run, as it does unless told otherwise.
        seed: of all that is drawn, 0 unless given.
        workers: processes, one unless given; None: one per processor.
    """

    law: ChoiceLaw
    deadlines: bool
    seed: int
    workers: int | None


def _law_deadlines_seed(drawn: RunsDrawn) -> tuple[ChoiceLaw, bool, int]:
    return drawn.get("law", "fair"), drawn.get("deadlines", True), drawn.get("seed", 0)


@dataclass(frozen=True)
class Estimated(Shown, Tabular):
    """How likely things are in runs of a model.

    Attributes:
        chances: all that was found.

    >>> print(rs.estimate("ticket_service.rebeca", until=12, goes_wrong=True, error=0.05))
    ticket_service up to time 12, to within 0.05
    ...
    """

    chances: Chances

    def __getitem__(self, text: str) -> Proportion:
        """Give a probability by its condition; that of violations is "goes wrong".

        Raises UserError if it was not asked for.
        """
        found: dict[str, Chance] = {}
        for each in self.chances.each:
            found[each.question.quantity.text or each.question.quantity.kind] = each
        if text not in found:
            raise UserError(f"{text!r} was not requested; there are {', '.join(found)}")
        return found[text].found

    def to_json(self) -> dict[str, Any]:
        """Give all values as plain ones."""
        return self.chances.to_json()

    def to_arrow(self) -> pa.Table:
        """Give a row for each probability."""
        import pyarrow as pa

        return pa.Table.from_pylist([each.to_json() for each in self.chances.each])

    def __rich__(self) -> Group:
        """Give the report of `rebecsim estimate`."""

        from rebecsim.report.verdicts import chance_parts

        found = self.chances
        return grouped_parts(chance_parts(found.heading, found.rows, found.level))

    def __repr__(self) -> str:
        return f"<Estimated {self.chances.model}: up to time {self.chances.question.until}>"


def estimate(
    model: AnyModel,
    *,
    until: int,
    reach: Texts = (),
    goes_wrong: bool = False,
    error: float = 0.01,
    level: float = 0.95,
    max_runs: int | None = None,
    engine: Engine = "auto",
    progress: Callable[[int], None] = lambda runs: None,
    **drawn: Unpack[RunsDrawn],
) -> Estimated:
    """Estimate probabilities up to a time from runs in which orders and choices are drawn.

    Args:
        model: a loaded model, one in Python, or the path of one.
        until: the model time up to which messages are served.
        reach: conditions: the probability that each is ever true.
        goes_wrong: whether the probability of a violation is asked for.
        error: run until no end of the interval is farther from the estimate.
        level: the least probability that the interval covers the truth.
        max_runs: the most runs for each probability; the interval is right, if wider.
        engine: what runs the model; the results are the same.
        progress: is told how many runs are done.
        drawn: `law`, how choices are drawn ("fair"); `deadlines`, whether a missed one ends a run
            (True); `seed` of all that is drawn (0); `workers`, processes (1; None: one per
            processor), on which the result does not depend.

    Raises UserError or RebecaError for what does not fit the model, or a model in which time need
    not advance, EndlessError for a message server that does not end.

    >>> sold = "ann.tickets == 2"
    >>> found = rs.estimate("ticket_service.rebeca", until=12, reach=sold, error=0.05)
    >>> found[sold]
    Proportion(hits=543, runs=680, low=0.756..., high=0.836...)
    """
    workers = drawn.get("workers", 1) or available_workers()
    law, deadlines, seed = _law_deadlines_seed(drawn)
    quantities = quantities_of((), (), texts(reach), goes_wrong)
    if not quantities:
        raise ArgumentError("reach", "name at least one probability to estimate")
    looks = looks_of(error, level, max_runs)
    source = as_loaded(model).source(workers)
    questions = [
        ChanceQuestion(source, each, until, law, deadlines, seed, engine) for each in quantities
    ]
    with executor_with_plugins(workers, simulation_modules(engine)) as executor:
        return Estimated(chances(questions, looks, level, executor, progress))


@dataclass(frozen=True)
class EstimatedRare(Shown):
    """How likely something rare is in runs of a model.

    Attributes:
        chance: the probability with its interval, and what every repetition came to.

    >>> splits = dict(split="ann.tickets", at=[1], reach="ann.tickets == 1")
    >>> print(rs.rare("ticket_service.rebeca", until=12, **splits, repeat=2, per_level=20))
    split where ann.tickets comes to 1: 2 times, 20 runs on each level
    ...
    """

    chance: RareChance

    def to_json(self) -> dict[str, Any]:
        """Give all values as plain ones."""
        return self.chance.to_json()

    def __rich__(self) -> Group:
        """Give the report of `rebecsim estimate --split`."""

        from rebecsim.report.verdicts import chance_parts

        found = self.chance
        return grouped_parts(chance_parts(found.heading, [(found.quantity, found)], found.level))

    def __repr__(self) -> str:
        return f"<EstimatedRare {self.chance.quantity}: {self.chance.value:.4g}>"


def rare(
    model: AnyModel,
    *,
    until: int,
    split: str,
    at: Sequence[float],
    reach: str | None = None,
    per_level: int = 200,
    repeat: int = 30,
    level: float = 0.95,
    **drawn: Unpack[RunsDrawn],
) -> EstimatedRare:
    """Estimate how likely something rare is, by going on with runs that come near to it.

    Args:
        model: a loaded model, one in Python, or the path of one.
        until: the model time up to which messages are served.
        split: a number that says how near a run is, such as "server.waiting".
        at: the values of it at which runs are split, increasing.
        reach: the condition; without one, that a violation ends the run.
        per_level: runs on each level.
        repeat: how often all is done, for the interval.
        level: about the probability that the interval covers the truth.
        drawn: `law`, `deadlines`, `seed` and `workers`, as for `estimate`. Several workers are
            for models that were loaded from a file or a text.

    Raises UserError or RebecaError for what does not fit the model, or a model in which time need
    not advance, EndlessError for a message server that does not end.

    >>> splits = dict(split="ann.tickets", at=[1, 2], reach="ann.tickets == 2")
    >>> rs.rare("ticket_service.rebeca", until=12, **splits, repeat=5, per_level=50)
    <EstimatedRare reached: ann.tickets == 2: 0.788>
    """
    loaded = as_loaded(model)
    quantity = quantities_of((), (), () if reach is None else (reach,), reach is None)[0]
    require_level(level)
    levels = Levels(split, tuple(at))
    law, deadlines, seed = _law_deadlines_seed(drawn)
    effort = Effort(repeat, per_level, seed)
    workers = min(drawn.get("workers", 1) or available_workers(), repeat)
    question = RareQuestion(loaded.source(workers), quantity, levels, until, law, deadlines)
    walks = walks_of(question)  # raises errors before processes are started
    if workers > 1 and loaded.checked is None:  # see what it draws from in this process, too
        walks.estimate(effort.runs, effort.seed, 0)
    with executor_with_plugins(workers, (repetitions.__module__,)) as executor:
        each = repetitions(question, effort, executor)
    return EstimatedRare(replace(rare_chance(each, quantity, levels, effort, level), cut=walks.cut))

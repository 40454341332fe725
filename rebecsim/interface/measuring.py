"""Measuring queues of a model: waits, service times, queue lengths, utilisation, throughput."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp, isfinite
from typing import TYPE_CHECKING, Any, Literal

from rebecsim.actors import key_of
from rebecsim.errors import ArgumentError
from rebecsim.interface.loading import AnyModel, Texts, as_loaded, texts
from rebecsim.interface.shown import Shown
from rebecsim.native.engines import Engine
from rebecsim.studies.estimates import Estimate, require_level, student_estimate

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Measures(Shown):
    """What was measured, each with its confidence interval.

    Attributes:
        of: by what was measured and the name of the measure: wait, service, queue, utilisation,
            throughput.
        warm_up: the time, in model time units, up to which runs were left out, the latest of all.
        runs: how many there were.
        until: their last time.

    >>> found = rs.measure("ticket_service.rebeca", "office.buy", until=1000, runs=2)
    >>> found["office.buy"]["service"].value
    1.5...
    """

    of: Mapping[str, Mapping[str, Estimate]]
    warm_up: float
    runs: int
    until: int

    def __getitem__(self, text: str) -> Mapping[str, Estimate]:
        return self.of[text]

    def to_json(self) -> dict[str, Any]:
        """Give all values as plain ones."""
        values = {
            text: {name: [each.value, each.low, each.high] for name, each in found.items()}
            for text, found in self.of.items()
        }
        return {"warm_up": self.warm_up, "runs": self.runs, "until": self.until, "of": values}

    def __rich__(self) -> Table:
        """Give a row for each measure."""
        from rich.table import Column, Table

        shown = f"Runs: {self.runs}. Left out as warm-up: up to time {self.warm_up:,g}."
        if self.warm_up > 0.45 * self.until:
            shown += " That is nearly half of each run: run longer."
        level = next(each.level for found in self.of.values() for each in found.values())
        figures = (
            Column(each, justify="right") for each in ("Mean", f"{100 * level:g} % interval")
        )
        table = Table(
            "Of", "Measure", *figures, box=None, title=shown, title_justify="left", title_style=""
        )
        for text, found in self.of.items():
            for name, each in found.items():
                interval = f"{each.low:,.4g} to {each.high:,.4g}"
                table.add_row(text, name, f"{each.value:,.4g}", interval)
        return table

    def __repr__(self) -> str:
        return f"<Measures of {', '.join(self.of)}: {self.runs} runs>"


def measure(
    model: AnyModel,
    servers: Texts,
    *,
    until: int,
    runs: int = 10,
    seed: int = 0,
    warm_up: int | Literal["mser5"] = "mser5",
    level: float = 0.95,
    engine: Engine = "auto",
) -> Measures:
    """Measure message servers, or servers of `rebecsim.lib`, in runs of a model.

    Args:
        model: a loaded model, one in Python, or the path of one.
        servers: message servers, such as "office.buy", or rebecs that count customers in the
            variables `waiting` and `busy`, such as "counter".
        until: the last time, in model time units, at which messages are served.
        runs: how many; of a single one, intervals come from 20 equal parts of it.
        seed: of everything that is drawn.
        warm_up: the time up to which runs are left out; "mser5" finds it, a tenth at least.
        level: how likely intervals cover the truth.
        engine: what runs the model; the results are the same.

    Raises UserError for names and arguments that do not fit, a warm-up as long as the runs, and
    runs that end in a violation.

    >>> print(rs.measure("ticket_service.rebeca", "office.buy", until=1000)["office.buy"]["queue"])
    Estimate(...)
    """
    import numpy as np

    from rebecsim.native.layout import native_model
    from rebecsim.simulation import measuring
    from rebecsim.simulation.montecarlo import native_for, require_checked

    loaded = as_loaded(model)
    wanted = [measuring.measured_of(loaded.model, each) for each in texts(servers)]
    if not wanted:
        raise ArgumentError("servers", "name at least one message server or rebec")
    for name, value in (("runs", runs), ("until", until)):
        if value < 1:
            raise ArgumentError(name, f"it must be at least 1, not {value}")
    require_level(level)
    native = None
    if loaded.checked is not None or engine == "native":
        checked = require_checked(loaded.checked, loaded.against)
        native = native_for(engine, runs * until, lambda: native_model(loaded.model, checked))
    found = list(measuring.courses(loaded.model, native, wanted, key_of(seed), runs, until))
    if warm_up == "mser5":
        begins = measuring.warm_ups(found, until)
    elif 0 <= warm_up < until:
        begins = [warm_up] * runs
    else:
        raise ArgumentError("warm_up", f"it must be from 0 to below {until}, not {warm_up}")
    parts = 1 if runs > 1 else measuring.BATCHES
    spans = [np.linspace(begin, until, parts + 1) for begin in begins]
    estimates = {}
    for at, each in enumerate(wanted):
        pairs = zip(found, spans, strict=True)
        rows = [measuring.measures(run[at].until(span), span, each.servers) for run, span in pairs]
        estimates[each.text] = _estimates(np.concatenate(rows, axis=2), level)
    return Measures(estimates, max(begins), runs, until)


def _estimates(parts: Any, level: float) -> dict[str, Estimate]:
    """Give ratios of sums over parts, by the jackknife, which is all but free of their bias.

    Waits are skewed: intervals are Student's of the logarithm. (Miller, "The jackknife", Biometrika
    61, 1974, which advises to stabilise the variance so.)
    """
    import numpy as np

    from rebecsim.simulation.measuring import MEASURES

    found = {}
    count = parts.shape[2]
    for name, above, below in zip(MEASURES, *parts, strict=True):
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = above.sum() / below.sum()
            others = (above.sum() - above) / (below.sum() - below)
        each = count * ratio - (count - 1) * others
        mean = float(each.mean()) if count > 1 and each.mean() > 0 else float(ratio)
        error = float(each.std(ddof=1)) / count**0.5 if count > 1 else float("nan")
        most = 1.0 if name == "utilisation" else float("inf")
        plain = student_estimate(mean, error, max(count - 1, 1), level, (0, most))
        half = plain.half_width
        if mean > 0 and half is not None and isfinite(half):
            high = mean * exp(min(half / mean, 99.0))
            plain = replace(plain, low=mean * exp(-half / mean), high=max(min(high, most), mean))
        found[name] = plain
    return found

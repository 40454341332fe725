"""Results of explorations, exact analyses and estimates: words, tables, plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from rich.table import Column, Table

from rebecsim.actors.values import change_texts
from rebecsim.distributions import values_tried
from rebecsim.exploration import Ends, Path, PathStep, PropertyVerdict, Result, step_to_json
from rebecsim.report.messages import MessageRow, MessageTable
from rebecsim.wording import counted

if TYPE_CHECKING:
    from rebecsim.exploration.orders import ExactOrders, Quantity

_MOST_NAMES = 5
_MOST_STEPS = 20
_RAISED_BY = (("states", "--max-states"), ("seconds", "--max-time"), ("memory", "--max-memory"))


def result_parts(result: Result, verbose: bool = False) -> Iterator[str | MessageTable]:
    """The answer, every counterexample as a table, and warnings.

    Time, memory and counts of the search come last, if they are wanted.
    """
    yield from result_lines(result)
    for number, violated in enumerate(result.violations):
        yield ""
        if number or violated.count > 1:
            times = "" if violated.count == 1 else f" ({violated.count:,} times)"
            yield f"{_what(violated.verdict, violated.message)}{times}"
        if violated.path is not None:
            yield path_table(violated.path) if violated.path.steps else "in the initial state"
            if violated.path.loop is not None:
                yield violated.path.loop_text
    yield from standstill_lines(result)
    if verbose:
        yield _figures(result)


def result_to_json(result: Result) -> dict[str, Any]:
    """The verdict, the figures and the counterexamples as plain values."""
    return {
        **result.to_json(),
        "standstill": standstill_to_json(result.standstill),
        "transitions_counted_as": "edges explored, and one for the initial state",
        "properties": [
            each.to_json() | {"run": None if each.run is None else path_to_json(each.run)}
            for each in result.properties
        ],
        "violations": [
            {
                "verdict": violated.verdict,
                "message": violated.message,
                "count": violated.count,
                "path": None if violated.path is None else path_to_json(violated.path),
            }
            for violated in result.violations
        ],
    }


def result_lines(result: Result) -> list[str]:
    """The answer, and what it rests on, one fact a line."""
    lines = [f"{result.model}: {_answer(result)}", *_looked_for(result), *_how_runs_end(result)]
    if result.is_violation and result.frontier:
        lines.append(
            f"The search stopped there, after {_effort(result)}; "
            f"{counted(result.frontier, 'state')} not expanded."
        )
    lines += _seen(result)
    lines += _to_try(result)
    lines += map(_property_line, formulas(result))
    if result.hidden_in_delays and not result.is_violation:
        texts = ", ".join(result.hidden_in_delays)
        lines.append(f"Not looked at during a delay, as `--tts` does: {texts}")
    lines += [f"Not evaluated, so undecided: {each}" for each in result.not_evaluated]
    if result.omission:
        lines.append(
            f"States were compared by fingerprints: with a probability of at most "
            f"{result.omission:.1g} some were missed."
        )
    lines += result.cut
    if result.abstraction:
        lines.append(f"Left out of the state: {', '.join(result.abstraction)}")
    if result.absolute_time is not None:
        lines.append(f"States at different times count as different: {result.absolute_time}")
    return lines


def _answer(result: Result) -> str:
    if result.is_violation:
        return _what(result.verdict, result.message)
    if result.verdict == "undecided":
        return f"undecided: {result.message}{'; no violation so far' if result.states else ''}"
    without = f" without {', '.join(map(str, result.deciding))}" if result.deciding else ""
    return f"no violation in any order{without}: {_effort(result)}"


def _what(verdict: str, message: str) -> str:
    return f"{verdict}: {message}" if message else verdict


def _effort(result: Result) -> str:
    return f"{counted(result.states, 'state')}, {result.seconds:.2f} s"


def _looked_for(result: Result) -> list[str]:
    """Say what counted as a violation, and how to add a property if none was given."""
    if result.is_violation or not result.looked_for:
        return []
    kinds = list(result.looked_for)
    if result.given_properties:
        kinds.append(counted(result.given_properties, "given property", "given properties"))
        return [f"Looked for: {', '.join(kinds)}."]
    return [
        f"Looked for: {', '.join(kinds)}.",
        "No property was given. `--invariant CONDITION` or `--property FILE` adds one.",
    ]


def _how_runs_end(result: Result) -> list[str]:
    ends = result.ends
    if ends is None or result.message != ends.text:
        return []
    text = f"{ends.text[0].upper()}{ends.text[1:]}."
    return [text, *_ends_hint(ends)]


def _seen(result: Result) -> list[str]:
    """Say what an unfinished search has covered."""
    if result.depth is None:
        return []
    time = "" if result.time is None else f", time {result.time:,}"
    return [
        f"Seen so far: {counted(result.states, 'state')} and {_transitions(result.transitions)}; "
        f"{counted(result.frontier, 'state')} left to expand; depth {result.depth:,}{time}."
    ]


def _to_try(result: Result) -> list[str]:
    """Say why a search grows, and what may make it end."""
    ways = [f"a larger `{option}`" for bound, option in _RAISED_BY if bound in result.bounds]
    if not ways:
        return []
    lines = []
    if result.growing:
        names = result.growing
        shown = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
        lines.append(f"Always new values, so the search may have no end: {shown}")
        variable = next((name for name in names if " " not in name), None)
        if variable is not None and result.absolute_time is None:
            ways.append(f"`--ignore {variable}`")
        if result.mode != "core" and "horizon" not in result.bounds:
            ways.append("`--horizon TIME`")
    else:
        ways.append("`--strategy depth`")
    return [*lines, f"Try {', or '.join(ways)}."]


def _figures(result: Result) -> str:
    rate = result.states / result.seconds if result.seconds > 0 else 0.0
    return (
        f"{result.mode}: {counted(result.states, 'state')}, {_transitions(result.transitions)}, "
        f"{result.seconds:.2f} s on the {result.engine} engine, {rate:,.0f} states/s, "
        f"{result.peak_memory / 1e6:,.0f} MB at most, {result.memory_per_state:,.0f} bytes a state"
    )


def formulas(result: Result) -> list[PropertyVerdict]:
    """Give the verdicts on formulas."""
    return [each for each in result.properties if each.kind != "assertion"]


def _property_line(each: PropertyVerdict) -> str:
    line = f"{each.kind.upper()} {each.name} ({each.mode}): {each.verdict}"
    return f"{line}: {each.note}" if each.note else line


def _ends_hint(ends: Ends) -> list[str]:
    """Say how to ask for runs that do not end, where they need not."""
    if ends.every_run:
        return []
    length = _transitions(len(ends.path))
    return [
        f"If no run should end, `--deadlock` shows one that does ({length}).",
        "`--terminal CONDITION` says how a run may end.",
    ]


def standstill_lines(result: Result) -> list[str]:
    """Warn of a cycle without time, step by step, or say why it is not known if there is one."""
    found = result.standstill
    if found is None:
        if result.standstill_decided:
            return []
        why = "fingerprints cannot tell" if result.omission else "a limit was reached before"
        return [f"Whether time always advances is undecided: {why}."]
    before = found.loop or 0
    steps = found.repeated
    who = ", ".join(dict.fromkeys(f"{step.rebec}.{step.server}" for step in steps))
    begins = f"after {_transitions(before)}" if before else "in the initial state"
    return [
        f"warning: time need not advance. {who} can repeat for ever at one time, in a cycle of "
        f"{_transitions(len(steps))} that begins {begins}:",
        *(f"  {step}" for step in steps[:_MOST_STEPS]),
        *(["  ..."] if len(steps) > _MOST_STEPS else []),
    ]


def _transitions(number: int) -> str:
    return counted(number, "transition")


def standstill_to_json(found: Path | None) -> dict[str, Any] | None:
    """Give a cycle without time as plain values: the path once around it; where it begins."""
    return None if found is None else {"before": found.loop, "path": path_to_json(found)}


def path_table(path: Path) -> MessageTable:
    """One row for each step: when, who to whom, with what, which choices, what it changed."""
    rows = [_row(number, step) for number, step in enumerate(path.steps, 1)]
    before = ["Step", "Time"]
    if path.mode == "core":  # there is no time
        before = ["Step"]
        rows = [row._replace(before=row.before[:1]) for row in rows]
    return MessageTable(before, rows, ends_wrong=path.goes_wrong_at_last)


def _row(number: int, step: PathStep) -> MessageRow:
    if step.kind == "time":
        return MessageRow((str(number), str(step.time)), "", "(time passes)", "", "", ())
    time = str(step.time)
    if step.finished is not None and step.finished > step.time:
        time += f"-{step.finished}"
    resumed = " (goes on)" if step.kind == "resume" else ""
    return MessageRow(
        (str(number), time),
        step.sender,
        f"{step.rebec}: {step.call}{resumed}",
        "" if step.deadline is None else str(step.deadline),
        step.drawn_text,
        change_texts(step.changed),
    )


def path_to_json(path: Path) -> dict[str, Any]:
    """A path as plain values: its steps, and what is wrong at its end."""
    return {
        "start": path.start,
        "steps": [step_to_json(step) | {"drawn": list(step.drawn)} for step in path.steps],
        "loop": path.loop,
        "breach": None
        if path.breach is None
        else {"verdict": path.breach.verdict, "message": path.breach.text},
    }


_WRITTEN = {
    "increase": "increase of {}",
    "final": "{} at the end",
    "reached": "probability of {}",
    "goes wrong": "probability that something goes wrong",
}


def exact_parts(found: ExactOrders) -> Iterator[str | Table]:
    """What was looked at, and a table of the values."""
    from rebecsim.exploration.orders import GOALS

    figures = found.figures
    choices = "" if found.law == "fair" else f", choices by the law {found.law}"
    if found.bound is not None:
        yield _how_far(found)
    if not found.is_known:
        return
    yield (
        f"{found.model} up to time {found.until}: {counted(figures['states'], 'state')}, "
        f"{counted(figures['actions'], 'way')} to go on, "
        f"{counted(figures['outcomes'], 'outcome')}{choices}"
    )
    figures_of = (Column(each, justify="right") for each in ("Least", "Random order", "Most"))
    table = Table("", *figures_of, box=None, pad_edge=False)
    for value in found.values:
        table.add_row(written(value.quantity), *(f"{value[goal]:.6g}" for goal in GOALS))
    yield table
    yield from values_tried(found.system.runner.drawn)


def written(quantity: Quantity) -> str:
    """Write what a quantity is."""
    return _WRITTEN[quantity.kind].format(quantity.text)


def _how_far(found: ExactOrders) -> str:
    what = f"stopped by the limit of {found.bound}"
    if found.bound == "interrupt":
        what = "interrupted"
    if not found.is_known:
        return f"{found.model}: {what} before all states of any time were found: nothing is known"
    return f"{found.model}: {what}, so this is up to time {found.until} and not {found.asked}"


class Likely(Protocol):
    """A probability with its interval, and how many runs it is from."""

    @property
    def value(self) -> float:
        """The estimate."""

    @property
    def low(self) -> float:
        """Lower end of the interval."""

    @property
    def high(self) -> float:
        """Upper end."""

    @property
    def runs(self) -> int:
        """How many runs were done."""


def chance_parts(
    heading: str, found: Sequence[tuple[Quantity, Likely]], level: float
) -> Iterator[str | Table]:
    """What was run, and a table of probabilities with their intervals."""
    yield heading
    headings = ("Random order", f"{level * 100:g} % interval", "Runs")
    right = (Column(each, justify="right") for each in headings)
    table = Table("", *right, box=None, pad_edge=False)
    for quantity, each in found:
        table.add_row(
            written(quantity),
            f"{each.value:.4g}",
            f"{each.low:.4g} to {each.high:.4g}",
            f"{each.runs:,}",
        )
    yield table

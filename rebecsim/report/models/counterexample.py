"""Results of explorations for people to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.table import Table
from rich.text import Text

from rebecsim.actors.written import changes_text
from rebecsim.counted import counted
from rebecsim.exploration import Path, PathStep, Result
from rebecsim.exploration.paths.recorded import step_to_json
from rebecsim.exploration.temporal.verdict import PropertyVerdict
from rebecsim.report.models.message_table import MessageTable

_MOST_NAMES = 5
_MOST_STEPS = 20


def result_parts(result: Result) -> Iterator[str | Table]:
    """The verdict and the figures, every counterexample as a table, and what to beware of."""
    yield from result_lines(result)
    for violated in result.violations:
        times = "" if violated.count == 1 else f" ({violated.count:,} times)"
        message = f": {violated.message}" if violated.message else ""
        yield ""
        yield f"{violated.verdict}{message}{times}"
        if violated.path is not None:
            yield path_table(violated.path) if violated.path.steps else "in the initial state"
            if violated.path.loop is not None:
                yield violated.path.loop_text
    yield from standstill_lines(result)


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
    """The verdict and the figures, one fact a line."""
    message = f": {result.message}" if result.message else ""
    if result.verdict == "satisfied" and result.deciding:
        message = f" without {', '.join(map(str, result.deciding))}"
    rate = result.states / result.seconds if result.seconds > 0 else 0.0
    lines = [
        f"{result.model} ({result.mode}): {result.verdict}{message}",
        f"{counted(result.states, 'state')}, {_transitions(result.transitions)} (edges + 1), "
        f"{result.seconds:.2f} s on the {result.engine} engine, {rate:,.0f} states/s, "
        f"{result.peak_memory / 1e6:,.0f} MB at most, {result.memory_per_state:,.0f} bytes a state",
    ]
    if result.is_violation and result.frontier:
        left = f"{counted(result.frontier, 'state')} {'was' if result.frontier == 1 else 'were'}"
        lines.append(f"the search stopped there; {left} not expanded")
    lines += map(_property_line, formulas(result))
    if result.hidden_in_delays and not result.is_violation:
        texts = ", ".join(result.hidden_in_delays)
        lines.append(f"not looked at during a delay, as `--tts` does: {texts}")
    lines += [f"not evaluated, so nothing is said of it: {each}" for each in result.not_evaluated]
    if result.omission:
        lines.append(
            f"states were told apart by fingerprints: with a probability of at most "
            f"{result.omission:.1g} some were missed"
        )
    if result.abstraction:
        lines.append(f"left out of the state: {', '.join(result.abstraction)}")
    if result.absolute_time is not None:
        lines.append(f"states of different times are kept apart: {result.absolute_time}")
    if result.growing:
        lines.append(_growth(result))
    return lines


def formulas(result: Result) -> list[PropertyVerdict]:
    """Give the verdicts on formulas."""
    return [each for each in result.properties if each.kind != "assertion"]


def _property_line(each: PropertyVerdict) -> str:
    line = f"{each.kind.upper()} {each.name} ({each.mode}): {each.verdict}"
    return f"{line}: {each.note}" if each.note else line


def _growth(result: Result) -> str:
    """Say what makes a search grow, and what can be done."""
    names = result.growing
    shown = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
    text = f"ever new values, with which the search may have no end: {shown}"
    hints = []
    variable = next((name for name in names if " " not in name), None)
    if variable is not None and result.absolute_time is None:
        hints.append(f"`--ignore {variable}` leaves a variable out of the state")
    if result.mode != "core" and "horizon" not in result.bounds:
        hints.append("`--horizon TIME` looks at what happens up to a time")
    return f"{text}; {', '.join(hints)}" if hints else text


def standstill_lines(result: Result) -> list[str]:
    """Warn of a cycle without time, step by step, or say why it is not known if there is one."""
    found = result.standstill
    if found is None:
        if result.standstill_decided:
            return []
        why = "fingerprints cannot tell" if result.omission else "a limit was reached before"
        return [f"whether time always advances is not decided: {why}"]
    before = found.loop or 0
    steps = found.repeated
    who = ", ".join(dict.fromkeys(f"{step.rebec}.{step.server}" for step in steps))
    begins = f"after {_transitions(before)}" if before else "in the initial state"
    return [
        f"warning: time need not advance: {who} can go on for ever at one time, round a cycle of "
        f"{_transitions(len(steps))} that begins {begins}:",
        *(f"  {step}" for step in steps[:_MOST_STEPS]),
        *(["  ..."] if len(steps) > _MOST_STEPS else []),
    ]


def _transitions(number: int) -> str:
    return counted(number, "transition")


def standstill_to_json(found: Path | None) -> dict[str, Any] | None:
    """Give a cycle without time as plain values: the path once around it; where it begins."""
    return None if found is None else {"before": found.loop, "path": path_to_json(found)}


def path_table(path: Path) -> Table:
    """One row for each step: when, who to whom, with what, which choices, what it changed."""
    rows = list(map(_cells, path.steps))
    table = MessageTable(["Step", "Time"], [message for _, _, message, *_ in rows])
    for number, cells in enumerate(rows, 1):
        last = number == len(path) and path.goes_wrong_at_last
        table.add_row(*map(Text, (str(number), *cells)), style="bold red" if last else None)
    return table


def _cells(step: PathStep) -> tuple[str, ...]:
    if step.kind == "time":
        return str(step.time), "", "(time passes)", "", "", ""
    time = str(step.time)
    if step.finished is not None and step.finished > step.time:
        time += f"-{step.finished}"
    resumed = " (goes on)" if step.kind == "resume" else ""
    return (
        time,
        step.sender,
        f"{step.rebec}: {step.call}{resumed}",
        "" if step.deadline is None else str(step.deadline),
        step.drawn_text,
        changes_text(step.changed),
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

"""The state of a stepped run and its possible next steps, as text."""

from __future__ import annotations

from collections.abc import Iterator

from rebecsim.actors.written import value_text
from rebecsim.exploration import RebecState
from rebecsim.live import Alternative


def busy_text(rebec: RebecState, time: int) -> str:
    """Say until when a rebec is not free; nothing if it is."""
    if rebec.suspended is not None:
        return f" (in {rebec.suspended.server}, delay until {time + rebec.busy})"
    return f" (busy until {time + rebec.busy})" if rebec.busy else ""


def variables_text(rebec: RebecState) -> str:
    """Write the variables of a rebec with their values."""
    return ", ".join(f"{name} = {value_text(value)}" for name, value in rebec.variables.items())


def bag_texts(rebec: RebecState, time: int, *, timed: bool) -> Iterator[str]:
    """Write the messages of a bag, in absolute time if there is time."""
    for message in rebec.bag:
        text = f"{message.call} from {message.sender}"
        if timed:
            text += f", arrival {time + message.arrival}"
        if message.deadline != float("inf"):
            text += f", deadline {time + int(message.deadline)}"
        yield text


def effect_text(alternative: Alternative, timed: bool) -> str:
    """Say what an alternative changes and sends, so that alternatives can be told apart."""
    if alternative.breach is not None:
        return alternative.breach.verdict
    step = alternative.step
    parts = [f"{name} = {value_text(value)}" for name, value in step.changed]
    if step.finished is not None and step.finished > step.time:
        parts.append(f"busy until {step.finished}")
    for receiver, message in alternative.sent:
        arrival = f" at {message.arrival}" if timed else ""
        parts.append(f"{receiver}.{message.call}{arrival}")
    return ", ".join(parts)

"""What exploring small clusters has found: broken promises, and starts that depend on the order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rebecsim.wording import counted


def starts_text(starts: Mapping[str, Sequence[int]], unit: str) -> str:
    """Say which jobs start at different times after different orders of messages.

    `starts` has the times at which each job starts, over all orders; -1: never.
    """
    differing = {job: times for job, times in starts.items() if len(times) > 1}
    if not differing:
        return "No order of messages changes when a job starts."
    texts = []
    for job, times in differing.items():
        known = [f"{time:,}" for time in times if time >= 0]
        never = ", or never" if times[0] < 0 else ""
        texts.append(f"{job} starts at {' or '.join(known)} {unit}{never}")
    return f"It depends on the order of messages of one time: {'; '.join(texts)}."


def cluster_text(states: int, starts: Mapping[str, Sequence[int]], unit: str) -> str:
    """Say what holds of a cluster that breaks no promise."""
    seen = f"no promise is broken in any order ({counted(states, 'state')})"
    return f"{seen}. {starts_text(starts, unit)}"

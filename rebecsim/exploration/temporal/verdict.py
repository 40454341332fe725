"""The verdict on a property."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from rebecsim.exploration.paths.path import Path

PropertyKind = Literal["assertion", "ltl", "tctl"]
PropertyWord = Literal["satisfied", "violated", "unknown"]


@dataclass(frozen=True)
class PropertyVerdict:
    """What was decided about one property of a file.

    Attributes:
        name: of the property.
        kind: assertion, or its logic.
        verdict: unknown, where a limit kept it from being decided.
        mode: the transition system in which it was judged.
        run: for a formula that is violated, a run on which it does not hold; for one that is
            satisfied, a run that shows it, if one run can.
        standing: whether it is unknown as it holds on all runs in which time advances; the run is
            one in which it does not, and on which the formula does not hold.
        note: why it is unknown, or nothing.
    """

    name: str
    kind: PropertyKind
    verdict: PropertyWord
    mode: str
    run: Path | None = None
    standing: bool = False
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Give the verdict as plain values, without the run."""
        return {
            "name": self.name,
            "kind": self.kind,
            "verdict": self.verdict,
            "mode": self.mode,
            "standing": self.standing,
            "note": self.note,
        }

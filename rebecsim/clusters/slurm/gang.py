"""Gang scheduling: jobs that share cores run in turns, and those of low partitions give way.

A running job casts a shadow on all partitions of a lower tier: what has its cores there stops until
the shadow is gone. Of the jobs of one partition that have the same cores, the earliest runs, until
its time slice is over.
"""

from __future__ import annotations

from typing import Literal

from rebecsim.actors import StatePart
from rebecsim.clusters.slurm.machine import Machine, Place
from rebecsim.clusters.slurm.occupancy import Allocation
from rebecsim.clusters.slurm.records import Record


class _Member(StatePart):
    """A job: whether it is in the active row by its turn, or as a filler, or has stopped."""

    __slots__ = ("cores", "record", "stopped", "turn")

    def __init__(self, record: Record, cores: int) -> None:
        self.record, self.cores = record, cores
        self.stopped = False
        self.turn: Literal["active", "filler", "out"] = "out"


class _Line(StatePart):
    """The jobs of a partition in the order of their turns, and the shadows on it."""

    __slots__ = ("active", "count", "members", "place", "shadows")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.members: list[_Member] = []
        self.shadows: list[_Member] = []
        self.active = self.count = 0

    def fits(self, member: _Member) -> bool:
        return not self.count or not self.active & member.cores

    def add(self, member: _Member) -> None:
        self.active = (self.active if self.count else 0) | member.cores
        self.count += 1

    def clear(self) -> None:
        """Begin a new active row, with the shadows alone."""
        self.count = 0
        for each in self.shadows:
            self.add(each)


class Gang(StatePart):
    """Who runs and who has stopped.

    Attributes:
        changes: the jobs that stop (true) or go on (false) and have not been told so yet.
    """

    def __init__(self, machine: Machine) -> None:
        places = sorted(machine.places.values(), key=lambda each: -each.spec.priority_tier)
        self._lines = [_Line(each) for each in places]
        self.changes: list[tuple[Record, bool]] = []

    @property
    def waits(self) -> bool:
        """Whether any job has stopped."""
        return any(each.stopped for line in self._lines for each in line.members)

    def start(self, record: Record, given: Allocation) -> None:
        """Add a job that starts."""
        if record.job.extras.het is not None:
            return
        line = next(each for each in self._lines if each.place.number == given.place)
        member = _Member(record, given.cores)
        line.members.append(member)
        if line.fits(member):
            line.add(member)
            member.turn = "filler"
            self._cast(member, line)
            self._update()
        else:
            self._stop(member)

    def end(self, number: int) -> None:
        """Remove a job that has ended."""
        for line in self._lines:
            line.shadows = [each for each in line.shadows if each.record.number != number]
            line.members = [each for each in line.members if each.record.number != number]
        self._update()

    def take_turns(self) -> None:
        """End a time slice."""
        for line in self._lines:
            if line.count >= len(line.members) + len(line.shadows):
                continue
            line.members.sort(key=lambda each: each.turn == "active")
            for each in line.members:
                each.turn = "out"
            line.clear()
            for each in line.members:
                if line.fits(each):
                    line.add(each)
                    each.turn = "active"
            for each in line.members:
                if each.turn == "out" and not each.stopped:
                    self._stop(each)
            for each in line.members:
                if each.turn == "active" and each.stopped:
                    self._go_on(each)
                    self._cast(each, line)

    def _update(self) -> None:
        """Stop what is in a shadow now, and let others go on, in all partitions."""
        for line in self._lines:
            line.clear()
            for turn in ("active", "filler"):
                for each in [one for one in line.members if one.turn == turn]:
                    if line.fits(each):
                        line.add(each)
                        self._cast(each, line)
                        continue
                    each.turn = "out"
                    if not each.stopped:
                        self._stop(each)
            for each in line.members:
                if each.turn == "out" and line.fits(each):
                    line.add(each)
                    self._cast(each, line)
                    each.turn = "filler"
                    if each.stopped:
                        self._go_on(each)

    def _cast(self, member: _Member, line: _Line) -> None:
        tier = line.place.spec.priority_tier
        for other in self._lines:
            if other.place.spec.priority_tier < tier and member not in other.shadows:
                other.shadows.append(member)

    def _stop(self, member: _Member) -> None:
        member.stopped = True
        self.changes.append((member.record, True))
        for line in self._lines:
            if member in line.shadows:
                line.shadows.remove(member)

    def _go_on(self, member: _Member) -> None:
        member.stopped = False
        self.changes.append((member.record, False))

"""What backfill has not reserved yet, by time: nodes, and licences if it plans them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping

from rebecsim.clusters.slurm.jobs import Amounts


class SlotMap:
    """Slot n is [begins[n], begins[n + 1]); what is free in it are `nodes[n]` and `licenses[n]`.

    Attributes:
        begins: when each slot begins, seconds.
        end: when the last one ends.
        nodes: nodes that are not reserved, as bits.
        licenses: how many of each licence are not; those kept for a reservation have a name as
            `matlab@res`.
        records: how many slots Slurm has made; it forgets none.
    """

    def __init__(
        self, begin: int, end: int, nodes: int, licenses: Mapping[str, int] | None = None
    ) -> None:
        self.begins, self.end, self.nodes = [begin], end, [nodes]
        self.licenses = [dict(licenses or {})]
        self.records = 1
        self._plans_licenses = bool(licenses)

    def over(
        self, begin: int, end: int, wanted: int, licenses: Amounts = (), own: str = ""
    ) -> tuple[int, int | None]:
        """Give which of the wanted nodes are free in [begin, end], and when there may be more.

        None of them are if licences are missing; `own` is the reservation of the job.
        """
        begins, nodes = self.begins, self.nodes
        place = max(bisect_right(begins, begin) - 1, 0)
        found, later = wanted, None
        lacks = False
        while place < len(begins):
            inside = begins[place] <= end
            here = found & nodes[place]
            following = place + 1
            if later is None and following < len(begins) and nodes[following] & wanted & ~here:
                later = begins[following]
            if not inside:
                break
            found = here
            if licenses and self._plans_licenses and not self._has(place, licenses, own):
                lacks = True
                later = begins[following] if following < len(begins) else self.end
            place = following
        return 0 if lacks else found, later

    def _has(self, place: int, licenses: Amounts, own: str) -> bool:
        free = self.licenses[place]
        return all(
            count <= free.get(name, 0) + free.get(f"{name}@{own}", 0) for name, count in licenses
        )

    def is_free(
        self, nodes: int, begin: int, end: int, licenses: Amounts = (), own: str = ""
    ) -> bool:
        """Whether nodes and licences are free in [begin, end)."""
        place = max(bisect_right(self.begins, begin) - 1, 0)
        while place < len(self.begins) and self.begins[place] < end:
            if nodes & ~self.nodes[place]:
                return False
            if licenses and self._plans_licenses and not self._has(place, licenses, own):
                return False
            place += 1
        return True

    def reserve(
        self, nodes: int, begin: int, end: int, licenses: Amounts = (), own: str = ""
    ) -> None:
        """Take nodes and licences out in [begin, end); what begins after all slots is forgotten."""
        if begin >= self.end:
            return
        places = self._between(begin, end)
        for place in places:
            self.nodes[place] &= ~nodes
            if self._plans_licenses:
                free = self.licenses[place]
                for name, count in licenses:
                    kept = min(free.get(f"{name}@{own}", 0), count)
                    if kept:
                        free[f"{name}@{own}"] -= kept
                    free[name] = free.get(name, 0) - count + kept
        self._merge(max(places.start - 2, 0), places.stop)

    def _merge(self, first: int, last: int) -> None:
        """Make one of the first two slots in a row with the same nodes and licences, as Slurm does.

        Where slots end decides when a job is looked at again, so this must be as there.
        """
        for place in range(first, min(last, len(self.begins) - 1)):
            same = self.nodes[place] == self.nodes[place + 1]
            if same and self.licenses[place] == self.licenses[place + 1]:
                del self.begins[place + 1], self.nodes[place + 1], self.licenses[place + 1]
                return

    def keep(self, licenses: Mapping[str, int], begin: int, end: int, own: str) -> None:
        """Keep licences for the jobs of a reservation in [begin, end)."""
        for place in self._between(begin, end):
            free = self.licenses[place]
            for name, count in licenses.items():
                kept = min(free.get(name, 0), count)
                free[name] = free.get(name, 0) - kept
                free[f"{name}@{own}"] = kept

    def _between(self, begin: int, end: int) -> range:
        first = self._split(max(begin, self.begins[0]))
        last = self._split(end) if end < self.end else len(self.begins)
        return range(first, last)

    def _split(self, time: int) -> int:
        place = bisect_left(self.begins, time)
        if place == 0:
            self.records += 1
        if place == len(self.begins) or self.begins[place] != time:
            self.records += 1
            self.begins.insert(place, time)
            self.nodes.insert(place, self.nodes[place - 1])
            self.licenses.insert(place, dict(self.licenses[place - 1]))
        return place

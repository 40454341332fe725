"""The scheduling policies written as naively as possible, to test the fast ones against.

Everything is recomputed from the lists of jobs at every event; nothing is shared with the package.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

SUBMIT, FINISH, WAKE = 0, 1, 2


class Request(NamedTuple):
    submit: int
    run: int
    processors: int
    estimate: int


class Simulation:
    """One event at a time; at one time submissions before ends."""

    def __init__(self, requests: Sequence[Request], processors: int) -> None:
        self.requests = requests
        self.processors = processors
        self.queue: list[int] = []
        self.running: list[int] = []
        self.starts: dict[int, int] = {}
        self.events = [(each.submit, SUBMIT, index, index) for index, each in enumerate(requests)]
        heapq.heapify(self.events)

    def expected_end(self, job: int) -> int:
        return self.starts[job] + self.requests[job].estimate

    def free(self, now: int) -> int:
        return self.processors - sum(
            self.requests[job].processors for job in self.running if self.expected_end(job) > now
        )

    def fits(self, job: int, now: int) -> bool:
        return self.requests[job].processors <= self.free(now)

    def start(self, job: int, now: int) -> None:
        self.queue.remove(job)
        self.running.append(job)
        self.starts[job] = now
        heapq.heappush(
            self.events, (now + self.requests[job].run, FINISH, len(self.starts) + 10**6, job)
        )

    def run(self) -> list[int]:
        while self.events:
            now, kind, _, job = heapq.heappop(self.events)
            if kind == SUBMIT:
                self.queue.append(job)
                self.submitted(job, now)
            elif kind == FINISH:
                self.running.remove(job)
                self.finished(job, now)
            else:
                self.woken(now)
        return [self.starts[job] for job in range(len(self.requests))]

    def submitted(self, job: int, now: int) -> None:
        if self.fits(job, now):
            self.schedule(now)

    def finished(self, job: int, now: int) -> None:
        self.schedule(now)

    def woken(self, now: int) -> None:
        raise AssertionError("nobody asked for it")

    def schedule(self, now: int) -> None:
        while self.queue and self.fits(self.queue[0], now):
            self.start(self.queue[0], now)


class Easy(Simulation):
    shortest_first = False

    def schedule(self, now: int) -> None:
        super().schedule(now)
        if not self.queue:
            return
        head = self.requests[self.queue[0]].processors
        shadow = min(end for end in map(self.expected_end, self.running) if self.free(end) >= head)
        extra = self.free(shadow) - head
        others = self.queue[1:]
        if self.shortest_first:
            others.sort(key=lambda job: self.requests[job].estimate)
        for job in others:
            request = self.requests[job]
            if not self.fits(job, now):
                continue
            if now + request.estimate <= shadow:
                self.start(job, now)
            elif request.processors <= extra:
                extra -= request.processors
                self.start(job, now)


class EasyShortestFirst(Easy):
    shortest_first = True


class Conservative(Simulation):
    def __init__(self, requests: Sequence[Request], processors: int) -> None:
        super().__init__(requests, processors)
        self.reserved: dict[int, int] = {}

    def spans(self) -> list[tuple[int, int, int]]:
        """Begin, end and processors of everything that runs or is reserved."""
        begins = {job: self.starts[job] for job in self.running} | self.reserved
        return [
            (begin, begin + self.requests[job].estimate, self.requests[job].processors)
            for job, begin in begins.items()
        ]

    def earliest(self, job: int, now: int) -> int:
        spans = self.spans()
        request = self.requests[job]
        for begin in sorted({now, *(end for _, end, _ in spans if end > now)}):
            end = begin + request.estimate
            times = {begin, *(each for each, _, _ in spans if begin < each < end)}
            if all(
                sum(taken for first, last, taken in spans if first <= time < last)
                + request.processors
                <= self.processors
                for time in times
            ):
                return begin
        raise AssertionError("larger than the machine")

    def submitted(self, job: int, now: int) -> None:
        self.reserved[job] = self.earliest(job, now)
        self.start_reserved(now)

    def finished(self, job: int, now: int) -> None:
        if self.expected_end(job) > now:
            for waiting in self.queue:
                if self.reserved[waiting] > now:
                    before = self.reserved.pop(waiting)
                    self.reserved[waiting] = self.earliest(waiting, now)
                    assert self.reserved[waiting] <= before
        self.start_reserved(now)

    def woken(self, now: int) -> None:
        self.start_reserved(now)

    def start_reserved(self, now: int) -> None:
        due = [job for job in self.queue if self.reserved[job] <= now]
        for job in sorted(due, key=lambda job: (self.reserved[job], job)):
            del self.reserved[job]
            self.start(job, now)
        for time in self.reserved.values():
            heapq.heappush(self.events, (time, WAKE, 0, 0))

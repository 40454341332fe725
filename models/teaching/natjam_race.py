"""natjam_race.rebeca as Python: written by rebecsim, not by hand.

Calling a message server sends a message; everything else happens at once. The comments name the
lines of the Rebeca text.
"""

from __future__ import annotations

from rebecsim.actors import (
    Boolean,
    Byte,
    Instance,
    Int,
    Model,
    Rebec,
    element,
    int8,
    known_rebec,
    message_server,
    remainder,
    state_variable,
)

JOBS = 3
NONE = -1
OVERHEAD = 1
ABSENT = 0
WAITING = 1
EVICTED = 2
GIVEN = 3


class ResourceManager(Rebec, queue_size=8):
    """Reactive class of line 21."""

    am: AppMaster = known_rebec()

    place: list[int] = state_variable(Byte[3])
    work: list[int] = state_variable(Byte[3])
    slack: list[int] = state_variable(Byte[3])
    am_job: int = state_variable(Int)
    am_work: int = state_variable(Byte)
    am_slack: int = state_variable(Byte)
    am_locked: bool = state_variable(Boolean)
    sent: int = state_variable(Byte)
    served: int = state_variable(Byte)

    def __init__(self) -> None:
        # natjam_race.rebeca, line 41
        self.work[0] = 4  # line 42
        self.slack[0] = 4  # line 43
        self.work[1] = 4  # line 44
        self.slack[1] = 3  # line 45
        self.work[2] = 2  # line 46
        self.slack[2] = 1  # line 47
        self.am_job = NONE  # line 48
        self.tick()  # line 49

    @message_server
    def tick(self) -> None:
        # natjam_race.rebeca, line 90
        for j in range(JOBS):  # line 91
            if (self.place[j] == WAITING or self.place[j] == EVICTED) and self.slack[j] > 0:  # line 92
                self.slack[j] = int8(self.slack[j] - 1)  # line 93
        if self.am_work > 0:  # line 96
            self.am_work = int8(self.am_work - 1)  # line 97
        self.assignFrom(EVICTED)  # line 100
        self.preemptFrom(EVICTED)  # line 101
        self.assignFrom(WAITING)  # line 102
        self.preemptFrom(WAITING)  # line 103
        self.am_locked = False  # line 104
        for j in range(JOBS):  # line 105
            if self.place[j] == ABSENT and self.choose(True, False, site=1):  # line 106
                self.place[j] = WAITING  # line 107
        self.tick(after=1)  # line 110

    @message_server
    def update(self) -> None:
        # natjam_race.rebeca, line 114
        self.served = remainder(self.served + 1, 4)  # line 115
        self.am_job = NONE  # line 116
        self.am_work = 0  # line 117
        self.am_slack = 0  # line 118

    @message_server
    def checkPoint(self, oldJob: int, oldWork: int, oldSlack: int, newJob: int, newWork: int, newSlack: int) -> None:
        # natjam_race.rebeca, line 122
        self.served = remainder(self.served + 1, 4)  # line 124
        self.place[element(oldJob, 3, 125)] = EVICTED  # line 125
        self.work[element(oldJob, 3, 126)] = int8(oldWork + OVERHEAD)  # line 126
        self.slack[element(oldJob, 3, 127)] = oldSlack  # line 127
        if self.slack[element(oldJob, 3, 128)] > 0:  # line 128
            self.slack[element(oldJob, 3, 129)] = int8(self.slack[element(oldJob, 3, 129)] - 1)  # line 129
        self.am_job = newJob  # line 131
        self.am_work = newWork  # line 132
        self.am_slack = newSlack  # line 133

    def give(self, job: int) -> None:
        # natjam_race.rebeca, line 52
        self.am_job = job  # line 53
        self.am_work = self.work[element(job, 3, 54)]  # line 54
        self.am_slack = self.slack[element(job, 3, 55)]  # line 55
        self.am_locked = True  # line 56
        self.place[element(job, 3, 57)] = GIVEN  # line 57
        self.am.runJob(job, self.work[element(job, 3, 58)], self.slack[element(job, 3, 58)])  # line 58
        self.sent = remainder(self.sent + 1, 4)  # line 59

    def mostUrgent(self, where: int) -> int:
        # natjam_race.rebeca, line 63
        best = NONE  # line 64
        for job in range(JOBS):  # line 65
            if self.place[job] == where and (best == NONE or self.slack[job] < self.slack[element(best, 3, 66)]):  # line 66
                best = job  # line 67
        return best  # line 70

    def assignFrom(self, where: int) -> None:
        # natjam_race.rebeca, line 74
        job = self.mostUrgent(where)  # line 75
        if job != NONE and self.am_job == NONE and not self.am_locked:  # line 76
            self.give(job)  # line 77

    def preemptFrom(self, where: int) -> None:
        # natjam_race.rebeca, line 82
        job = self.mostUrgent(where)  # line 83
        if job != NONE and self.am_job != NONE and not self.am_locked and self.am_work > 1 and self.slack[element(job, 3, 84)] < self.am_slack:  # line 84
            self.give(job)  # line 85


class AppMaster(Rebec, queue_size=8):
    """Reactive class of line 137."""

    rm: ResourceManager = known_rebec()

    job: int = state_variable(Int)
    work: int = state_variable(Byte)
    slack: int = state_variable(Byte)
    sent: int = state_variable(Byte)
    served: int = state_variable(Byte)

    def __init__(self) -> None:
        # natjam_race.rebeca, line 152
        self.job = NONE  # line 153

    @message_server
    def runJob(self, newJob: int, newWork: int, newSlack: int) -> None:
        # natjam_race.rebeca, line 157
        self.served = remainder(self.served + 1, 4)  # line 158
        if self.job == NONE:  # line 159
            self.process(after=1)  # line 160
        else:
            self.rm.checkPoint(self.job, self.work, self.slack, newJob, newWork, newSlack)  # line 162
            self.sent = remainder(self.sent + 1, 4)  # line 163
        self.job = newJob  # line 165
        self.work = newWork  # line 166
        self.slack = newSlack  # line 167

    @message_server
    def process(self) -> None:
        # natjam_race.rebeca, line 171
        self.work = int8(self.work - 1)  # line 172
        if self.work == 0:  # line 173
            self.rm.update()  # line 174
            self.sent = remainder(self.sent + 1, 4)  # line 175
            self.job = NONE  # line 176
            self.slack = 0  # line 177
        else:
            self.process(after=1)  # line 179


model = Model(
    "natjam_race",
    (
        Instance("rm", ResourceManager, knows=["am"]),
        Instance("am", AppMaster, knows=["rm"]),
    ),
)

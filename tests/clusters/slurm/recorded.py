"""Replay a recorded case and compare each job with what the real Slurm did.

The real controller's clocks tick at fractions of a second; ours knows whole seconds, and lets
backfill come last in each. So recorded times are shifted by the fraction at which the real backfill
ran: what happened between two of its cycles falls into one second. Everything else is read from the
files that a user has: slurm.conf, the dump of accounts, the table of QOS, and the log of sacct.
"""

import gzip
import json
import math
import re
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rebecsim.clusters.slurm.configuration import Clock, Cluster, NodeChange, Reservation
from rebecsim.clusters.slurm.files.account_files import read_accounting
from rebecsim.clusters.slurm.files.cluster_files import read_cluster
from rebecsim.clusters.slurm.files.hostlists import expand
from rebecsim.clusters.slurm.files.log_files import SlurmLog, read_log
from rebecsim.clusters.slurm.files.reservation_files import read_reservations
from rebecsim.clusters.slurm.jobs import Job
from rebecsim.clusters.slurm.run import ReplayedJobs, run_cluster
from rebecsim.workloads.sacct import moment

DATA = Path(__file__).parents[2] / "data" / "slurm"
ALWAYS = "KillWait=1\nCompleteWait=0\n"  # what the recorder puts into each slurm.conf
NEVER = 10**12


def names() -> list[str]:
    return sorted(path.name.removesuffix(".json.gz") for path in DATA.glob("*.json.gz"))


def load(name: str) -> dict[str, Any]:
    return json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))  # type: ignore[no-any-return]


def write_files(case: dict[str, Any], folder: Path) -> None:
    """Write the files of a case as a user has them."""
    (folder / "slurm.conf").write_text(ALWAYS + "\n".join(case["case"]["conf"]) + "\n")
    for name, text in case["case"]["files"].items():
        (folder / name).write_text(text)
    for name in ("dump", "qos", "sacct"):
        (folder / name).write_text(case[name])


@dataclass
class Replay:
    """A case made ready: a cluster, jobs, and what really happened to each of them.

    Times are seconds by the clock on the wall, as backfill rounds to its half minutes; `zero` is
    the second in which the case began. `real` has for each number the second of the start (NEVER:
    it did not) and the nodes.
    """

    name: str
    cluster: Cluster
    jobs: tuple[Job, ...]
    real: dict[int, tuple[int, tuple[str, ...]]]
    horizon: int
    first_cycle: int
    zero: int


@dataclass
class Compared:
    """How many jobs start when the real ones did, within 1 s and 3 s, and on the same nodes."""

    name: str
    jobs: int
    equal: int
    within_1: int
    within_3: int
    nodes: int
    differences: list[tuple[int, int, int, str, str]]


def job_of(text: str) -> int:
    """The number in `8`, or in `8_0(9)` and `8+1(9)`."""
    found = re.fullmatch(r"\d+[_+]\S*\((\d+)\)|(\d+).*", text)
    return int(next(each for each in found.groups() if each)) if found else -1


def _moments(case: dict[str, Any]) -> dict[str, dict[int, int]]:
    """For each kind of event, when it last happened to each job, ms."""
    found: dict[str, dict[int, int]] = {}
    for at, what, *rest in case["events"]:
        if what in ("submit", "start", "backfilled", "kill", "done", "preempted") and rest:
            found.setdefault(what, {})[job_of(rest[0])] = at
    return found


def ready(name: str, *, exact: bool = False) -> Replay:
    """Read a case through the readers of the package; `exact` shifts no second."""
    case = load(name)
    zero = moment(case["zero"]) or 0
    cycles = [at for at, what, *_ in case["events"] if what == "backfill"]
    passes = [at for at, what, *_ in case["events"] if what == "pass"]
    clock = cycles or passes
    phase = statistics.median(at % 1000 for at in clock[: len(clock) // 2 + 1]) / 1000 + 0.005

    def second(ms: float) -> int:
        if exact:
            return math.floor(ms / 1000) + zero
        return math.floor(ms / 1000 - phase) + 1 + zero

    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        write_files(case, folder)
        cluster, _ = read_cluster(folder / "slurm.conf")
        accounting, _ = read_accounting(folder / "dump", folder / "qos")
        log = read_log(folder / "sacct", cluster)
        reserved = tuple(_reservations(case, folder, zero, second))
    accounting = replace(accounting, enforce=cluster.accounting.enforce)
    first = second(cycles[0]) if cycles else second(passes[0])
    cluster = replace(
        cluster,
        accounting=accounting,
        reservations=reserved,
        changes=tuple(_changes(case, second)),
        clock=Clock(backfill_start=first, priority_start=first),
    )
    jobs, real = _jobs(log, _moments(case), zero, second)
    last = max(second(at) for at, *_ in case["events"])
    return Replay(name, cluster, jobs, real, last, first, zero)


def _reservations(
    case: dict[str, Any], folder: Path, zero: int, second: Any
) -> Iterator[Reservation]:
    seen = set()
    for at, what, text in case["said"]:
        if what != "reservations":
            continue
        (folder / "reservations").write_text(text)
        for each in read_reservations(folder / "reservations"):
            if each.name not in seen:
                seen.add(each.name)
                start, end = (second((t - zero) * 1000) for t in (each.start, each.end))
                yield replace(each, start=start, end=end, created=second(at * 1000) + 1)


def _changes(case: dict[str, Any], second: Any) -> Iterator[NodeChange]:
    states = {"drain": "DRAIN", "down": "DOWN", "resume": "UP"}
    for at, command, _ in case["said"]:
        found = re.search(r"nodename=(\S+) state=(\w+)", " ".join(command))
        if found and isinstance(command, list):
            for node in expand(found[1]):
                yield NodeChange(time=second(at * 1000), node=node, state=states[found[2]])  # type: ignore[arg-type]


def _jobs(
    log: SlurmLog, moments: dict[str, dict[int, int]], zero: int, second: Any
) -> tuple[tuple[Job, ...], dict[int, tuple[int, tuple[str, ...]]]]:
    jobs, real = [], {}
    for job in log.jobs:
        number, found = job.number, log.recorded[job.number]

        def at(kinds: tuple[str, ...], seconds: int, number: int = number, near: int = 2) -> int:
            for kind in kinds:
                ms = moments.get(kind, {}).get(number)
                if ms is not None and abs(ms / 1000 - (seconds - zero) - 0.5) <= near:
                    return second(ms)
            return second((seconds - zero) * 1000 + 500)

        submit = at(("submit",), found.submit)
        shift = submit - found.submit
        start = NEVER if found.start is None else at(("start", "backfilled", "submit"), found.start)
        run = job.run
        if found.start is not None and found.end is not None and found.state != "TIMEOUT":
            run = at(("kill", "done", "preempted"), found.end) - start
        extras = job.extras
        times = {
            key: value + shift
            for key in ("deadline", "withdrawn", "released")
            if (value := getattr(extras, key)) is not None
        }
        real[number] = (start, found.nodes if found.start is not None else ())
        jobs.append(
            replace(
                job,
                submit=submit,
                run=max(run, 0),
                begin=job.begin + shift if job.begin else 0,
                extras=replace(extras, **times),
            )
        )
    order = dict(moments.get("submit", {}).items())
    jobs.sort(key=lambda job: (job.submit, order.get(job.number, 0), job.number))
    return tuple(jobs), real


def compare(replay: Replay, outcome: ReplayedJobs) -> Compared:
    """Set what happened beside what really happened."""
    starts: dict[int, tuple[int, tuple[str, ...]]] = {}
    for each in outcome.runs:
        if each.start >= 0:
            where = tuple(sorted(outcome.names[n] for n in each.nodes))
            starts[outcome.jobs[each.position].number] = (each.start, where)
    equal = one = three = nodes = 0
    differences = []
    for number, (start, where) in replay.real.items():
        mine, on = starts.get(number, (NEVER, ()))
        if mine > replay.horizon:
            mine, on = NEVER, ()
        apart = abs(mine - start)
        same = set(on) == set(where)
        equal += apart == 0
        one += apart <= 1
        three += apart <= 3
        nodes += same
        if apart or not same:
            differences.append((number, start, mine, ",".join(where), ",".join(on)))
    return Compared(replay.name, len(replay.real), equal, one, three, nodes, differences)


def best(name: str) -> tuple[Compared, Clock]:
    """Replay a case with each phase of the clocks that no file says, and keep the nearest."""
    replay = ready(name)
    tries = []
    multi = replay.cluster.priority.type == "multifactor"
    for offset in (-1, -2, -3, 0, 1) if multi else (0,):
        for release in (0, 1):
            clock = replace(
                replay.cluster.clock, priority_start=replay.first_cycle + offset, release=release
            )
            outcome = run_cluster(replace(replay.cluster, clock=clock), replay.jobs)
            tries.append((compare(replay, outcome), clock))
    return max(tries, key=lambda each: (each[0].within_1 + each[0].nodes, each[0].equal))

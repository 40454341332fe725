"""The text files of DSS, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rebecsim.clusters.yarn.cluster import Finished, Occupancy
from rebecsim.clusters.yarn.containers import Application, Decisions
from rebecsim.clusters.yarn.schedulers.registry import yarn_scheduler
from rebecsim.files import write_atomically

_KIND_NAMES = {"master": "MRAM", "map": "MAP", "reduce": "REDUCE"}


def dss_files(run: Finished, elastic: bool, seconds: str) -> Mapping[str, str]:
    """Give the files by name; `seconds` is what the run is said to have taken."""
    jobs = sorted((each for each in run.applications if each.end is not None), key=_number)
    return {
        "job_stats.out": _text(map(_job_line, jobs)),
        "task_stats.out": _text(line for job in jobs for line in _task_lines(job)),
        "decision_stats.out": _text(_decision_lines(jobs, elastic)),
        "reservation_stats.out": _text(_reservation_lines(run)),
        "misc_stats.out": _text(_misc_lines(run, jobs, elastic, seconds)),
    }


def occupancy_file(samples: Sequence[Occupancy]) -> str:
    """Give the file of the occupancy; it is empty where nothing was in use."""
    header = "# clock (ms)\t total_memory (MB)\ttotal_cores\ttotal_containers\telastic_containers\n"
    lines = ["\t".join(map(str, sample)) + "\n" for sample in samples]
    return "".join([header, *lines]) if lines else ""


def _text(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _number(application: Application) -> int:
    return application.number


def _job_line(application: Application) -> str:
    assert application.end is not None
    tasks = ", ".join(
        f"{task.memory}MB x {count}" for task, count in application.tasks if not task.is_master
    )
    seconds = (application.end - application.start) / 1000
    return (
        f"job_{application.number}, start_ms={application.start}, end_ms={application.end}, "
        f"duration_s={seconds:.2f}, tasks = ({tasks})"
    )


def _task_lines(application: Application) -> Iterator[str]:
    for container in application.containers:
        assert container.finished is not None
        assert container.launched is not None
        seconds = (container.finished - container.launched) / 1000
        ratio = container.memory / container.task.ideal
        yield (
            f"job_{application.number}:{container.number}, "
            f"type={_KIND_NAMES[container.task.kind]}, start_ms={container.launched}, "
            f"end_ms={container.finished}, duration_s={seconds:.2f}, "
            f"given_memory_mb={container.memory}, alloc_ratio={ratio:.2f}, "
            f"node={container.node.size.name}"
        )


def _decision_lines(jobs: Sequence[Application], elastic: bool) -> Iterator[str]:
    for job in jobs:
        yield f"job_{job.number}: {_shares(job.decisions, elastic)}"
    yield _shares(_all_decisions(jobs), elastic)


def _all_decisions(jobs: Sequence[Application]) -> Decisions:
    total = Decisions()
    for job in jobs:
        for name in Decisions.__slots__:
            setattr(total, name, getattr(total, name) + getattr(job.decisions, name))
    return total


def _shares(decisions: Decisions, elastic: bool) -> str:
    def share(name: str, count: int, of: int) -> str:
        return f"{name}: {count}({100 * count / of if of else 0:.2f}%)"

    parts = [
        f"TOTAL: {decisions.total}",
        share("ACCEPT", decisions.accepted, decisions.total),
        share("REJECT", decisions.rejected, decisions.total),
        share("RESERVE", decisions.reserved, decisions.total),
    ]
    if elastic:
        accepted = decisions.accepted
        parts.append(share("REGULAR", accepted - decisions.elastic, accepted))
        parts.append(share("ELASTIC", decisions.elastic, accepted))
    return ", ".join(parts)


def _reservation_lines(run: Finished) -> Iterator[str]:
    for place, node in enumerate(run.nodes):
        if place:
            yield ""
        yield f"{node.size.name}:"
        if not node.reservations:
            yield ""
        for each in node.reservations:
            yield f"job=job_{each.application.number}, start_ms={each.start}, end_ms={each.end}"


def _misc_lines(
    run: Finished, jobs: Sequence[Application], elastic: bool, seconds: str
) -> Iterator[str]:
    accounts = run.accounts
    used, kept, usable = accounts.utilised, accounts.kept, accounts.kept_usable
    ends = [job.end for job in jobs if job.end is not None]
    first, last = min(job.start for job in jobs), max(ends)
    makespan = last - first
    mean = sum(end - job.start for job, end in zip(jobs, ends, strict=True)) / len(jobs) / 1000
    latest = max(job.start for job in jobs)
    yield f"ALL JOBS: {_shares(_all_decisions(jobs), elastic)}"
    yield f"TOTAL RESERVED GB * s = {kept // 10**6:.2f}"
    yield f"TOTAL RESERVED USABLE GB * s = {usable // 10**6}"
    yield f"PERCENT RESERVED/(UTILIZED + RESERVED) GB * s = {100 * kept / (used + kept):.2f}"
    yield (
        "PERCENT RESERVED USABLE/(UTILIZED + RESERVED USABLE) GB * s = "
        f"{100 * usable / (used + usable):.2f}"
    )
    yield f"MAKESPAN (s) = {makespan // 1000}"
    yield f"TOTAL UTILIZED GB * s = {used // 10**6}"
    yield ""
    yield (
        "# run_duration(s)\tavg_job_duration(s)\tfirst_job_arrival(ms) / makespan(ms)\t"
        "average cluster utilization(GB) "
    )
    yield f"{seconds}\t{mean:.2f}\t{latest / makespan:.2f}\t{kept / makespan:.2f}"


def write_dss_files(
    run: Finished, folder: Path, seconds: str, occupancy: Path | None = None
) -> list[Path]:
    """Write the files of a run into a folder, and give their paths.

    The folder is made if it is not there. `occupancy` is where its samples go, from the folder;
    nothing is written if there are none. Raises OSError; a file is whole or not there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    elastic = yarn_scheduler(run.configuration.scheduler).scheduler.elastic
    texts = {folder / name: text for name, text in dss_files(run, elastic, seconds).items()}
    if occupancy is not None and run.occupancy:
        texts[folder / occupancy] = occupancy_file(run.occupancy)
    for path, text in texts.items():
        write_atomically(path, text.encode())
    return list(texts)

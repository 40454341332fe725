"""Read finished jobs from the lists of a ResourceManager and from traces of Rumen.

Both are read as containers; traces of Rumen also as maps and reduces.

The answer of `/ws/v1/cluster/apps` has no containers, but for each application what all of its
containers have used: `memorySeconds` (MB s) and `vcoreSeconds`. These are divided, see `AppsRule`:
an application is submitted at its `startedTime`, less the earliest of the answer, and holds its
AppMaster from its `launchTime` to its `finishedTime`. A container has one core, and as much memory
as came to a core on average. What the AppMaster leaves of the core seconds is done by tasks; where
that is nothing, by one that lasts as long as the application did.

An application that has not ended has no length, and one that was never given a container has no
tasks: both are left out and counted. Fields that are not named here are not looked at, as they
differ from one version of Hadoop to the next.

As containers (`jobs_of`), a job is submitted at `submitTime`, less the earliest of the trace, and
has a task for each of its `mapTasks` and `reduceTasks`. A task takes the time of its last attempt
that succeeded, or of its last one, from `startTime` to `finishTime`, and would rather run where
that did (`hostName`). A container has the memory that the job asked for (`jobMapMB`,
`jobReduceMB`), or 1024 MB, and 1 core. Reduces are given containers after maps. Attempts that were
repeated, tasks that set up and clean up, counters and measurements are no part of what is
simulated.

As maps and reduces (`read_history`), a job has the bytes that its tasks have read, moved and
written, and the times that they took.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from rebecsim.files import JOBS, TASKS
from rebecsim.wording import counted
from rebecsim.workloads.container_jobs import (
    ContainerJob,
    Fields,
    TaskClass,
    TaskKind,
    number_in,
    numbers_of,
)
from rebecsim.workloads.files import LARGEST, json_objects
from rebecsim.workloads.hadoop_dialect import DEFAULT_MEMORY

_SECOND = 1000
_OF_TASKS = ("MAPREDUCE", "TEZ")
_NO_LABELS = ("", "<Not set>", "<DEFAULT_PARTITION>")
_UNFINISHED, _IDLE = "not ended yet", "never given a container"
_ASK = (
    "curl -H 'Accept: application/json' "
    "'http://RESOURCE_MANAGER:8088/ws/v1/cluster/apps?states=FINISHED,FAILED,KILLED'"
)


@dataclass(frozen=True, slots=True)
class AppsRule:
    """How the core seconds of an application become tasks.

    Attributes:
        task: seconds of a task of MapReduce or Tez, about: there are as many tasks as fit best.
            The containers of all other applications (Spark, ...) last as long as these do.
    """

    task: int = 60


@dataclass(frozen=True, slots=True)
class ListedJobs:
    """The jobs of an answer, and how many applications are left out, by the reason."""

    jobs: tuple[ContainerJob, ...]
    left_out: Mapping[str, int]

    @property
    def notes(self) -> tuple[str, ...]:
        """What is left out, in words."""
        total = len(self.jobs) + sum(self.left_out.values())
        return tuple(
            f"{count:,} of {counted(total, 'application')} left out: {reason}"
            for reason, count in self.left_out.items()
        )


def is_listing(fields: Fields) -> bool:
    """Whether an object is an answer of the ResourceManager."""
    return any(key in fields.values for key in ("apps", "app", "RemoteException"))


def listed_jobs(objects: Sequence[Fields], rule: AppsRule) -> ListedJobs:
    """Read the jobs of some answers, in the order of their submission.

    Of an application that stands in several answers, the last counts. Raises WorkloadError, with
    file, line, application and field, for an answer without applications, for answers of which none
    has run, an application that ends before it begins, and a field that is no whole number or no
    text. Raises LimitError for too many applications or tasks.
    """
    apps = list({app.what: app for answer in objects for app in _apps(answer)}.values())
    JOBS.require(len(apps), objects[0].path)
    numbers = numbers_of(apps)
    left_out = Counter(filter(None, map(_left_out, apps)))
    kept = [app for app in apps if not _left_out(app)]
    if not kept:
        counts = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items())
        raise objects[0].wrong(f"no application that has run: {counts}")
    origin = min(app.whole("startedTime", 1) for app in kept)
    jobs = [_listed_job(numbers[app.what], app, origin, rule) for app in kept]
    TASKS.require(sum(each.count for job in jobs for each in job.classes), objects[0].path)
    return ListedJobs(tuple(sorted(jobs, key=lambda job: (job.start, job.known_as))), left_out)


def _apps(answer: Fields) -> list[Fields]:
    if not is_listing(answer):
        raise answer.wrong("an answer of the ResourceManager should have 'apps'")
    values = answer.values
    if "RemoteException" in values:
        raise answer.wrong(f"the ResourceManager has refused to answer; ask again: {_ASK}")
    if "app" in values:  # the answer about one application
        apps = values["app"] if isinstance(values["app"], list) else [values["app"]]
    else:
        if not isinstance(answer.values["apps"], dict) or "app" not in answer.values["apps"]:
            raise answer.wrong(f"no application in 'apps'; ask for those that have ended: {_ASK}")
        apps = answer.of(answer.values["apps"], "apps").objects("app")
    if not apps or not all(isinstance(each, dict) for each in apps):
        raise answer.wrong(f"no application in 'app'; ask for those that have ended: {_ASK}")
    found = [
        answer.of({key: value for key, value in each.items() if value is not None}, f"app {place}")
        for place, each in enumerate(apps, start=1)
    ]
    return [each.named(each.text("id")) for each in found]


def _left_out(app: Fields) -> str:
    """Say why an application is no job; empty: it is one."""
    if app.whole("finishedTime", 0) == 0:
        return _UNFINISHED
    return "" if app.whole("memorySeconds", 0) and app.whole("vcoreSeconds", 0) else _IDLE


def _listed_job(number: int, app: Fields, origin: int, rule: AppsRule) -> ContainerJob:
    submitted, ended = app.whole("startedTime", 1), app.whole("finishedTime", 1)
    launched = app.whole("launchTime", 0, default=0) or submitted
    if not submitted <= launched <= ended:
        raise app.wrong(
            f"'startedTime' {submitted}, 'launchTime' {launched} and 'finishedTime' {ended} "
            "should follow each other"
        )
    memory_seconds, core_seconds = app.whole("memorySeconds", 1), app.whole("vcoreSeconds", 1)
    length = max(ended - launched, 1)
    left = max(_SECOND * core_seconds - length, 0)
    kind = app.text("applicationType", default="YARN").upper()
    each = min(rule.task * _SECOND, length) if kind in _OF_TASKS else length
    if left < _SECOND:  # nothing but rounding: the AppMaster has done it all
        left = each = length
    count = max(round(left / each), 1)
    TASKS.require(count, f"{app.path}:{app.line}: {app.what}: 'vcoreSeconds'")
    memory = max(round(memory_seconds / core_seconds), 1)
    task = TaskClass("map", count, max(round(left / count), 1), memory)
    label = app.text("appNodeLabelExpression", default="")
    return ContainerJob(
        number,
        submitted - origin,
        None,
        (task,),
        f"{app.path}:{app.line}",
        user=app.text("user", default="default"),
        queue=app.text("queue", default="default"),
        label="" if label in _NO_LABELS else label,
        end=ended - origin,
        application=kind.lower(),
        master_memory=memory,
        master_cores=1,
        known_as=app.what,
    )


_TASKS: tuple[tuple[TaskKind, str, str, int], ...] = (
    ("map", "mapTasks", "jobMapMB", 10),
    ("reduce", "reduceTasks", "jobReduceMB", 20),
)
"""Of each kind: where its tasks are, their memory, and their priority."""


@dataclass(frozen=True, slots=True)
class HistoryJob:
    """A job of a history by what its tasks have done. Times are milliseconds.

    Attributes:
        name: of the job.
        submit: since the first job of the history.
        user, queue, priority: as it was submitted; the priority in lower case.
        inputs: bytes that each map has read; None: the history does not say.
        shuffle: bytes that reduces have fetched of all maps; without reduces, 0.
        output: bytes that the job has written.
        map_time: of a map, on average.
        reduces: how many.
        reduce_time: of a reduce once it had the outputs of all maps, on average.
    """

    name: str
    submit: int
    user: str
    queue: str
    priority: str
    inputs: tuple[int | None, ...]
    shuffle: int
    output: int
    map_time: float
    reduces: int
    reduce_time: float


_PRIORITIES = ("very_low", "low", "normal", "high", "very_high")
_UNKNOWN = -1


def read_history(path: Path) -> tuple[HistoryJob, ...]:
    """Read the jobs of a trace, plain or gzip, that have maps, in its order.

    Raises WorkloadError, with file, line, job and task, for an object that is not a job of Rumen, a
    job without any time, and a task as `jobs_of` does; OSError when the file cannot be read.
    """
    objects = [
        _known(Fields(values, path, line, f"object {number}"))
        for number, (line, values) in enumerate(json_objects(path), start=1)
    ]
    for fields in objects:
        if not is_rumen(fields):
            raise fields.wrong("a job of Rumen should have 'jobID' and 'mapTasks'")
    named = [fields.named(fields.text("jobID")) for fields in objects]
    numbers_of(named)  # refuses a job that stands twice
    origin = min(fields.whole("submitTime", 0) for fields in named)
    found = [_history_job(fields, origin) for fields in named if fields.objects("mapTasks")]
    if not found:
        raise named[0].wrong("no job of the history has maps")
    return tuple(found)


def _history_job(fields: Fields, origin: int) -> HistoryJob:
    maps, reduces = (list(_counted_attempts(fields, kind)) for kind in ("map", "reduce"))
    last_map = max(attempt.whole("finishTime", 0) for _, attempt in maps)
    priority = fields.text("priority", default="normal").lower()
    if priority not in _PRIORITIES:
        raise fields.wrong(f"'priority' should be one of {', '.join(_PRIORITIES).upper()}")
    given = _sum(maps, "outputBytes", "mapOutputBytes")
    return HistoryJob(
        name=fields.what,
        submit=fields.whole("submitTime", 0) - origin,
        user=fields.text("user", default="default"),
        queue=fields.text("queue", default="default"),
        priority=priority,
        inputs=tuple(_bytes(*each, "inputBytes", "hdfsBytesRead") for each in maps),
        shuffle=(_sum(reduces, "inputBytes", "reduceShuffleBytes") or given) if reduces else 0,
        output=_sum(reduces, "outputBytes", "hdfsBytesWritten") if reduces else given,
        map_time=fmean(attempt.whole("finishTime", 0) - _start(attempt) for _, attempt in maps),
        reduces=len(reduces),
        reduce_time=fmean(_time_of_reduce(attempt, last_map) for _, attempt in reduces)
        if reduces
        else 0.0,
    )


def _time_of_reduce(attempt: Fields, last_map: int) -> int:
    """Give how long a reduce took from the end of its shuffle, or else from that of the maps."""
    begin = attempt.whole("shuffleFinished", _UNKNOWN, default=_UNKNOWN)
    if begin <= 0:
        begin = max(last_map, _start(attempt))
    return max(attempt.whole("finishTime", 0) - begin, 0)


def _sum(tasks: Sequence[tuple[Fields, Fields]], *keys: str) -> int:
    return sum(_bytes(*each, *keys) or 0 for each in tasks)


def _bytes(task: Fields, attempt: Fields, of_task: str, of_attempt: str) -> int | None:
    """Give a count of bytes that stands at a task, or else at its attempt; None: at neither."""
    for fields, key in ((task, of_task), (attempt, of_attempt)):
        count = fields.whole(key, _UNKNOWN, default=_UNKNOWN)
        if count >= 0:
            return count
    return None


def is_rumen(fields: Fields) -> bool:
    """Whether an object is a job of Rumen."""
    return "jobID" in fields.values


def jobs_of(objects: Sequence[Fields]) -> tuple[ContainerJob, ...]:
    """Read the jobs of a trace of Rumen, in its order.

    Raises WorkloadError, with file, line, job and task, for a job that stands twice or was never
    submitted, and for a task without attempts or whose attempt did not end after its start.
    """
    named = [_known(each).named(each.text("jobID")) for each in objects]
    numbers = numbers_of(named)
    origin = min(fields.whole("submitTime", 0) for fields in named)
    return tuple(_job(numbers[fields.what], fields, origin) for fields in named)


def _job(number: int, fields: Fields, origin: int) -> ContainerJob:
    end = fields.whole("finishTime", -LARGEST, default=-1)
    return ContainerJob(
        number,
        fields.whole("submitTime", 0) - origin,
        None,
        tuple(_classes(fields)),
        f"{fields.path}:{fields.line}",
        user=fields.text("user", default="default"),
        queue=fields.text("queue", default="default"),
        end=end - origin if end > origin else None,
        known_as="" if number_in(fields.what) == number else fields.what,
    )


def _classes(fields: Fields) -> Iterator[TaskClass]:
    for kind, _, memory_key, priority in _TASKS:
        memory = fields.whole(memory_key, -1, default=-1)
        for _, attempt in _counted_attempts(fields, kind):
            yield TaskClass(
                kind,
                1,
                attempt.whole("finishTime", 0) - _start(attempt),
                memory if memory > 0 else DEFAULT_MEMORY,
                priority=priority,
                host=attempt.text("hostName", default=""),
            )


def _counted_attempts(fields: Fields, kind: TaskKind) -> Iterator[tuple[Fields, Fields]]:
    """Give each task of a kind, and the attempt of it that counts."""
    tasks = next(tasks for each, tasks, _, _ in _TASKS if each == kind)
    for place, values in enumerate(fields.objects(tasks), start=1):
        task = _known(fields.of(values, f"{kind} task {place}"))
        attempt = _known(_counted(task))
        start, end = _start(attempt), attempt.whole("finishTime", -1)
        if end <= start:
            raise attempt.wrong(f"'finishTime' should be after the start at {start}, not {end}")
        yield task, attempt


def _start(attempt: Fields) -> int:
    return attempt.whole("startTime", 0)


def _counted(task: Fields) -> Fields:
    """Give the attempt of a task that counts."""
    attempts = [
        task.of(values, f"attempt {place}")
        for place, values in enumerate(task.objects("attempts"), start=1)
    ]
    if not attempts:
        raise task.wrong("no attempts; leave the task out")
    done = [each for each in attempts if each.values.get("result") == "SUCCESS"]
    return (done or attempts)[-1]


def _known(fields: Fields) -> Fields:
    """Leave out what Rumen does not know, and writes as null."""
    return replace(fields, values={k: v for k, v in fields.values.items() if v is not None})

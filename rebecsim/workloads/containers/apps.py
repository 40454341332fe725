"""Applications as the ResourceManager lists them: the JSON of its REST service, as containers.

The answer of `/ws/v1/cluster/apps` has no containers, but for each application what all of its
containers have used: `memorySeconds` (MB s) and `vcoreSeconds`. These are divided, see `AppsRule`:
an application is submitted at its `startedTime`, less the earliest of the answer, and holds its
AppMaster from its `launchTime` to its `finishedTime`. A container has one core, and as much memory
as came to a core on average. What the AppMaster leaves of the core seconds is done by tasks; where
that is nothing, by one that lasts as long as the application did.

An application that has not ended has no length, and one that was never given a container has no
tasks: both are left out and counted. Fields that are not named here are not looked at, as they
differ from one version of Hadoop to the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rebecsim.counted import counted
from rebecsim.limits import JOBS, TASKS
from rebecsim.workloads.containers.fields import Fields
from rebecsim.workloads.containers.jobs import ContainerJob, TaskClass
from rebecsim.workloads.containers.names import numbers_of

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
    jobs = [_job(numbers[app.what], app, origin, rule) for app in kept]
    TASKS.require(sum(each.count for job in jobs for each in job.classes), objects[0].path)
    return ListedJobs(tuple(sorted(jobs, key=lambda job: (job.start, job.known_as))), left_out)


def _apps(answer: Fields) -> list[Fields]:
    if not is_listing(answer):
        raise answer.wrong("no answer of the ResourceManager, which has 'apps'")
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


def _job(number: int, app: Fields, origin: int, rule: AppsRule) -> ContainerJob:
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

"""Run cells on Dask, with workers on this machine or on others.

A task is sent pickled. Each worker gets the inputs of all tasks once: the expected versions, the
files that tasks read, and the preparations. So no file system is shared, and the scheduler and the
workers need only an installed rebecsim. Tasks of a lost worker run again elsewhere. Results come
back to this process, which alone writes them.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import pickle
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from rebecsim.errors import UserError
from rebecsim.extras import require
from rebecsim.processes import carry, importing_as_here
from rebecsim.studies.executors import interrupts_only_here
from rebecsim.studies.record import versions

if TYPE_CHECKING:
    from distributed import Client, Future as DaskFuture, LocalCluster

P = ParamSpec("P")
T = TypeVar("T")
Tell = Callable[[str], None]

LOCAL = "local"
"""What stands for a cluster that is started on this machine, and ends with the work."""

_ANSWER_WITHIN = 5.0  # seconds, for a scheduler
_STARTS = 3  # of a local cluster, at most, when processes of it are killed meanwhile
_AHEAD = 4  # tasks for each worker, as in a pool
_LEAST_AHEAD = 16  # while there are no workers yet, or few of many
_COUNT_EVERY = 2.0  # seconds
_LARGE = "1GiB"  # logs are sent with the tasks; Dask would call 10 MB large
_NO_PAGES: Mapping[str, list[str]] = MappingProxyType(
    {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
)
"""Settings of Dask for the processes of a local cluster, which always listen for HTTP too."""

_SAME = ("dask", "distributed")
"""Packages that have to be the same for Dask to work at all."""


class ClusterLostError(BrokenExecutor):
    """The scheduler has gone, or a task has gone with its workers again and again."""


# --- what workers do -----------------------------------------------------------------------------


@dataclass(frozen=True)
class TaskInputs:
    """What tasks need beside themselves.

    Attributes:
        files: those that they read: the name that they know -> what it holds.
        prepare: what is done on a worker before its first task, when the files are there.
        versions: of Python and of the packages that results depend on.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    prepare: Callable[[], object] | None = None
    versions: Mapping[str, str] = field(default_factory=versions)

    @classmethod
    def with_files(cls, paths: Iterable[Path], prepare: Callable[[], object] | None) -> TaskInputs:
        """Pack files. Raises OSError."""
        return cls({str(path): path.read_bytes() for path in paths}, prepare)


@dataclass(frozen=True)
class Packed:
    """The inputs as they are sent, and a name by which a worker knows that it has unpacked them."""

    name: str
    content: bytes

    @classmethod
    def of(cls, inputs: TaskInputs) -> Packed:
        """Pickle the inputs of tasks."""
        content = pickle.dumps(inputs)
        return cls(hashlib.blake2b(content).hexdigest(), content)


_one_at_a_time = threading.Lock()  # plug-ins and files are the same for a whole process
_unpacked: set[str] = set()


def handed_on(packed: Packed) -> Packed:
    """Give the inputs: a task of Dask, because its results go from worker to worker."""
    return packed


def done(packed: Packed, task: bytes) -> object:
    """Run a task with its inputs, on a worker.

    Raises UserError where other versions are installed here, and whatever the task raises.
    """
    with _one_at_a_time:
        _unpack(packed)
        return pickle.loads(task)()  # noqa: S301 - of the client, as all that Dask sends


def _unpack(packed: Packed) -> None:
    if packed.name in _unpacked:
        return
    from distributed import get_worker

    _unpacked.clear()  # whatever goes wrong, the inputs of another run are gone
    worker = get_worker()
    inputs: TaskInputs = pickle.loads(packed.content)  # noqa: S301 - see `done`
    require_same_versions(inputs.versions, {f"worker {worker.address}": versions()})
    carry(inputs.files, Path(worker.local_directory) / "rebecsim")
    if inputs.prepare is not None:
        inputs.prepare()
    _unpacked.add(packed.name)


def require_same_versions(
    ours: Mapping[str, str], theirs: Mapping[str, Mapping[str, str | None]]
) -> None:
    """Raise UserError unless what is installed elsewhere is what is installed here.

    Of Python the last part of the version may differ; that of others is part of what results are.
    """
    for place, installed in theirs.items():
        for package, version in ours.items():
            found = installed.get(package)
            if found is None:
                raise UserError(f"{place} has no {package}; install {package} {version} there")
            if _compared(package, found) != _compared(package, version):
                raise UserError(
                    f"{place} has {package} {found}, and this program {version}; results might "
                    "differ, so install the same version on both"
                )


def _compared(package: str, version: str) -> Sequence[str]:
    parts = version.split(".")
    return parts[:2] if package == "python" else parts


# --- the client ----------------------------------------------------------------------------------


class DaskExecutor:
    """Has tasks done by the workers of a cluster."""

    def __init__(self, client: Client, inputs: TaskInputs) -> None:
        self._client = client
        self._address = client.scheduler.address
        name = f"rebecsim-inputs-{uuid.uuid4().hex}"
        self._inputs = client.submit(handed_on, Packed.of(inputs), key=name, pure=False)
        self._counted: tuple[float, int] = (-_COUNT_EVERY, 0)
        self._urgencies = count(0, -1)

    @property
    def ahead(self) -> int:
        """How many tasks are told at a time: more when workers join."""
        at, threads = self._counted
        if time.monotonic() >= at + _COUNT_EVERY:
            threads = sum(worker_threads(self._client).values())
            self._counted = time.monotonic(), threads
        return max(_LEAST_AHEAD, threads * _AHEAD)

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a task done.

        Its future raises what the task raises, ClusterLostError when the cluster is lost, and
        UserError where rebecsim is not installed as it is here.
        """
        task = pickle.dumps(partial(function, *args, **kwargs))
        future: Future[T] = Future()
        try:
            if self._client.status != "running":
                raise self._lost()
            # Told first, done first: Dask does in any order what it is told within a moment.
            urgency = next(self._urgencies)
            told = self._client.submit(done, self._inputs, task, pure=False, priority=urgency)
            self._client.loop.add_callback(self._pass_on, future, told)
        except (OSError, RuntimeError) as error:  # of a client that is closed, among them
            raise self._lost() from error
        return future

    def map(self, function: Callable[..., T], /, *iterables: Iterable[object]) -> Iterable[T]:
        """Do several tasks here, when their results are asked for.

        They are pictures, which are sooner drawn than sent, and with the fonts of this machine.
        """
        return map(function, *iterables)

    async def _pass_on(self, future: Future[T], told: DaskFuture) -> None:
        """Give the result of Dask's future to ours, with errors that say what they mean.

        Dask's own executor says nothing, ever, of a task that is done when the scheduler is lost:
        its result cannot be fetched any more.
        """
        try:
            result = await self._client.gather(told, asynchronous=True)
        except BaseException as error:  # a thread waits for the result, whatever it is
            failed = told.status == "error"
            future.set_exception(self._explained(error) if failed else self._lost())
        else:
            future.set_result(result)

    def _explained(self, error: BaseException) -> BaseException:
        from distributed.scheduler import KilledWorker

        if isinstance(error, KilledWorker):
            return ClusterLostError(
                f"{error.allowed_failures + 1} workers were killed, one after the other, while "
                "they did the same task, as happens when memory runs out"
            )
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("rebecsim"):
            return UserError(
                f"a worker of {self._address} has no rebecsim of this version: {error}"
            )
        return error

    def _lost(self) -> ClusterLostError:
        return ClusterLostError(f"the Dask scheduler {self._address} no longer answers")


def worker_threads(client: Client) -> Mapping[str, int]:
    """Give the workers there are, and their threads; none where the scheduler does not answer."""
    try:
        found: Mapping[str, int] = client.nthreads()
    except (OSError, RuntimeError, AttributeError):  # while the scheduler is being lost
        return {}
    return found


@contextmanager
def dask_executor(
    address: str, workers: int, inputs: TaskInputs, tell: Tell
) -> Iterator[DaskExecutor]:
    """Give the workers of a cluster: of the scheduler with this address, or LOCAL ones.

    Args:
        address: of a scheduler, as `tcp://host:8786`, or LOCAL.
        workers: how many processes to start; only for LOCAL.
        inputs: what tasks need.
        tell: is told, in a line, which cluster it is.

    Raises UserError when Dask is not installed, or the scheduler does not answer in a few seconds
    or has other versions.
    """
    require_dask()
    import dask

    with ExitStack() as stack:
        stack.enter_context(_silence())
        stack.enter_context(
            dask.config.set({"distributed.admin.large-graph-warning-threshold": _LARGE})
        )
        if address == LOCAL:
            client = _connected(stack.enter_context(_local_cluster(workers)))
        else:
            client = _connected(address)
        stack.callback(client.close)
        _require_same_as_here(client, inputs.versions)
        tell(_described(client, address))
        yield DaskExecutor(client, inputs)


def require_dask() -> None:
    """Raise MissingPackagesError where Dask is not installed."""
    require("--dask", "distributed")
    import distributed  # noqa: F401 - it tells dask its settings


def _connected(place: str | LocalCluster) -> Client:
    from distributed import Client

    try:
        if isinstance(place, str):
            _require_scheduler(place)
        return Client(place, timeout=_ANSWER_WITHIN, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:  # TypeError: TLS without keys
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UserError(
            f"{place}: no Dask scheduler answers there ({reason}); its address is what "
            "`dask scheduler` prints, such as tcp://host:8786"
        ) from error


def _require_scheduler(address: str) -> None:
    """Raise what Dask raises, or ValueError, unless a scheduler answers.

    A client would find out too, and then try for many seconds to close what it has not opened.
    """
    with ThreadPoolExecutor(1) as thread:  # in a notebook, this thread has a running event loop
        kind = thread.submit(asyncio.run, _kind_of(address)).result()
    if kind != "Scheduler":
        raise ValueError(f"that is a {kind.lower()}")


async def _kind_of(address: str) -> str:
    """Ask who answers at an address. Raises TimeoutError, and what Dask raises."""
    from distributed.core import rpc
    from distributed.security import Security

    keys = Security().get_connection_args("client")
    async with rpc(address, timeout=_ANSWER_WITHIN, connection_args=keys) as there:
        found = await asyncio.wait_for(there.identity(), 2 * _ANSWER_WITHIN)
    return str(found["type"])


def _require_same_as_here(client: Client, ours: Mapping[str, str]) -> None:
    """Raise UserError when the scheduler or a worker has other versions; see `done` for later."""
    packages = [name for name in ours if name != "python"]
    found = client.get_versions(check=False, packages=packages)
    here = found["client"]["packages"]
    there = {f"the Dask scheduler {client.scheduler.address}": found["scheduler"]}
    there |= {f"worker {name}": each for name, each in found["workers"].items()}
    require_same_versions(
        {**ours, **{name: here[name] for name in _SAME}},
        {place: _installed(each) for place, each in there.items()},
    )


def _installed(found: Mapping[str, Any]) -> dict[str, str | None]:
    return {**found["packages"], "python": found["host"]["python"]}


def _described(client: Client, address: str) -> str:
    """Say which cluster it is, in a line."""
    count = len(worker_threads(client))
    workers = f"{count} worker{'s' * (count != 1)}" if count else "no workers yet, waiting for them"
    if address == LOCAL:
        return f"dask: {workers} on this machine, which only this program can use"
    scheduler = client.get_versions(check=False, packages=["bokeh"])["scheduler"]
    if scheduler["packages"].get("bokeh") is None:
        dashboard = "no dashboard, which needs bokeh beside the scheduler"
    else:
        dashboard = f"dashboard {client.dashboard_link}"
    return f"dask: {client.scheduler.address}, {workers}; {dashboard}"


@contextmanager
def _local_cluster(workers: int) -> Iterator[LocalCluster]:
    """Start worker processes that end with the block, and are replaced when they are killed."""
    with importing_as_here(), _environment_as_before():
        with interrupts_only_here():
            cluster = _started_cluster(workers)
        with cluster:
            yield cluster


def _started_cluster(workers: int) -> LocalCluster:
    """Start a cluster, again if a process of it was killed meanwhile, which Dask does not mend.

    Its processes listen on loopback, to each other only: see `dask_protocol`.

    Raises UserError if it cannot be started.
    """
    import dask
    from distributed import LocalCluster
    from distributed.security import Security

    from rebecsim.studies import dask_protocol

    reason = ""
    for _ in range(_STARTS):
        try:
            with dask.config.set(_NO_PAGES):
                return LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    memory_limit=0,  # as much as there is, like other worker processes
                    host="127.0.0.1",
                    protocol=dask_protocol.PROTOCOL,
                    preload=[dask_protocol.__name__],
                    security=Security(require_encryption=False),
                    scheduler_kwargs={"dashboard": False},
                    dashboard_address="127.0.0.1:0",  # of a server without pages: see `_NO_PAGES`
                    silence_logs=logging.CRITICAL,
                )
        except RuntimeError as error:
            reason = str(error)
    raise UserError(f"a Dask cluster cannot be started on this machine: {reason}")


@contextmanager
def _environment_as_before() -> Iterator[None]:
    """Take back what Dask sets for the processes that it starts."""
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def _silence() -> Iterator[None]:
    """Keep Dask's own log from the terminal: what users need is said in a line."""
    names = [name for name in logging.root.manager.loggerDict if _is_of_dask(name)]
    handlers = [handler for name in names for handler in logging.getLogger(name).handlers]
    before = [handler.level for handler in handlers]
    for handler in handlers:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for handler, level in zip(handlers, before, strict=True):
            handler.setLevel(level)


def _is_of_dask(logger: str) -> bool:
    return logger.partition(".")[0] in ("distributed", "tornado")

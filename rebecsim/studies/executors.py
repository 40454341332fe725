"""Run the cells of a comparison in this process or in worker processes.

An `Executor` takes tasks and gives their results; it writes no files. So an executor on other
machines needs only the methods of the protocol: see `rebecsim.studies.dask_executor`.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from multiprocessing import forkserver, resource_tracker
from typing import Any, ParamSpec, Protocol, TypeVar

from rebecsim.native.engines import Engine, usable
from rebecsim.processes import importing_as_here

P = ParamSpec("P")
T = TypeVar("T")

_AHEAD = 4  # tasks for each worker: enough to keep it busy, few enough to bound the memory


class Executor(Protocol):
    """Runs tasks."""

    @property
    def ahead(self) -> int:
        """How many tasks are submitted ahead of their results, at most."""

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a task; function, arguments and result are pickled for another process."""

    def map(self, function: Callable[..., T], /, *iterables: Iterable[object]) -> Iterable[T]:
        """Run several tasks; their results come in order."""


class ThisProcess:
    """Runs each task when it is submitted."""

    ahead = 1

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a task. Raises what it raises."""
        future: Future[T] = Future()
        future.set_result(function(*args, **kwargs))
        return future

    def map(self, function: Callable[..., T], /, *iterables: Iterable[object]) -> Iterable[T]:
        """Run tasks when their results are asked for."""
        return map(function, *iterables)


_SIMULATION = (
    "concurrent.futures.process",
    "multiprocessing.queues",
    "rebecsim.simulation.montecarlo",
    "rebecsim.studies.simulated",
)
_PYTHON = (*_SIMULATION, "rebecsim.generate.module", "rebecsim.lang.checking.checker")
_NATIVE = (*_SIMULATION, "rebecsim.simulation.native")
"""What workers need; those of the native engine hardly ever have to read a model."""


def available_workers() -> int:
    """Give the number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def simulation_modules(engine: Engine) -> tuple[str, ...]:
    """Name what workers that simulate need: the compiler too, if there is compiled code on disk."""
    engine = usable(engine)
    native = engine == "native" or (engine == "auto" and _has_compiled_code())
    return _NATIVE if native else _PYTHON


def _has_compiled_code() -> bool:
    from rebecsim.trust import is_anything_compiled

    try:
        return is_anything_compiled()
    except OSError:
        return False


def start_server(workers: int, modules: Sequence[str]) -> None:
    """Begin to start what that many workers are forked from, where the system has such a thing.

    It imports `modules` while this process does something else. Does nothing where there will be
    no pool.
    """
    if workers > 1 and "forkserver" in multiprocessing.get_all_start_methods():
        forkserver.set_forkserver_preload(list(modules))
        with importing_as_here(), interrupts_only_here():
            forkserver.ensure_running()


@contextmanager
def interrupts_only_here() -> Iterator[None]:
    """Leave Ctrl-C to this thread: threads started meanwhile do not get it, nor do processes.

    A terminal sends it to all processes; this one ends its workers itself. What Python forks them
    from would print a traceback: it ignores Ctrl-C only once it has imported what it is to.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class WorkerPool(ProcessPoolExecutor):
    """A pool of `size` processes that start when there is something to do.

    It drops all tasks, begun or not, when its block is left by an exception.
    """

    def __init__(self, size: int, modules: Sequence[str], prepare: Callable[[], None]) -> None:
        methods = multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        if "forkserver" in methods:
            context.set_forkserver_preload(list(modules))
        with importing_as_here():  # starts the process that tracks the others
            super().__init__(max_workers=size, mp_context=context, initializer=prepare)
        self.size = size
        self.ahead = size * _AHEAD

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a task. Raises BrokenProcessPool once a process was killed."""
        try:
            with importing_as_here():  # a task may be the one that starts a process
                future = super().submit(function, *args, **kwargs)
            self._watch_all_processes()
        except (OSError, EOFError) as error:  # its pipes, or those of the fork server, are gone
            raise BrokenProcessPool("no more worker processes can be started") from error
        if broken := getattr(self, "_broken", False):  # broken meanwhile, so the task may be lost
            raise BrokenProcessPool(broken)
        return future

    def _watch_all_processes(self) -> None:
        """Have the pool watch the process too that the last task has started.

        Python's pool looks anew for the processes to watch when a task is told or done, and starts
        one after it has looked. If that one is killed before the next task, nothing reports it, and
        what it holds, the way to the tasks among them, it holds for ever. There is no public way
        to have it look; without this one such a pool waits.
        """
        watcher = getattr(self, "_executor_manager_thread_wakeup", None)
        if watcher is not None:
            with self._shutdown_lock:  # it may be about to be closed
                watcher.wakeup()

    def _end_processes(self) -> None:
        """End all processes, whatever they do: what they would give is not asked for any more.

        Python's pool ends those it knows when one was killed, and then waits for all; one that is
        being started at that moment is among the latter only. Without one killed, it waits until
        all tasks begun are done.
        """
        for process in list((getattr(self, "_processes", None) or {}).values()):
            process.terminate()
        results: Any = self._result_queue
        results._writer.close()  # half a result is of no use

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None or getattr(self, "_broken", False):
            self._end_processes()
        self.shutdown(wait=True, cancel_futures=kind is not None)


def start_worker(prepare: Callable[[], object] | None = None) -> None:
    """Make this process a worker that ends with its parent, and `prepare` it.

    Ctrl-C is left to the parent, which ends its workers itself. A parent that was killed cannot,
    and a worker waiting for its next task would wait for ever.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    gc.freeze()  # imported modules stay, so collecting them is wasted time
    if prepare is not None:
        prepare()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # the parent process has ended


def executor_of(
    workers: int, modules: Sequence[str] = (), prepare: Callable[[], object] | None = None
) -> AbstractContextManager[WorkerPool | ThisProcess]:
    """Give worker processes, or this process when there is to be one worker.

    Workers are not forked from this process: it may have threads, which a fork would leave half.
    They begin with `modules` imported, where the system can do so once for all, unless
    `start_server` was told others; and with `prepare`.
    """
    if workers < 2:
        return nullcontext(ThisProcess())
    return WorkerPool(workers, modules, partial(start_worker, prepare))

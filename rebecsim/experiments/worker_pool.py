"""Worker processes for the cells of a comparison."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext

from rebecsim.simulate.task import start_worker

__all__ = ["worker_pool"]


def worker_pool(
    workers: int, module: str, prepare: Callable[[], None] = start_worker
) -> AbstractContextManager[Executor | None]:
    """Give a pool of worker processes, or none when this process does the work itself.

    Workers are not forked from this process: it may have threads, which a fork would leave half.
    They begin with `module` imported, where the system can do so once for all, and with `prepare`.
    """
    if workers <= 1:
        return nullcontext(None)
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if "forkserver" in methods:
        context.set_forkserver_preload([module])
    return _InterruptiblePool(max_workers=workers, mp_context=context, initializer=prepare)


class _InterruptiblePool(ProcessPoolExecutor):
    """A pool that drops the tasks not begun yet when its block is left by an exception."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.shutdown(wait=True, cancel_futures=kind is not None)

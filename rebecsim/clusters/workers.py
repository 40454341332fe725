"""Worker processes that have the plug-ins of this one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from rebecsim.clusters.loading import load_plugins, loaded_plugin_files, loaded_plugins
from rebecsim.studies.executors import ThisProcess, WorkerPool, executor_of


def executor_with_plugins(
    workers: int, modules: Sequence[str]
) -> AbstractContextManager[WorkerPool | ThisProcess]:
    """Give worker processes that begin with `modules` imported; else as `executor_of`."""
    prepare: Callable[[], object] | None = None
    if loaded_plugins():
        prepare = partial(load_plugins, [Path(file) for file in loaded_plugin_files()])
    return executor_of(workers, modules, prepare)

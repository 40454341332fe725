"""Workers that have the plug-ins of this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rebecsim.clusters.loading import (
    load_plugins,
    loaded_plugin_files,
    loaded_plugins,
    unload_plugin,
)
from rebecsim.errors import UserError
from rebecsim.studies.executors import ThisProcess, WorkerPool, executor_of
from rebecsim.studies.plan import Plan
from rebecsim.trust import PluginRecord

if TYPE_CHECKING:
    from rebecsim.studies.dask_executor import DaskExecutor


def executor_with_plugins(
    workers: int, modules: Sequence[str]
) -> AbstractContextManager[WorkerPool | ThisProcess]:
    """Give worker processes that begin with `modules` imported; else as `executor_of`."""
    prepare: Callable[[], object] | None = None
    if loaded_plugins():
        prepare = partial(load_plugins, [Path(file) for file in loaded_plugin_files()])
    return executor_of(workers, modules, prepare)


def dask_with_plugins(
    address: str, workers: int, plan: Plan, tell: Callable[[str], None]
) -> AbstractContextManager[DaskExecutor]:
    """Give the workers of a Dask cluster, with the files that a plan names; as `dask_executor`."""
    from rebecsim.studies.dask_executor import TaskInputs, dask_executor

    plugins = [Path(file) for file in loaded_plugin_files()]
    named = [plan.folder / file for file in plan.files().values()]
    prepare = partial(have_plugins, plugins, loaded_plugins())
    return dask_executor(address, workers, TaskInputs.with_files([*plugins, *named], prepare), tell)


def have_plugins(files: Sequence[Path], wanted: Sequence[PluginRecord]) -> None:
    """Have these plug-ins and no others, in a process that may have those of another run.

    Raises PluginError when one cannot be loaded, UserError when a package has another one here.
    """
    for record in reversed(loaded_plugins()):
        unload_plugin(record)
    load_plugins(files)
    if missing := [each.name for each in wanted if each not in loaded_plugins()]:
        raise UserError(
            f"a worker has no plug-in {missing[0]}, or another version of it; install the same "
            "packages there"
        )

"""A Dask cluster for tests: a scheduler and workers as processes, which can be killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Self

from tests.waiting import wait_for

ROOT = Path(__file__).resolve().parents[1]

UNWATCHED = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}
"""The environment of workers that do not look all the time at what they are doing."""


class Cluster:
    """A scheduler and workers without nannies, in a directory of their own."""

    def __init__(
        self, place: Path, workers: int = 2, environment: dict[str, str] | None = None
    ) -> None:
        self._place = place
        self._environment = environment or {}
        self._file = place / "scheduler.json"
        self._log = (place / "log.txt").open("wb")
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0")
        self.workers: list[subprocess.Popen[bytes]] = []
        wait_for(self._has_address)
        self.address = str(json.loads(self._file.read_text())["address"])
        for _ in range(workers):
            self.add_worker()

    def _has_address(self) -> bool:
        assert self.scheduler.poll() is None, (self._place / "log.txt").read_text()
        return self._file.exists() and self._file.read_text().endswith("}")

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-m", f"distributed.cli.dask_{what}", *options]
        return subprocess.Popen(
            [*command, "--scheduler-file", str(self._file), "--no-dashboard"],
            cwd=self._place,
            # tasks are functions of the tests
            env={**os.environ, **UNWATCHED, "PYTHONPATH": str(ROOT)} | self._environment,
            stdout=self._log,
            stderr=self._log,
        )

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start a worker with one thread; it joins when it is ready."""
        folder = str(self._place / "workers")
        worker = self._start(
            "worker",
            *("--no-nanny", "--nthreads", "1", "--local-directory", folder),
            *("--death-timeout", "60"),  # when the tests themselves are killed
        )
        self.workers.append(worker)
        return worker

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
        for process in (*self.workers, self.scheduler):
            process.wait()
        self._log.close()

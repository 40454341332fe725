"""How large a run of a batch machine is, before it is made."""

from __future__ import annotations

from rebecsim.studies.size import RunSize

_SECONDS_A_JOB = 2e-5
"""Measured with 8,000 jobs of Lublin and Feitelson's model under FCFS and EASY with fairshare."""

_BYTES_A_JOB = 1_000


def size_of_jobs(jobs: int) -> RunSize:
    """Estimate a schedule of so many jobs."""
    return RunSize(jobs, 0, jobs * _SECONDS_A_JOB, jobs * _BYTES_A_JOB)

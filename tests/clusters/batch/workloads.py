"""Small random workloads."""

from __future__ import annotations

from hypothesis import strategies as st

from rebecsim.workloads import Workload
from tests.clusters.batch.reference import Request

PROCESSORS = 6


@st.composite
def requests(draw: st.DrawFn, most: int = 14) -> list[Request]:
    """Jobs that often meet: short times, many at once, half of them with exact estimates."""
    jobs = draw(
        st.lists(
            st.tuples(
                st.integers(0, 3),
                st.integers(1, 9),
                st.integers(1, PROCESSORS),
                st.sampled_from((0, 0, 0, 1, 2, 7)),
            ),
            min_size=1,
            max_size=most,
        )
    )
    submit, made = 0, []
    for gap, run, processors, slack in jobs:
        submit += gap
        made.append(Request(submit, run, processors, run + slack))
    return made


def workload_of(jobs: list[Request], users: list[int] | None = None) -> Workload:
    return Workload.of(
        submit=[job.submit for job in jobs],
        run=[job.run for job in jobs],
        processors=[job.processors for job in jobs],
        requested_time=[job.estimate for job in jobs],
        user=users or [index % 3 for index in range(len(jobs))],
        queue=[index % 2 for index in range(len(jobs))],
        capacity=PROCESSORS,
    )

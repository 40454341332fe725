"""The scheduler decides as a real Slurm did: which jobs start in which second, and where.

`equal.toml` has for each recorded case how many jobs start in the same second, on how many the
nodes are the same, and the phase of the clock of priorities with which this is so. Make it anew
after a change for the better: python -m tests.clusters.slurm.test_recorded
"""

import tomllib

import pytest

from rebecsim.clusters.slurm import run
from rebecsim.clusters.slurm.run import run_cluster
from tests.clusters.slurm import lockstep, recorded

EQUAL = recorded.DATA / "equal.toml"
KEPT = tomllib.loads(EQUAL.read_text()) if EQUAL.exists() else {}
OFTEN = [
    "builtin_batch",
    "cores",
    "exclusive",
    "fair_tree",
    "features",
    "gpus_per_node",
    "licenses",
    "mixed1",
    "partition_depth",
    "qos_nice",
    "tiers",
]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in OFTEN else pytest.mark.slow)
        for name in recorded.names()
    ],
)
def test_as_many_jobs_as_before_start_when_and_where_the_real_ones_did(name: str) -> None:
    kept = KEPT[name]
    found, _ = lockstep.replay(name, lockstep.first_tick(name) + kept["phase"])
    assert found.jobs == kept["jobs"]
    assert found.equal >= kept["equal"]
    assert found.nodes >= kept["nodes"]


@pytest.mark.parametrize("name", [name for name in OFTEN if name in recorded.names()])
def test_the_rebecs_run_every_job_of_a_recorded_case(name: str) -> None:
    made = recorded.ready(name)
    outcome = run_cluster(made.cluster, made.jobs)
    starts = outcome.starts()
    began = [number for number, (start, _) in made.real.items() if start != recorded.NEVER]
    assert len([number for number in began if number in starts]) >= 0.9 * len(began)


@pytest.mark.parametrize("name", ["cores_tasks", "exclusive", "mixed9", "threads"])
def test_compiled_loops_decide_as_the_others_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, plain = lockstep.replay(name, lockstep.first_tick(name))
    monkeypatch.setattr(run, "COMPILED_FROM", 0)
    _, fast = lockstep.replay(name, lockstep.first_tick(name))
    assert fast.scheduler.machine.loops is not None
    assert fast.starts == plain.starts


def table() -> str:
    """Replay all cases with each likely phase, and write what is equal."""
    lines = ["# jobs of each case, and how many start in the real second and on the real nodes"]
    totals = [0, 0, 0, 0]
    for name in recorded.names():
        found, phase = lockstep.best(name)
        totals = [
            totals[0] + found.jobs,
            totals[1] + found.equal,
            totals[2] + found.nodes,
            totals[3] + (not found.differences),
        ]
        lines.append(
            f"{name} = {{ jobs = {found.jobs}, equal = {found.equal}, nodes = {found.nodes}, "
            f"phase = {phase} }}"
        )
    lines.append(
        f"# together: {totals[0]} jobs, {totals[1]} in the same second, {totals[2]} on the same "
        f"nodes; {totals[3]} of {len(recorded.names())} cases wholly equal"
    )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    EQUAL.write_text(table())

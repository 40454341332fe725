"""Models of the tests, and how they are made into runs."""

from __future__ import annotations

from pathlib import Path

from rebecsim.clusters.scenarios import load
from rebecsim.studies import Plan, Results
from rebecsim.trust import run_programs
from tests.plans import run_plan

QUEUE = """\
env int SERVICE = 3;

reactiveclass Source(5) {
  knownrebecs { Desk desk; }
  statevars { int sent; }
  Source() { self.tick(); }
  msgsrv tick() {
    int come = ?(1, 0, 0, 0);
    if (come == 1) {
      sent = sent + 1;
      desk.serve();
    }
    self.tick() after(1);
  }
}

reactiveclass Desk(200) {
  statevars { int served; boolean busy; }
  Desk(int first) { served = first; }
  msgsrv serve() {
    served = served + 1;
    busy = true;
    delay(SERVICE);
  }
}

main {
  Source source(desk):();
  Desk desk():(0);
}
"""
"""A desk to which somebody comes in a quarter of the time units."""

QUEUE_PYTHON = """\
from rebecsim.actors import Instance, Int, Model, Rebec, known_rebec, message_server, state_variable


class Source(Rebec, queue_size=5):
    desk = known_rebec()
    sent: int = state_variable(Int)

    def __init__(self) -> None:
        self.tick()

    @message_server
    def tick(self) -> None:
        if self.choose(1, 0, 0, 0, site=1) == 1:
            self.sent += 1
            self.desk.serve()
        self.tick(after=1)


class Desk(Rebec, queue_size=200):
    served: int = state_variable(Int)

    def __init__(self, first: int, service: int) -> None:
        self.served = first
        self.service = service

    @message_server
    def serve(self) -> None:
        self.served += 1
        self.delay(self.service)


model = Model(
    "queue", (Instance("source", Source, ["desk"]), Instance("desk", Desk, (), [0, 3]))
)
"""
"""The same in Python; the time of a service is an argument."""

SCENARIO = """\
kind = "model"
name = "queue"
model = "queue.rebeca"
until = 60
replications = 12

[sweep]
SERVICE = [1, 3]

[[observe]]
value = "desk.served"

[[observe]]
waits = "desk.serve"
"""


def written(folder: Path, scenario: str = SCENARIO) -> Path:
    """Write the models and a scenario; gives the path of the scenario."""
    (folder / "queue.rebeca").write_text(QUEUE)
    (folder / "queue.py").write_text(QUEUE_PYTHON)
    path = folder / "scenario.toml"
    path.write_text(scenario)
    return path


def plan_of(folder: Path, scenario: str = SCENARIO, **changes: object) -> Plan:
    """Plan a scenario about the models."""
    return load(written(folder, scenario), run_programs).plan(**changes)


def run_of(
    folder: Path, scenario: str = SCENARIO, engine: str = "python", **changes: object
) -> tuple[Plan, Results]:
    """Run a scenario about the models in this process."""
    plan = plan_of(folder, scenario, **changes)
    results = Results.create(folder / f"run_{engine}", plan)
    run_plan(plan, results, engine=engine)
    return plan, results

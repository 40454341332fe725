"""What is observed of models: laws, and queues and coins whose answers are known."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from rebecsim.actors import RandomScheduler, Streams
from rebecsim.clusters.model.study import STUDY
from rebecsim.clusters.model.variants import open_text
from rebecsim.clusters.scenarios import open_run, plan_of_run
from rebecsim.errors import UserError
from rebecsim.exploration.orders import exact_orders, quantities_of
from rebecsim.generate import build_model
from rebecsim.lang import check_file, parse_model
from rebecsim.metrics import Metric
from rebecsim.simulation import simulate
from rebecsim.simulation.montecarlo import EngineError
from rebecsim.simulation.simulator import make_scheduler
from rebecsim.studies import Results, ResultsError
from rebecsim.studies.estimates import estimate
from rebecsim.studies.study import How
from rebecsim.studies.sweeps import combinations
from rebecsim.trust import run_programs
from tests.clusters.model.models import SCENARIO, plan_of, run_of, written
from tests.plans import run_plan

VALUE = '[[observe]]\nvalue = "desk.served"\n'
HEAD = SCENARIO.partition("[sweep]")[0]


def column(results: Results, cell, name: str) -> list:
    return pq.read_table(results.part(cell)).column(name).to_pylist()


def table(results: Results, cell, name: str) -> list[dict]:
    return pq.read_table(results.table(name, cell)).to_pylist()


# --- sweeps -----------------------------------------------------------------------------------


@given(
    st.dictionaries(
        st.sampled_from("ABCD"),
        st.lists(st.integers(-9, 9), min_size=1, max_size=4, unique=True).map(tuple),
        max_size=4,
    )
)
def test_a_sweep_has_every_combination_once(sweep):
    found = list(combinations(sweep))
    assert len(found) == math.prod(map(len, sweep.values())) == len(set(found))
    assert all(list(dict(each)) == list(sweep) for each in found)
    assert all(value in sweep[name] for each in found for name, value in each)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31 - 1), st.integers(-(2**31) + 1, 5))
def test_a_variant_has_the_values_and_nothing_else_is_changed(tmp_path_factory, service, first):
    folder = tmp_path_factory.mktemp("variant")
    sweep = f'SERVICE = [{service}]\n"desk.first" = [{first}]'
    (cell,) = plan_of(folder, SCENARIO.replace("SERVICE = [1, 3]", sweep)).cells
    checked = open_text(cell.setup.source).checked
    assert checked.env["SERVICE"].value == service
    assert {each.name: each.arguments for each in checked.instances}["desk"] == (first,)
    original = parse_model((folder / "queue.rebeca").read_text())
    assert checked.tree.classes == original.classes


def test_reals_and_booleans_are_swept_too(tmp_path):
    written(tmp_path)
    (tmp_path / "queue.rebeca").write_text(
        "env float RATE = 1.0;\nenv boolean FAST = false;\n"
        "reactiveclass Desk(5) { statevars { float rate; boolean fast; }\n"
        "Desk(double more) { rate = RATE; fast = FAST; self.serve(); }\nmsgsrv serve() { } }\n"
        "main { Desk desk():(2.5); }\n"
    )
    path = tmp_path / "scenario.toml"
    path.write_text(
        HEAD + '[sweep]\nRATE = [-1.5, 2]\nFAST = [true, false]\n"desk.more" = [0.25]\n'
        '[[observe]]\nvalue = "desk.rate"\n[[observe]]\nvalue = "desk.fast"\n'
    )
    plan, results = run_of_path(path)
    found = {
        tuple(cell.parameters.values()): (
            column(results, cell, "desk_rate")[0],
            column(results, cell, "desk_fast")[0],
        )
        for cell in plan.cells
    }
    assert found == {
        (-1.5, "true", 0.25): (-1.5, 1),
        (-1.5, "false", 0.25): (-1.5, 0),
        (2, "true", 0.25): (2.0, 1),
        (2, "false", 0.25): (2.0, 0),
    }


def run_of_path(path):
    from rebecsim.clusters.scenarios import load

    plan = load(path).plan()
    results = Results.create(path.parent / "run", plan)
    run_plan(plan, results)
    return plan, results


# --- what a run gives ---------------------------------------------------------------------------


def test_the_mean_is_that_of_single_runs_with_the_same_seeds(tmp_path):
    plan, results = run_of(tmp_path, seed=7)
    for cell, moments in zip(plan.cells, results.moments(plan), strict=True):
        model = open_text(cell.setup.source).model
        ends = []
        for replication in range(12):
            scheduler = RandomScheduler(Streams(cell.key, replication), "fair")
            system = simulate(model, scheduler, until=60).system
            ends.append(system.rebec("desk").served)
        assert column(results, cell, "desk_served") == ends
        served = Metric("x", "x", "x", "neither", {"desk_served": 1})
        assert estimate(served, [moments]).value == float(Fraction(sum(ends), 12))


def test_the_first_replication_is_what_simulate_shows_with_this_seed(tmp_path):
    plan, results = run_of(tmp_path, seed=3)
    cell = plan.cells[1]
    shown = simulate(open_text(cell.setup.source).model, make_scheduler("random", 3), until=60)
    assert column(results, cell, "messages")[0] == shown.steps
    assert column(results, cell, "desk_served")[0] == shown.system.rebec("desk").served


def test_all_variants_see_the_same_random_numbers(tmp_path):
    scenario = SCENARIO.replace("desk.served", "source.sent")
    plan, results = run_of(tmp_path, scenario)
    one, three = (column(results, cell, "source_sent") for cell in plan.cells)
    assert one == three
    assert len(set(one)) > 1


def test_waits_are_those_of_lindleys_recursion(tmp_path):
    plan, results = run_of(tmp_path)
    for cell in plan.cells:
        service = cell.parameters["SERVICE"]
        runs = defaultdict(list)
        for row in table(results, cell, "waits"):
            runs[row["replication"]].append((row["arrival"], row["wait"]))
        for number, served in runs.items():
            wait, before = 0, None
            for arrival, found in sorted(served):
                wait = 0 if before is None else max(0, wait + service - (arrival - before))
                assert found == wait
                before = arrival
            assert column(results, cell, "wait_desk_serve_count")[number] == len(served)
            assert column(results, cell, "wait_desk_serve_sum")[number] == sum(
                each for _, each in served
            )


def test_the_mean_wait_of_a_queue_with_known_answer(tmp_path):
    """Geo/D/1: arrivals with probability p, service D: p D (D - 1) / (2 (1 - p D)) (Takagi, 1993).

    The recursion that starts empty is a little below; so is nothing after 3,000 time units.
    """
    scenario = SCENARIO.replace("until = 60", "until = 3000").replace("[1, 3]", "[2, 3]")
    plan, results = run_of(tmp_path, scenario, replications=25)
    (waits,) = (each for each in plan.metrics if each.name == "wait_desk_serve")
    for moments, known in zip(results.moments(plan), (0.5, 3.0), strict=True):
        found = estimate(waits, [moments])
        assert found.value == pytest.approx(known, abs=4 * found.standard_error + 0.02)
        assert found.standard_error < 0.1 * known


def test_a_coin_falls_as_often_as_it_should(tmp_path):
    """The number of those who come in n + 1 time units is binomial."""
    plan, results = run_of(
        tmp_path, HEAD + '[[observe]]\nvalue = "source.sent"\n', replications=400
    )
    sent = np.array(column(results, plan.cells[0], "source_sent"))
    assert sent.mean() == pytest.approx(61 / 4, abs=4 * math.sqrt(61 * 3 / 16 / 400))
    assert sent.var() == pytest.approx(61 * 3 / 16, rel=0.3)


def test_curves_first_times_and_counts_say_the_same_as_the_messages(tmp_path):
    scenario = HEAD + (
        '[[observe]]\nvalue = "desk.served"\nevery = 7\n'
        '[[observe]]\nvalue = "source.sent"\nchanges = true\n'
        '[[observe]]\nfirst = "desk.served >= 3"\nname = "third"\n'
        '[[observe]]\nfirst = "desk.served > 30"\nname = "never"\n'
        '[[observe]]\nserved = "desk.serve"\nname = "served"\n'
        '[[observe]]\nserved = "Source.tick"\nname = "ticks"\n'
    )
    plan = plan_of(tmp_path, scenario)
    (cell,) = plan.cells
    results = Results.create(tmp_path / "run", plan)
    run_plan(plan, results, trace=True)
    part = pq.read_table(results.part(cell)).to_pylist()
    curves, traces = table(results, cell, "curves"), table(results, cell, "traces")
    for row in part:
        number = row["replication"]
        starts = [
            each["time"]
            for each in traces
            if each["replication"] == number and each["server"] == "serve"
        ]
        sampled = {
            each["time"]: each["value"]
            for each in curves
            if each["replication"] == number and each["name"] == "desk_served"
        }
        assert sampled == {at: sum(start <= at for start in starts) for at in range(0, 61, 7)}
        assert row["served"] == len(starts) == row["desk_served"]
        assert row["desk_served_area"] == sum(60 - start for start in starts)
        assert row["ticks"] == 61
        assert (row["third_held"], row["third_time"]) == (1, starts[2])
        assert (row["never_held"], row["never_never"], row["never_time"]) == (0, 1, 0)
        changes = [
            each["value"]
            for each in curves
            if each["replication"] == number and each["name"] == "source_sent"
        ]
        # Of what happens at one time, only what it leads to is a point.
        assert changes == list(range(starts[0] == 0, row["source_sent"] + 1))
    assert any(row["source_sent"] for row in part)


def test_misses_end_a_run_or_are_counted(tmp_path):
    written(tmp_path)
    model = (tmp_path / "queue.rebeca").read_text()
    late = model.replace("desk.serve();", "desk.serve() deadline(2);").replace("= 3;", "= 5;")
    scenario = HEAD + (
        '[[observe]]\nmisses = "all"\n[[observe]]\nwaits = "desk.serve"\n'
        '[[observe]]\noutcome = "deadline missed"\nname = "missed"\n'
    )
    found = {}
    for what in ("end", "count"):
        folder = tmp_path / what
        folder.mkdir()
        plan_of(folder, scenario)
        (folder / "queue.rebeca").write_text(late)
        path = folder / "scenario.toml"
        path.write_text(scenario.replace("until = 60", f'until = 60\ndeadline_misses = "{what}"'))
        plan, results = run_of_path(path)
        found[what] = plan.cells[0], results
    cell, results = found["end"]
    assert set(column(results, cell, "misses_all")) == {1} == set(column(results, cell, "missed"))
    assert all(row["wait"] <= 2 for row in table(results, cell, "waits"))
    endings = table(results, cell, "endings")
    assert [row["ending"] for row in endings] == ["deadline missed"] * 12
    assert "serve() with deadline" in endings[0]["detail"]
    cell, results = found["count"]
    waits = table(results, cell, "waits")
    for number, misses in enumerate(column(results, cell, "misses_all")):
        assert misses == sum(row["wait"] > 2 for row in waits if row["replication"] == number)
    assert set(column(results, cell, "outcome")) == {"time limit"}


def test_a_run_without_messages_is_finished_where_it_may_end(tmp_path):
    written(tmp_path)
    (tmp_path / "queue.rebeca").write_text(
        "reactiveclass Desk(5) { statevars { int served; } Desk() { self.serve(); }\n"
        "msgsrv serve() { served = ?(1, 2); delay(4); } }\nmain { Desk desk():(); }\n"
    )
    path = tmp_path / "scenario.toml"
    path.write_text(
        HEAD.replace("until", 'terminal = "desk.served == 1"\nuntil') + '[[observe]]\nvalue = "'
        'desk.served"\nevery = 30\n[[observe]]\noutcome = "finished"\n'
    )
    plan, results = run_of_path(path)
    (cell,) = plan.cells
    for row in pq.read_table(results.part(cell)).to_pylist():
        assert row["outcome"] == ("finished" if row["desk_served"] == 1 else "deadlock")
        assert row["outcome_finished"] == (row["desk_served"] == 1)
        assert row["desk_served_area"] == 60 * row["desk_served"]  # nothing changes any more
    assert len(table(results, cell, "curves")) == 12 * 3


# --- runs that go wrong ---------------------------------------------------------------------------

GOES_WRONG = """
reactiveclass A(2) {
    knownrebecs { B b; }
    statevars { int done; }
    A() { self.go(); }
    msgsrv go() {
        done = done + 1;
        if (?(true, false)) { WRONG }
        self.go() after(1);
    }
}
reactiveclass B(2) { msgsrv full() { } msgsrv late() { } }
main { A a(b):(); B b():(); }
"""
OBSERVED = """
kind = "model"
name = "wrong"
model = "wrong.rebeca"
until = 1
replications = 400
[[observe]]
value = "a.done"
"""
MORE = """
[[observe]]
first = "a.done == 2"
name = "first"
[[observe]]
value = "a.done + 0"
name = "followed"
changes = true
"""


@pytest.mark.parametrize("wrong", ["b.full(); b.full(); b.full();", 'assertion(done < 1, "no");'])
@pytest.mark.parametrize(("engine", "more"), [("native", ""), ("python", ""), ("python", MORE)])
def test_the_message_that_goes_wrong_leads_to_no_state(tmp_path, wrong, engine, more):
    """As `exact` has it: a quarter of the runs come to 2, a quarter to 1, the others stay at 0."""
    (tmp_path / "wrong.rebeca").write_text(GOES_WRONG.replace("WRONG", wrong))
    (tmp_path / "scenario.toml").write_text(OBSERVED + more)
    plan, results = run_of_engine(tmp_path, engine, replications=400)
    (cell,) = plan.cells
    checked = check_file(tmp_path / "wrong.rebeca")
    quantities = quantities_of([], ["a.done"], ["a.done == 2"], False)
    final, reached = (
        each["expected"]
        for each in exact_orders(build_model(checked), quantities, 1, checked=checked).to_json()[
            "quantities"
        ]
    )
    assert (final, reached) == (0.75, 0.25)
    rows = pq.read_table(results.part(cell)).to_pylist()
    seen = [row["a_done"] for row in rows]
    assert np.mean(seen) == pytest.approx(final, abs=0.15)
    assert {(row["outcome"] == "time limit", row["a_done"]) for row in rows} == {
        (True, 2),
        (False, 1),
        (False, 0),
    }
    if more:
        assert [row["first_held"] for row in rows] == [int(each == 2) for each in seen]
        points = defaultdict(list)
        for row in table(results, cell, "curves"):
            points[row["replication"]].append(row["value"])
        changes = {0: [0], 1: [1], 2: [1, 2]}
        assert [points[place] for place in range(len(rows))] == [changes[each] for each in seen]


# --- engines, workers, resuming -----------------------------------------------------------------


def test_both_engines_give_the_same(tmp_path):
    scenario = SCENARIO.partition("[[observe]]\nwaits")[0] + (
        '[[observe]]\nvalue = "desk.busy"\n[[observe]]\noutcome = "queue overflow"\n'
    )
    written(tmp_path)
    for each in ("python", "native"):
        (tmp_path / each).mkdir()
        plan_of(tmp_path / each, scenario)
        text = (tmp_path / "queue.rebeca").read_text()
        (tmp_path / each / "queue.rebeca").write_text(text.replace("Desk(200)", "Desk(2)"))
    plan, python = run_of_engine(tmp_path / "python", "python")
    _, native = run_of_engine(tmp_path / "native", "native")
    assert python.record()["engines"] == ["python"]
    assert native.record()["engines"] == ["native"]
    outcomes = set()
    for cell in plan.cells:
        for file in (python.part(cell), python.table("endings", cell)):
            other = native.directory / file.relative_to(python.directory)
            assert pq.read_table(file).to_pylist() == pq.read_table(other).to_pylist()
        outcomes |= set(column(python, cell, "outcome"))
    assert outcomes == {"time limit", "queue overflow"}


def run_of_engine(folder, engine, replications=30):
    from rebecsim.clusters.scenarios import load

    plan = load(folder / "scenario.toml").plan(replications=replications)
    results = Results.create(folder / "run", plan)
    run_plan(plan, results, engine=engine)
    return plan, results


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("x", "x", 'waits = "desk.serve" is observed message by message'),
        ('waits = "desk.serve"', 'value = "desk.served * 2"', "is not a variable of whole numbers"),
    ],
)
def test_the_native_engine_says_why_it_cannot(tmp_path, old, new, why):
    scenario = SCENARIO.replace(old, new)
    if new.endswith(".py"):
        scenario = scenario.replace("SERVICE", '"desk.service"')
    plan = plan_of(tmp_path, scenario)
    with pytest.raises(EngineError, match="the native engine cannot observe this") as caught:
        STUDY.prepare(plan, How("native"), print)
    assert why in str(caught.value)


def test_results_depend_neither_on_workers_nor_on_interruptions(tmp_path):
    plan, whole = run_of(tmp_path, replications=130)
    for workers, first in ((1, 40), (2, 120)):
        folder = tmp_path / f"{workers}"
        folder.mkdir()
        some = plan_of(folder, replications=first)
        results = Results.create(folder / "run", some)
        run_plan(some, results, workers=workers)
        again = Results.resume(folder / "run", plan_of(folder, replications=130))
        run_plan(plan_of(folder, replications=130), again, workers=workers)
        for cell in plan.cells:
            for name in ("parts", "waits", "endings"):
                ours, theirs = (each.table(name, cell) for each in (whole, again))
                assert pq.read_table(ours).equals(pq.read_table(theirs))


def test_a_changed_model_is_noticed_and_the_old_one_can_still_be_reported(tmp_path):
    plan, results = run_of(tmp_path)
    text = (tmp_path / "queue.rebeca").read_text()
    (tmp_path / "queue.rebeca").write_text(text.replace("served + 1", "served + 2"))
    from rebecsim.clusters.scenarios import load

    changed = load(tmp_path / "scenario.toml").plan()
    with pytest.raises(ResultsError, match="the model has changed since this run began"):
        Results.resume(results.directory, changed)
    (tmp_path / "queue.rebeca").unlink()
    again = plan_of_run(open_run(results.directory))
    assert [each.setup.source.text for each in again.cells] == [
        each.setup.source.text for each in plan.cells
    ]
    assert again.metrics == plan.metrics


# --- models in Python ---------------------------------------------------------------------------


def test_a_model_in_python_gives_what_the_same_model_in_rebeca_gives(tmp_path):
    plan, results = run_of(tmp_path)
    folder = tmp_path / "python"
    folder.mkdir()
    scenario = SCENARIO.replace("queue.rebeca", "queue.py").replace("SERVICE", '"desk.service"')
    other, theirs = run_of(folder, scenario)
    for one, two in zip(plan.cells, other.cells, strict=True):
        assert one.parameters["SERVICE"] == two.parameters["desk_service"]
        assert column(results, one, "desk_served") == column(theirs, two, "desk_served")
        assert table(results, one, "waits") == table(theirs, two, "waits")


def test_reading_a_run_of_a_model_in_python_runs_nothing_of_it(tmp_path):
    scenario = SCENARIO.replace("queue.rebeca", "queue.py").replace("SERVICE", '"desk.service"')
    _, results = run_of(tmp_path, scenario)
    record = results.directory / "run.json"
    record.write_text(
        record.read_text().replace("from rebecsim.actors", "raise SystemExit(3)\\nfrom x", 1)
    )
    plan = plan_of_run(open_run(results.directory))
    assert "raise SystemExit" in plan.cells[0].setup.source.text
    assert plan.study.sections(plan, results, results.moments(plan))


def test_a_model_in_python_that_does_something_else_each_time_is_refused(tmp_path):
    scenario = SCENARIO.replace("queue.rebeca", "queue.py").partition("[sweep]")[0] + VALUE
    written(tmp_path, scenario)
    path = tmp_path / "queue.py"
    path.write_text(
        "import itertools\nnumbers = itertools.count()\n"
        + path.read_text().replace("self.served += 1", "self.served += next(numbers)")
    )
    from rebecsim.clusters.scenarios import load

    plan = load(tmp_path / "scenario.toml", run_programs).plan()
    with pytest.raises(UserError, match="served"):
        STUDY.prepare(plan, How(), print)


def test_a_constructor_that_fails_is_named_with_its_variant(tmp_path):
    written(tmp_path)
    text = (tmp_path / "queue.rebeca").read_text()
    (tmp_path / "queue.rebeca").write_text(
        text.replace("served = first;", "served = first; assertion(SERVICE < 3);")
    )
    from rebecsim.clusters.scenarios import load

    plan = load(tmp_path / "scenario.toml").plan()
    with pytest.raises(UserError, match=r"SERVICE=3: a constructor fails"):
        STUDY.prepare(plan, How(), print)

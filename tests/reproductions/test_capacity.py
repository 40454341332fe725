"""Published figures beside ours, as text and as a page, and figures from runs."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from rebecsim.clusters.mapreduce.scenario import MapReduceScenario
from rebecsim.clusters.mapreduce.study import STUDY
from rebecsim.errors import UserError
from rebecsim.studies.plan import plan_study
from rebecsim.studies.results import Results
from rebecsim.studies.running import PlannedRun, run_plans
from reproductions.capacity.experiments import (
    all_checked,
    compared_tables,
    reproduction_markdown,
    reproduction_view,
    reversals,
    verdict_counts,
)
from reproductions.capacity.published import Found, Key, as_found, full_verdicts, published
from reproductions.capacity.running import (
    QUICK,
    CapacityExtent,
    JobTasks,
    TaskTimes,
    experiment_scenarios,
    found_in,
    has_delayed_maps,
    pairings,
    small_scenarios,
    stragglers,
    validation_scenarios,
)
from reproductions.capacity.targets import SMALL_TARGETS, checked, paired_ends

TIMES = {"map_time": 100.0, "reduce_time": 60.0, "execution": 130.0, "waiting": 20.0}


def scaled(factor: float, at_once: float = 2.0, waiting: float = 20.0) -> dict[str, float]:
    figures = {name: factor * value for name, value in TIMES.items()}
    return {**figures, "waiting": waiting, "at_once": at_once}


@pytest.fixture
def validation() -> dict[str, dict[str, float]]:
    """Runs that show every trend."""
    return {
        f"slots{slots}_{name}": figures
        for slots in (1, 2)
        for name, figures in {
            "one": scaled(1),
            "queues": scaled(1.5),
            "maximum": scaled(1.4),
            "percent": scaled(2),
            "jobs": scaled(1.2, at_once=1, waiting=90),
        }.items()
    }


def test_two_reduces_on_one_node():
    assert paired_ends(0) == (200, 200)
    assert paired_ends(80) == (120, 200)
    assert paired_ends(100) == (100, 200)


@pytest.mark.parametrize(
    ("run", "changed", "said"),
    [
        ("slots1_queues", {"map_time": 99.0}, "two queues raise map (1)"),
        ("slots2_maximum", {"execution": 210.0}, "caps shorten execution (2)"),
        ("slots1_maximum", {"execution": 195.0}, "caps shorten execution (1)"),  # equal
        ("slots1_percent", {"map_time": 150.0}, "50 % raises map (1)"),  # equal
        ("slots1_percent", {"reduce_time": 80.0}, "50 % raises reduce (1)"),
        ("slots2_jobs", {"at_once": 2.0}, "one job at a time (2)"),
        ("slots1_jobs", {"waiting": 19.0}, "others wait (1)"),
    ],
)
def test_each_trend_of_the_validation_counts(validation, run, changed, said):
    target = SMALL_TARGETS[2]
    assert checked(target, Found({}, {}, validation)).verdict == "holds"
    spoilt = {**validation, run: {**validation[run], **changed}}
    seen = checked(target, Found({}, {}, spoilt))
    assert (seen.verdict, said in seen.ours) == ("missed", True)
    assert checked(target, Found({}, {})).verdict == "open"


def test_the_output_ends_with_what_holds_and_fits_a_terminal():
    file = io.StringIO()
    found = as_found(published())
    Console(file=file, width=80).print(reproduction_view(found, CapacityExtent()))
    lines = file.getvalue().rstrip().split("\n")
    assert lines[-1] == "17 hold, 0 are missed, 2 are open."
    assert lines[-2].startswith("R19 open")
    assert max(len(line.rstrip()) for line in lines) <= 80
    first = next(at for at, line in enumerate(lines) if line.startswith("Table 6.1:"))
    ours, theirs = (lines[first + below].split() for below in (2, 3))
    assert ours[:4] == ["type1", "11.2", "11.0", "10.8"]
    assert theirs[:4] == ["published", "11.25", "11", "10.75"]


def test_only_what_was_run_is_shown():
    found = as_found(published())
    kept = {key: value for key, value in found.values.items() if key.experiment in QUICK}
    quick = replace(found, values=kept, makespans={})
    tables = compared_tables(quick, published())
    assert tables[0].columns == ("1", "2", "4")
    assert all(len(row.ours) == len(table.columns) for table in tables for row in table.rows)
    # Six statements need experiments that are not among the eight, or no runs at all.
    verdicts = [each.name for each in all_checked(quick) if each.verdict == "open"]
    assert verdicts == ["R7", "R9", "R12", "R16", "R18", "R19"]


def test_the_page_says_how_it_was_made():
    text = reproduction_markdown(as_found(published()), CapacityExtent(quick=True))
    assert text.startswith("<!-- Made by `rebecsim reproduce capacity --quick --page FILE`")
    assert "2 replications of each experiment" in text
    assert "| R5 | With 50-50" in text
    assert verdict_counts(all_checked(as_found(published()))) in text
    assert CapacityExtent(replications=1).command == "rebecsim reproduce capacity --replications 1"
    assert (CapacityExtent().runs, CapacityExtent(quick=True, replications=5).runs) == (10, 5)


def test_only_runs_of_the_large_cluster_have_what_was_chosen_for_it():
    chosen = {"queue-order": "backlog", "capped-slots": "maps"}
    large = experiment_scenarios(1)
    small = [*small_scenarios(1), *validation_scenarios(1)]
    for scenario in (*large, *small):
        for variant in scenario.variants:
            found = {key: variant.settings[key] for key in chosen if key in variant.settings}
            by_backlog = {"queue-order": "backlog"} if variant.name.endswith("_backlog") else {}
            assert found == (chosen if scenario in large else by_backlog)


SMALL = {
    "name": "tiny",
    "replications": 2,
    "cluster": {"nodes": 3, "map_slots": 2, "reduce_slots": 1},
    "workload": {
        "jobs": [
            {"family": "type1", "maps": 4, "queue": "queue1"},
            {"family": "type5", "maps": 1, "queue": "queue2", "arrivals": {"first": 1.0}},
        ]
    },
    "variants": [
        {
            "name": name,
            "scheduler": "CAPACITY",
            "settings": {"queue.queue1.capacity": one, "queue.queue2.capacity": 100 - one},
        }
        for name, one in (("experiment_1", 50), ("experiment_9", 70))
    ],
}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> PlannedRun:
    plan = plan_study(STUDY, MapReduceScenario.model_validate(SMALL))
    run = PlannedRun(plan, Results.create(tmp_path_factory.mktemp("tiny") / "run", plan))
    run_plans([run])
    return run


def test_tables_are_chosen_by_their_numbers():
    extent = CapacityExtent(tables=("5.2", "6.14"))
    assert extent.command == "rebecsim reproduce capacity --tables 5.2,6.14"
    assert extent.experiments == set(range(17, 25))
    assert (extent.has("5.1"), extent.has("5.2", "5.3")) == (False, True)
    found = as_found(published())
    titles = [each.title[:11] for each in compared_tables(found, extent.chosen)]
    assert titles == ["Table 6.14:"]
    with pytest.raises(UserError, match=r"no table '5.9'; they are 5.1 to 5.4 and 6.1 to 6.20"):
        _ = CapacityExtent(tables=("5.9",)).chosen
    assert published().only(published().numbers) == published()
    assert published().only(["5.3"]).shared == ("5.3",)


def test_a_quick_run_says_which_verdicts_more_runs_reverse():
    outcomes = all_checked(as_found(published()))
    said = reversals(outcomes)
    # By the published figures all hold that are not open; ours miss some.
    missed = [name for name, verdict in full_verdicts().items() if verdict == "missed"]
    run = {each.name for each in outcomes if each.verdict != "open"}
    assert said == (
        "All experiments, ten times each, reverse "
        + ", ".join(f"{name} (missed)" for name in missed if name in run)
        + "."
    )
    alike = [each for each in outcomes if each.verdict == full_verdicts()[each.name]]
    assert reversals(alike) == "All experiments, ten times each, give the same verdicts."


def test_the_recorded_verdicts_are_those_of_the_page():
    page = Path(__file__).parents[2] / "docs" / "reproduction-capacity.md"
    rows = [line.split(" | ") for line in page.read_text().split("\n") if line.startswith("| R")]
    assert {row[0].strip("| "): row[3] for row in rows} == full_verdicts()


def test_pairings_stragglers_and_delayed_maps_are_counted_from_tasks():
    def times(*tasks: tuple[int, int, int]) -> TaskTimes:
        return TaskTimes(*(np.array(column) for column in zip(*tasks, strict=True)))

    def job(user: str, submit: int, maps: TaskTimes, reduces: TaskTimes) -> JobTasks:
        return JobTasks("sort", user, "queue1", submit, maps, reduces)

    straggling = times((0, 0, 10), (1, 0, 10), (2, 0, 15))
    first = job("user1", 0, straggling, times((0, 5, 50)))
    later = job("user2", 1, times((0, 10, 20)), times((0, 50, 60)))  # as the first ends
    early = job("user2", 1, times((0, -1, 20)), times((0, 49, 60)))
    assert pairings([[first, later], [first, early]]) == {
        ("sort", "user1"): (1, 1),
        ("sort", "user2"): (1, 1),
    }
    assert [stragglers([first, each]) for each in (later, early)] == [1, 1]
    assert (has_delayed_maps([first, later]), has_delayed_maps([first, early])) == (False, True)


def test_delayed_maps_are_often_without_caps_and_never_with_them(validation):
    target = SMALL_TARGETS[3]
    delayed = {"queues": 0.0, "queues_backlog": 0.9, "maximum_backlog": 0.0}
    runs = {
        f"slots{slots}_{name}": {"delayed": share}
        for slots in (1, 2)
        for name, share in delayed.items()
    }
    assert checked(target, Found({}, {}, runs)).verdict == "holds"
    for run, share in (("slots1_queues_backlog", 0.5), ("slots2_maximum_backlog", 0.1)):
        spoilt = {**runs, run: {"delayed": share}}
        assert checked(target, Found({}, {}, spoilt)).verdict == "missed"
    assert checked(target, Found({}, {}, validation)).verdict == "open"


def test_figures_are_of_the_jobs_of_all_replications(tiny):
    found = found_in([tiny], [tiny], [tiny])
    assert found.ran(1, 2, 9) == (1, 9)
    assert found.of("response_ratio", 1, "type1") >= 1
    one, two = (found.of("makespan", 1, "", queue) for queue in ("queue1", "queue2"))
    assert one > two > 0
    assert Key("makespan", 9, "", "queue1") in found.values
    assert found.makespans["experiment_1"] == (one, two)
    assert found.validation["slots1_experiment_9"]["at_once"] == 1
    near = [found.of(name, 1, "type1") for name in ("node_local", "rack_local", "remote")]
    assert sum(near) == pytest.approx(100)


def test_the_report_has_families_queues_and_pictures(tiny):
    by_group, families, queues, pictures = STUDY.sections(tiny.plan, tiny.results, ())
    assert by_group.title == "By queue"
    assert not by_group.answer
    assert by_group.sentences[0] == "experiment_9 instead of experiment_1, on average:"
    assert by_group.terminal is None
    ratio = families.tables[0]
    assert ratio.headings == ("", "experiment_1", "experiment_9")
    assert [name for name, _ in ratio.rows] == ["type1", "type5"]
    assert [name for name, _ in queues.tables[0].rows] == ["queue1", "queue2"]
    assert families.files["families.csv"].count("\n") == 5
    names = ["families", "families_by_queue", "users", "waits", "shares", "gantt", "devices"]
    assert [each.name for each in pictures.pictures] == names
    for picture in pictures.pictures:
        assert picture.draw().get_axes()


def test_shares_add_up_to_what_attempts_hold(tiny):
    import pyarrow.parquet as pq

    cell = tiny.plan.cells[0]
    shares, attempts = (
        pq.read_table(tiny.results.table(name, cell)).to_pandas() for name in ("shares", "attempts")
    )
    first = attempts[(attempts.replication == 0) & (attempts.kind == "map")]
    held = (first.end - first.start).sum()
    mine = shares[shares.replication == 0]
    width = mine.time[mine.time > 0].min()
    assert (mine.maps.sum() * width) == pytest.approx(held, rel=1e-6)


def test_results_do_not_depend_on_the_folder(tiny, tmp_path: Path):
    again = PlannedRun(tiny.plan, Results.create(tmp_path / "again", tiny.plan))
    run_plans([again])
    for cell in tiny.plan.cells:
        assert again.results.part(cell).read_bytes() == tiny.results.part(cell).read_bytes()

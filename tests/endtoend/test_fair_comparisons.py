"""Comparisons that are fair, or say that they are not, as a user runs them."""

import csv
import re

import pytest

from tests.endtoend.test_cli import SCENARIO

SAME = (
    SCENARIO.replace('["EDF", "FIFO"]', '["EDF", "PRIORITY"]')
    + "\n[high_priority]\nprobability = 30\nlength = 1\n"
)
AS_PUBLISHED = SAME.replace("policies =", 'workload = "as-published"\npolicies =')


@pytest.fixture
def compared(run, tmp_path):
    def compare(text):
        (tmp_path / "given.toml").write_text(text)
        return run(
            "compare", "given.toml", "--out", "out", "--no-orders", "--explain", cwd=tmp_path
        )

    return compare


@pytest.mark.usefixtures("without_charts")
def test_the_answer_says_first_that_policies_saw_different_jobs(compared, tmp_path):
    done = compared(AS_PUBLISHED)
    assert done.stdout.startswith("The policies saw different jobs"), done.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    assert '<p class="answer">The policies saw different jobs' in page


@pytest.mark.usefixtures("without_charts")
def test_nothing_is_said_of_policies_that_saw_the_same_jobs(compared):
    assert "different jobs" not in compared(SAME).stdout


@pytest.mark.usefixtures("without_charts")
def test_eviction_has_no_other_workload(compared):
    done = compared(
        AS_PUBLISHED.replace('["EDF", "PRIORITY"]', '["MDF", "MLF"]') + "\n[eviction]\n"
    )
    assert done.returncode == 2
    assert "is for scenarios without [eviction]" in done.stderr


@pytest.mark.usefixtures("without_charts")
def test_patterns_are_told_apart(compared, tmp_path):
    more = '\n[[lengths]]\npattern = "uniform"\nlength = 2\n'
    assert compared(SCENARIO + more).returncode == 0
    with (tmp_path / "out" / "table.csv").open() as file:
        assert len({row["lengths"] for row in csv.DictReader(file)}) == 2
    assert (tmp_path / "out" / "charts" / "deadline_misses_2.png").exists()


@pytest.mark.usefixtures("without_charts")
def test_the_level_of_intervals_is_a_key(compared):
    done = compared(SCENARIO.replace("policies =", "confidence = 99\npolicies ="))
    assert "99 % interval" in done.stdout, done.stderr
    assert "95 % interval" not in done.stdout


def test_a_percentage_of_high_priority_need_not_be_a_multiple_of_ten(run, tmp_path):
    (tmp_path / "given.toml").write_text(SAME.replace("probability = 30", "probability = 15"))
    done = run("generate", "given.toml", "--out", "models", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    texts = [path.read_text() for path in (tmp_path / "models").iterdir()]
    assert all("?(5, 10, 15, 20," in text for text in texts)
    checked = run("check", "--strict", *(tmp_path / "models").iterdir())
    assert checked.returncode == 0, checked.stderr


def fates(tmp_path, policy):
    with (tmp_path / "out" / "breakdown.csv").open() as file:
        rows = {row["policy"]: row for row in csv.DictReader(file)}
    return {name: float(text) for name, text in rows[policy].items() if name != "policy" and text}


@pytest.mark.usefixtures("without_charts")
def test_what_became_of_jobs_is_told_by_priority_under_every_policy(compared, tmp_path):
    done = compared(SAME)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    for title in ("Missed, queue", "Missed, AppMaster", "Completed", "Dropped"):
        assert f"{title}, high priority" in page
        assert f"{title}, low priority" in page
    with (tmp_path / "out" / "table.csv").open() as file:
        misses = {row["policy"]: float(row["deadline_misses"]) for row in csv.DictReader(file)}
    for policy in ("EDF", "PRIORITY"):
        found = fates(tmp_path, policy)
        parts = [found[f"{p}_{w}_misses"] for p in ("high", "low") for w in ("queue", "update")]
        assert sum(parts) == pytest.approx(misses[policy])
        assert found["high_completions"] > 0
    assert (
        fates(tmp_path, "PRIORITY")["high_queue_misses"]
        < fates(tmp_path, "EDF")["high_queue_misses"]
    )


@pytest.mark.usefixtures("without_charts")
@pytest.mark.parametrize("text", [SCENARIO, AS_PUBLISHED])
def test_priorities_that_not_all_jobs_have_are_not_counted(compared, tmp_path, text):
    assert compared(text).returncode == 0
    assert "high priority</th>" not in (tmp_path / "out" / "report.html").read_text()
    assert not (tmp_path / "out" / "breakdown.csv").exists()


@pytest.mark.usefixtures("without_charts")
def test_dropped_jobs_are_told_by_priority_with_eviction(compared, tmp_path):
    text = SAME.replace('["EDF", "PRIORITY"]', '["MDF", "MLF"]') + "\n[eviction]\n"
    done = compared(re.sub(r"queue_size = \d+", "queue_size = 1", text))
    assert "Dropped, production" in done.stdout, done.stderr
    found = fates(tmp_path, "MDF")
    assert found["production_drops"] > 0
    assert found["research_drops"] > 0


@pytest.mark.usefixtures("without_charts")
def test_eviction_has_speeds_and_power(compared, tmp_path):
    hardware = "\n[eviction]\n\n[power]\nidle = [10.0]\nbusy = [20.0]\n"
    text = SCENARIO.replace('["EDF", "FIFO"]', '["MDF", "MLF"]\nspeeds = [1.0, 0.5]')
    done = compared(text + hardware)
    assert "Energy (" in done.stdout, done.stderr
    with (tmp_path / "out" / "energy.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if not row["app_master"]]
    assert len(rows) == 4
    for row in rows:
        # Of 30 seconds at 10 watts, and 10 more while it is busy.
        machines = int(row["app_masters"])
        energy = machines * 30 * 10 * (1 + float(row["utilisation"]))
        assert float(row["energy"]) == pytest.approx(energy)
    assert (tmp_path / "out" / "charts" / "energy.svg").exists()

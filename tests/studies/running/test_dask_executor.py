"""Dask as an executor: what is sent, what is refused, and what becomes of results."""

import pickle
import sys
import time
from functools import partial

import pytest

from rebecsim.cli import compare as command
from rebecsim.errors import UserError
from rebecsim.processes import carried
from rebecsim.studies.dask_executor import (
    ClusterLostError,
    Packed,
    TaskInputs,
    _started_cluster,
    dask_executor,
    require_dask,
    require_same_versions,
)
from rebecsim.studies.record import versions
from tests.dask_cluster import Cluster
from tests.waiting import PATIENCE


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("cluster"), workers=1) as cluster:
        yield cluster


def read(path):
    return carried(path).read_bytes()


def fail():
    raise ZeroDivisionError("of a task")


def refuse():
    raise UserError("this machine is not wanted")


def test_a_task_reads_files_that_its_worker_does_not_have(cluster, tmp_path):
    log = tmp_path / "log.swf"
    log.write_bytes(b"jobs")
    inputs = TaskInputs.with_files([log], None)
    log.unlink()
    with dask_executor(cluster.address, 1, inputs, lambda told: None) as executor:
        assert executor.submit(read, log).result() == b"jobs"
        assert list(executor.map(abs, [-1, -2])) == [1, 2]
    inputs = TaskInputs({str(log): b"other jobs"})
    with dask_executor(cluster.address, 1, inputs, lambda told: None) as executor:
        assert executor.submit(read, log).result() == b"other jobs"


def test_what_a_task_raises_is_raised(cluster):
    with dask_executor(cluster.address, 1, TaskInputs(), lambda told: None) as executor:
        with pytest.raises(ZeroDivisionError, match="of a task"):
            executor.submit(fail).result()
        assert executor.submit(abs, -1).result() == 1


def test_results_that_are_lost_with_the_scheduler_are_not_waited_for(cluster, monkeypatch):
    """Those of tasks that are done, and not fetched yet."""
    with dask_executor(cluster.address, 1, TaskInputs(), lambda told: None) as executor:
        monkeypatch.setattr(executor._client, "_gather_remote", out_of_reach)
        with pytest.raises(ClusterLostError, match="no longer answers"):
            executor.submit(abs, -1).result(PATIENCE)


async def out_of_reach(*_):
    raise OSError("the scheduler was killed")


def test_what_is_told_first_is_done_first(cluster, tmp_path):
    """So that results are there when they are to be written."""
    file = tmp_path / "order"
    numbers = range(40)
    with dask_executor(cluster.address, 1, TaskInputs(), lambda told: None) as executor:
        told = [executor.submit(append, file, f"{number}\n") for number in numbers]
        for future in told:
            future.result(PATIENCE)
    assert list(map(int, file.read_text().split())) == list(numbers)


def append(file, text):
    with file.open("a") as stream:
        stream.write(text)


def test_it_is_said_which_cluster_it_is(cluster):
    told = []
    with dask_executor(cluster.address, 1, TaskInputs(), told.append) as executor:
        assert executor.submit(abs, -1).result() == 1  # there is a worker by now
        assert executor.ahead >= 4
    (line,) = told
    assert line.startswith(f"dask: {cluster.address}, ")
    assert "dashboard" in line


def test_a_worker_that_cannot_be_prepared_is_no_riddle(cluster):
    inputs = TaskInputs(prepare=refuse)
    with dask_executor(cluster.address, 1, inputs, lambda told: None) as executor:
        for _ in range(2):
            with pytest.raises(UserError, match="this machine is not wanted"):
                executor.submit(abs, -1).result()


def test_other_versions_are_refused_before_anything_is_done(cluster):
    inputs = TaskInputs(versions={**versions(), "numpy": "1.0.0"})
    with (
        pytest.raises(UserError, match=r"scheduler .* has numpy .*, and this program 1\.0\.0"),
        dask_executor(cluster.address, 1, inputs, lambda told: None),
    ):
        pass


def test_a_worker_looks_at_the_versions_itself(cluster, monkeypatch):
    monkeypatch.setattr("rebecsim.studies.dask_executor._require_same_as_here", lambda *_: None)
    inputs = TaskInputs(versions={**versions(), "rebecsim": "0.0.1"})
    with (
        dask_executor(cluster.address, 1, inputs, lambda told: None) as executor,
        pytest.raises(
            UserError, match=r"worker tcp://.* has rebecsim .*, and this program 0\.0\.1"
        ),
    ):
        executor.submit(abs, -1).result()


def test_the_last_part_of_the_version_of_python_may_differ():
    require_same_versions({"python": "3.11.7"}, {"worker w": {"python": "3.11.9.final.0"}})
    with pytest.raises(UserError, match=r"worker w has python 3\.12\.0"):
        require_same_versions({"python": "3.11.7"}, {"worker w": {"python": "3.12.0"}})


def test_what_is_not_installed_there_is_named():
    with pytest.raises(UserError, match="worker w has no rebecsim; install rebecsim 0"):
        require_same_versions({"rebecsim": "0.1"}, {"worker w": {"rebecsim": None}})


def test_luggage_of_the_same_content_has_the_same_name():
    one, same, other = (
        Packed.of(TaskInputs({"log": content}, partial(abs, 1))) for content in (b"a", b"a", b"b")
    )
    assert one == same
    assert one.name != other.name
    assert pickle.loads(one.content).files == {"log": b"a"}


def test_without_dask_it_is_said_what_to_install(monkeypatch, run, tmp_path):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UserError, match=r"pip install 'rebecsim\[distributed\]'"):
        require_dask()
    done = run("compare", "for_edf", "--out", "out", "--dask", cwd=tmp_path)
    assert done.returncode == 2
    assert "pip install 'rebecsim[distributed]'" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("nonsense://host:1", "unknown address scheme 'nonsense'"),
        ("tcp://host", "missing port number"),
        ("127.0.0.1:1", "Timed out"),
    ],
)
def test_an_address_without_a_scheduler_is_named(address, reason, run, tmp_path, monkeypatch):
    monkeypatch.setattr("rebecsim.studies.dask_executor._ANSWER_WITHIN", 0.5)
    done = run("compare", "for_edf", "--out", "out", "--dask", address, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{address}: no Dask scheduler answers there")
    assert reason in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_worker_is_no_scheduler(cluster, tmp_path):
    with dask_executor(cluster.address, 1, TaskInputs(), lambda told: None) as executor:
        worker = executor.submit(address_of_worker).result()
    with (
        pytest.raises(UserError, match="that is a worker"),
        dask_executor(worker, 1, TaskInputs(), lambda told: None),
    ):
        pass


def address_of_worker():
    from distributed import get_worker

    return get_worker().address


@pytest.mark.parametrize(
    ("given", "address"),
    [
        (["s.toml", "--dask"], "local"),
        (["--dask", "s.toml"], "local"),
        (["s.toml", "--dask", "--resume"], "local"),
        (["s.toml", "--dask", "tcp://host:1"], "tcp://host:1"),
        (["s.toml", "--dask=tcp://host:1"], "tcp://host:1"),
        (["--dask", "host:8786", "s.toml"], "host:8786"),
        (["s.toml"], None),
    ],
)
def test_the_address_may_be_left_out(given, address, run, monkeypatch, tmp_path):
    class SeenError(UserError):
        pass

    def see(found, workers):
        raise SeenError(f"address {found}")

    monkeypatch.setattr(command, "require_cluster", see)
    done = run("compare", *given, "--out", "out", cwd=tmp_path)
    expected = "s.toml" if address is None else f"address {address}\n"
    assert expected in done.stderr


def test_a_search_runs_on_dask(run, tmp_path):
    asked = ("tune", "for_edf", "--over", "app_masters=1..2", "--budget", 60)
    plain = run(*asked, "--workers", 1, cwd=tmp_path)
    on_dask = run(*asked, "--dask", "--workers", 1, cwd=tmp_path)
    assert on_dask.returncode == 0
    assert on_dask.stdout == plain.stdout
    assert "dask: 1 worker" in on_dask.stderr


def test_the_workers_of_a_cluster_are_not_counted_here(run, tmp_path):
    options = ("--dask", "tcp://host:1", "--workers", 2)
    done = run("compare", "for_edf", "--out", "out", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot be given with --workers" in done.stderr


def test_nothing_is_told_to_a_scheduler_that_has_gone(tmp_path):
    with (
        Cluster(tmp_path, workers=1) as own,
        dask_executor(own.address, 1, TaskInputs(), lambda told: None) as executor,
    ):
        assert executor.submit(abs, -1).result(PATIENCE) == 1
        waiting = executor.submit(time.sleep, 600)
        own.scheduler.kill()
        for lost in (waiting, None):
            with pytest.raises(ClusterLostError, match=f"{own.address} no longer answers"):
                (lost or executor.submit(abs, -1)).result(PATIENCE)


@pytest.mark.parametrize("failures", [2, 3])
def test_a_cluster_whose_process_is_killed_while_it_starts_is_started_again(
    monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    left = [RuntimeError("Nanny failed to start.")] * failures

    def start(**_: object) -> str:
        if left:
            raise left.pop()
        return "a cluster"

    monkeypatch.setattr("distributed.LocalCluster", start)
    if failures < 3:
        assert _started_cluster(2) == "a cluster"
    else:
        with pytest.raises(UserError, match=r"cannot be started .* Nanny failed to start"):
            _started_cluster(2)

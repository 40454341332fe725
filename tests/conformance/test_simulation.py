"""Every conformance model is accepted or refused as it should be, and runs to a known verdict."""

import pytest

from rebecsim.actors import RandomScheduler, Streams
from rebecsim.generate import build_model, python_source
from rebecsim.lang import RebecaError, check_file
from rebecsim.simulation import simulate
from tests.exploration.conformance import SUITE, entries


def verdicts(entry):
    """The right verdicts of a model without properties, whatever the mode."""
    plain = [result for result in entry["results"] if "property" not in result]
    return {result.get("ideal", result)["verdict"] for result in plain}


def ids(entry):
    return entry["file"]


@pytest.mark.parametrize("entry", entries(), ids=ids)
def test_verdicts_of_random_runs(entry):
    path = SUITE / entry["file"]
    expected = verdicts(entry)
    if expected == {"compile error"}:
        with pytest.raises(RebecaError):
            check_file(path, entry["language"])
        return
    model = build_model(check_file(path, entry["language"]), path.name)
    seen = set()
    for replication in range(25):
        scheduler = RandomScheduler(Streams((11, 12), replication))
        seen.add(simulate(model, scheduler, max_steps=300).outcome)
    meanings = {"step limit": "satisfied", "ended": "deadlock"}  # as the reference takes them
    seen = {meanings.get(outcome, outcome) for outcome in seen}
    assert seen <= expected | {"satisfied"}
    wanted = expected - {"satisfied", "unbounded"}
    if wanted and entry["file"] != "philosophers3_deadlock.rebeca":
        assert wanted & seen, "25 random runs did not meet the violation"


@pytest.mark.parametrize("entry", entries(), ids=ids)
def test_generated_modules_are_complete_programs(entry, tmp_path):
    if verdicts(entry) == {"compile error"}:
        pytest.skip("refused, so nothing is generated")
    path = SUITE / entry["file"]
    checked = check_file(path, entry["language"])
    source = python_source(checked, path.name)
    namespace = {"__name__": "generated"}
    exec(compile(source, path.name, "exec"), namespace)
    for name, cls in checked.classes.items():
        for server in cls.servers:
            assert server.name in namespace[name].__servers__
    assert [each.name for each in namespace["model"].instances] == [
        each.name for each in checked.instances
    ]

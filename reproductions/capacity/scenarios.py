"""The published experiments as scenarios: built-in ones, and those in `capacity_small`."""

from __future__ import annotations

from collections.abc import Collection
from importlib import resources
from pathlib import Path

from rebecsim.clusters.mapreduce.scenario import MapReduceScenario
from rebecsim.studies.scenario import validated
from rebecsim.studies.scenario_files import read_scenario_text

EXPERIMENT = "experiment_"
"""Before the number in the name of a variant that is one of the 32."""

_LARGE = ("capacity_separated", "capacity_interleaved", "capacity_apart")
_SENSITIVITY = (
    "two_queues",
    "three_queues",
    "two_reduces",
    "prioritised",
    "four_users",
    "four_users_five_reduces",
)
_VALIDATION = tuple(f"validation{slots}_{name}" for slots in (1, 2) for name in ("one", "two"))


def experiment_scenarios(
    replications: int, numbers: Collection[int] | None = None
) -> list[MapReduceScenario]:
    """Give a scenario for each pattern of submission, with some of its experiments, or all."""
    found = [_scenario(name, replications) for name in _LARGE]
    if numbers is None:
        return found
    chosen = [
        (scenario, [each for each in scenario.variants if number_of(each.name) in numbers])
        for scenario in found
    ]
    return [
        scenario.model_copy(update={"variants": tuple(variants)})
        for scenario, variants in chosen
        if variants
    ]


def number_of(variant: str) -> int:
    """Give the number of the experiment that a variant is."""
    return int(variant.removeprefix(EXPERIMENT))


def small_scenarios(replications: int) -> list[MapReduceScenario]:
    """Give the runs of table 5.1, one scenario for each of their workloads."""
    return [_of_folder(name, replications) for name in _SENSITIVITY]


def validation_scenarios(replications: int) -> list[MapReduceScenario]:
    """Give the runs of section 5.2: with one and with two reduce slots of a node."""
    return [_of_folder(name, replications) for name in _VALIDATION]


def _of_folder(name: str, replications: int) -> MapReduceScenario:
    folder = resources.files("rebecsim.models") / "scenarios" / "capacity_small"
    return _scenario(Path(str(folder / f"{name}.toml")), replications)


def _scenario(source: str | Path, replications: int) -> MapReduceScenario:
    text = read_scenario_text(source)
    values = {**text.values, "replications": replications}
    return validated(MapReduceScenario, text.origin, values, text.lines)

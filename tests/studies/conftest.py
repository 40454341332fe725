import pytest

from rebecsim.clusters.dispatch.scenario import Scenario

SMALL = {
    "name": "small",
    "policies": ["EDF", "MDF"],
    "app_masters": [1, 3],
    "queue_size": 4,
    "epsilon": 0.5,
    "replications": 6,
    "ticks": 20,
    "seed": 7,
    "arrivals": [{"pattern": "nondet", "minimum": 0, "maximum": 2}],
    "lengths": [{"pattern": "nondet", "minimum": 1, "maximum": 4}],
}


@pytest.fixture(scope="session")
def small() -> Scenario:
    """Two policies, two cluster sizes, six short runs each."""
    return Scenario.model_validate(SMALL)

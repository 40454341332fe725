"""Names of packages that are loaded when they are asked for."""

from importlib import import_module

import pytest

PACKAGES = [
    *(
        "actors",
        "clusters",
        "clusters.batch",
        "clusters.mapreduce",
        "clusters.yarn",
        "exploration",
        "exploration.orders",
        "exploration.races",
        "generate",
        "interface",
    ),
    *("lang", "live", "metrics", "native", "report", "simulation", "studies", "web", "workloads"),
]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_can_be_had(package):
    module = import_module(f"rebecsim.{package}")
    assert dir(module) == sorted(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("package", PACKAGES)
def test_another_name_is_an_error(package):
    module = import_module(f"rebecsim.{package}")
    with pytest.raises(AttributeError, match=f"No rebecsim.{package} attribute no"):
        _ = module.no
    with pytest.raises(ImportError, match="cannot import name 'no'"):
        exec(f"from rebecsim.{package} import no")

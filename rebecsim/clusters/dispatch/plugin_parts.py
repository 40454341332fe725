"""What plug-ins may bring to the kind `dispatch`: policies, and patterns of workloads.

A model with each policy is rendered and checked; the fragment of a pattern is compiled, as it is
rendered with the numbers of a scenario only.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from rebecsim.clusters.dispatch.configuration import Configuration, HighPriority
from rebecsim.clusters.dispatch.pattern_kinds import arrivals, lengths
from rebecsim.clusters.dispatch.patterns import UniformArrivals, UniformLengths, WorkloadPattern
from rebecsim.clusters.dispatch.policies import (
    DispatchPolicy,
    EvictionPolicy,
    dispatch_policies,
    eviction_policies,
)
from rebecsim.clusters.dispatch.source import NatjamConfiguration, natjam_source, rebeca_source
from rebecsim.clusters.kit.plugins import PluginPart, abstract_methods, require_policy
from rebecsim.generate.templates import has_template, template_environment
from rebecsim.lang import check_source

_PATTERN_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def _require_dispatch(policy: Any) -> None:
    require_policy(policy, DispatchPolicy)
    _require_fragment(policy.fragment, f"policy {policy.name}")


def _require_eviction(policy: Any) -> None:
    require_policy(policy, EvictionPolicy)
    _require_fragment(policy.fragment, f"policy {policy.name}")


def _require_pattern(pattern: Any) -> None:
    if not isinstance(pattern, type) or not issubclass(pattern, WorkloadPattern):
        raise TypeError(f"{pattern!r} is not a subclass of WorkloadPattern")
    if inspect.isabstract(pattern):
        raise TypeError(f"pattern {pattern.__name__} does not define {abstract_methods(pattern)}")
    names = pattern.names() if "pattern" in pattern.model_fields else ()
    if not names or not all(isinstance(n, str) and _PATTERN_NAME.fullmatch(n) for n in names):
        raise TypeError(
            f'pattern {pattern.__name__} needs a field like pattern: Literal["mine"] = "mine", '
            "of lower-case letters, digits and _, with a letter first"
        )
    if not isinstance(getattr(pattern, "uses_time", None), bool):
        raise TypeError(f"pattern {pattern.__name__} needs a class variable uses_time, a boolean")
    _require_fragment(getattr(pattern, "fragment", None), f"pattern {pattern.__name__}")


def _require_fragment(name: object, owner: str) -> None:
    if not isinstance(name, str) or not has_template(name):
        raise ValueError(f"{owner}: there is no fragment {name!r}; add it to `fragments`")


def _names(pattern: type[WorkloadPattern]) -> tuple[str, ...]:
    return pattern.names()


def _small(policy: str) -> dict[str, object]:
    return {
        "policy": policy,
        "arrivals": UniformArrivals(count=1),
        "lengths": UniformLengths(length=3),
        "app_masters": 2,
        "queue_size": 3,
        "epsilon": 1.0,
        "high_priority": HighPriority(probability=10, length=1),
    }


def _try_dispatch(policy: DispatchPolicy) -> None:
    rebeca_source(Configuration.model_validate(_small(policy.name)))


def _try_eviction(policy: EvictionPolicy) -> None:
    text = natjam_source(NatjamConfiguration.model_validate(_small(policy.name)))
    check_source(text, "model.rebeca")


def _try_pattern(pattern: type[WorkloadPattern]) -> None:
    template = template_environment().get_template(pattern.fragment)
    if not hasattr(template.module, "assign"):
        raise TypeError(f"fragment {pattern.fragment} defines no macro `assign`")


PLUGIN_PARTS = (
    PluginPart("dispatch_policies", dispatch_policies, _require_dispatch, attempt=_try_dispatch),
    PluginPart("eviction_policies", eviction_policies, _require_eviction, attempt=_try_eviction),
    PluginPart("arrival_patterns", arrivals, _require_pattern, _names, _try_pattern),
    PluginPart("length_patterns", lengths, _require_pattern, _names, _try_pattern),
)
"""Ways to choose the job to run, and the job to put aside; classes of patterns that may stand
under `arrivals`, and under `lengths`."""

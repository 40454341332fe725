"""How far exact orders of dispatching clusters go: states, seconds, memory, and what is found.

`python benchmarks/orders.py SCENARIO POLICY APP_MASTERS` finds what all orders of one cell of a
built-in scenario come to, as `rebecsim compare --exact` does for each cell. `--states` is how many
states are looked at, and `--ticks` takes the place of the scenario's.
"""

from __future__ import annotations

import argparse
import resource
import time

from rebecsim.clusters.dispatch.configuration import Configuration
from rebecsim.clusters.dispatch.orders.solving import exact_cluster
from rebecsim.clusters.scenarios import load
from rebecsim.studies.study import MOST_STATES


def main() -> None:
    """Measure one cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenario")
    parser.add_argument("policy")
    parser.add_argument("app_masters", type=int)
    parser.add_argument("--states", type=int, default=MOST_STATES)
    parser.add_argument("--ticks", type=int)
    asked = parser.parse_args()
    scenario = load(asked.scenario).plan().scenario
    configuration = next(
        each
        for each in scenario.configurations()
        if (each.policy, each.app_masters) == (asked.policy, asked.app_masters)
    )
    assert isinstance(configuration, Configuration), "there is no [eviction]"
    began = time.process_time()
    ticks = asked.ticks or scenario.ticks
    found = exact_cluster(configuration, ticks, law=scenario.choice_law, most_states=asked.states)
    seconds = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    how = "exact" if found.is_exact else "bounds"
    print(
        f"{asked.scenario} {asked.policy} {asked.app_masters}: {how}, {ticks} ticks, every state "
        f"of {found.known_ticks}; {found.figures['states']:,} states, {found.figures['actions']:,} "
        f"ways to go on, {seconds:.1f} s of the processor, {memory / 1e6:,.0f} MB"
    )
    for name, goals in found.values.items():
        shown = (f"{goal} {each.low:.7g} to {each.high:.7g}" for goal, each in goals.items())
        print(f"  {name}: {', '.join(shown)}")


if __name__ == "__main__":
    main()

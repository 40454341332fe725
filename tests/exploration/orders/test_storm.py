"""Exact orders: Storm comes to the same, where it is installed.

On Linux `pip install stormpy` suffices: version 2.0.0, which was tried, has wheels.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rebecsim.exploration.orders import Quantity, exact_orders
from rebecsim.exploration.orders.decision_process import DecisionProcess, Rewards
from rebecsim.generate.module import load_checked

MODELS = Path(__file__).resolve().parents[3] / "models"

ASKED = {
    "ticket_service": (12, Quantity("increase", "ann.tickets"), Quantity("final", "office.left")),
    "teaching/train_crossing": (
        14,
        Quantity("increase", "controller.trains"),
        Quantity("reached", "express.crossing && local.crossing"),
    ),
    "teaching/producer_consumer": (36, Quantity("goes wrong")),
}


def explicit_text(process: DecisionProcess, rewards: Rewards) -> str:
    """Write a process as Storm reads it; all runs end in a last state, those that settle there."""
    end = process.states
    rows = np.add.reduceat(process.probability * rewards.gain, process.first_outcome[:-1])
    text = ["@type: MDP", "@parameters", "", "@reward_models", "got", "@nr_states", str(end + 1)]
    lines: list[str] = []
    choices = 0
    for state in range(end):
        actions = range(process.first_action[state], process.first_action[state + 1])
        is_settled = not np.isnan(rewards.settled[state])
        lines.append(f"state {state} [0]{' init' * (state == 0)}")
        if is_settled or not actions:
            last = float((rewards.settled if is_settled else rewards.ending)[state])
            lines += [f"\taction 0 [{last!r}]", f"\t\t{end} : 1"]
            choices += 1
            continue
        for place, action in enumerate(actions):
            lines.append(f"\taction {place} [{float(rows[action])!r}]")
            chances: dict[int, float] = {}
            for each in range(*process.first_outcome[action : action + 2]):
                target = int(process.target[each])
                chances[target] = chances.get(target, 0.0) + float(process.probability[each])
            lines += [f"\t\t{target} : {chance!r}" for target, chance in sorted(chances.items())]
            choices += 1
    lines += [f"state {end} [0] end", "\taction 0 [0]", f"\t\t{end} : 1"]
    return "\n".join([*text, "@nr_choices", str(choices + 1), "@model", *lines, ""])


@pytest.mark.slow
@pytest.mark.parametrize("model", ASKED)
def test_storm_comes_to_the_same(model, tmp_path):
    stormpy = pytest.importorskip("stormpy")
    until, *quantities = ASKED[model]
    built, checked = load_checked(MODELS / f"{model}.rebeca")
    found = exact_orders(built, quantities, until, checked=checked)
    file = tmp_path / "process.drn"
    for value in found.values:
        file.write_text(explicit_text(found.unrolled.process, value.rewards))
        mdp = stormpy.build_model_from_drn(str(file))
        for goal, name in (("minimum", "Rmin"), ("maximum", "Rmax")):
            (asked,) = stormpy.parse_properties(f'{name}=? [F "end"]')
            theirs = float(stormpy.model_checking(mdp, asked)[mdp.initial_states[0]])
            assert value[goal] == pytest.approx(theirs, abs=1e-5)

"""Exact orders of models with weighted choices: by hand, by products, and by Storm."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rebecsim.exploration.orders import Quantity, exact_orders
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from tests.exploration.orders.by_definition import ByDefinition


def exact(text: str, until: int, *asked: Quantity, law: Any = "fair") -> list[float]:
    checked = check_source(text)
    found = exact_orders(build_model(checked, "m"), asked, until, checked=checked, law=law)
    return [each["expected"] for each in found.values]


percents = st.lists(st.integers(1, 99), min_size=1, max_size=5)


@given(percents)
def test_a_chain_of_weighted_choices_has_the_product_of_the_weights(chain):
    drawn = " ".join(
        f"if (all) {{ all = ?({each} / 100.0: true, {100 - each} / 100.0: false); }}"
        for each in chain
    )
    text = (
        "reactiveclass A(2) { statevars { boolean all = true; } A() { self.go(); } "
        f"msgsrv go() {{ {drawn} }} }} main {{ A a():(); }}"
    )
    (found,) = exact(text, 0, Quantity("final", "a.all ? 1 : 0"))
    assert math.isclose(found, math.prod(each / 100 for each in chain), rel_tol=1e-12)


MIXED = """
reactiveclass A(3) {
    statevars { int x; }
    A() { self.go(); }
    msgsrv go() {
        pAlt {
            prob(0.2): { x = ?(1, 3); }
            prob(0.8): { delay(?(0.25: 1, 0.75: 2)); x = 10; }
        }
    }
}
main { A a():(); }
"""


@pytest.mark.parametrize(("law", "mean"), [("fair", 2.0), ("rmc", (1 + 3 + 3) / 3)])
def test_the_law_is_for_choices_without_weights(law, mean):
    (found,) = exact(MIXED, 9, Quantity("final", "a.x"), law=law)
    assert math.isclose(found, 0.2 * mean + 0.8 * 10)


def test_the_tree_of_all_runs_comes_to_the_same():
    checked = check_source(MIXED)
    asked = [("final", lambda system: system.rebecs[0].x)]
    model = build_model(checked, "m")
    tree = ByDefinition(model, 9, "fair", asked, 100).values()
    assert tree[0].tolist() == pytest.approx([8.4, 8.4, 8.4])


RUIN = """
env double WINS = 0.45;
reactiveclass Player(2) {
    statevars { int money = 2; int rounds; }
    Player() { self.play(); }
    msgsrv play() {
        pAlt {
            prob(WINS): { money++; }
            prob(0.5): { money--; }
            prob(0.05): { money = money + ?(0.25: 2, 0.75: -2); }
        }
        if (money > 0 && money < 5) { self.play() after(1); }
    }
}
main { Player player():(); }
"""

PRISM = """
dtmc
module player
    money : [-1..6] init 2;
    [] money > 0 & money < 5 ->
        0.45 : (money' = money + 1) + 0.5 : (money' = money - 1)
        + 0.0125 : (money' = money + 2) + 0.0375 : (money' = money - 2);
    [] money <= 0 | money >= 5 -> true;
endmodule
"""


def test_storm_and_the_chain_solved_by_hand_come_to_the_same(tmp_path):
    """Gambler's ruin. Storm reads the same chain written for PRISM."""
    rounds = 12
    won, lost = exact(
        RUIN,
        rounds - 1,
        Quantity("reached", "player.money >= 5"),
        Quantity("reached", "player.money <= 0"),
    )
    chance = {2: 1.0}
    for _ in range(rounds):
        after: dict[int, float] = {}
        for money, share in chance.items():
            plays = 0 < money < 5
            for gain, weight in ((1, 0.45), (-1, 0.5), (2, 0.0125), (-2, 0.0375)):
                place = money + gain * plays
                after[place] = after.get(place, 0.0) + share * weight
        chance = after
    assert won == pytest.approx(sum(chance.get(each, 0) for each in (5, 6)), abs=1e-12)
    assert lost == pytest.approx(sum(chance.get(each, 0) for each in (-1, 0)), abs=1e-12)
    stormpy = pytest.importorskip("stormpy")
    file = tmp_path / "player.prism"
    file.write_text(PRISM)
    program = stormpy.parse_prism_program(str(file))
    formulas = [f"P=? [F<={rounds} money >= 5]", f"P=? [F<={rounds} money <= 0]"]
    properties = stormpy.parse_properties(";".join(formulas), program)
    chain = stormpy.build_model(program, properties)
    theirs = [
        float(stormpy.model_checking(chain, each)[chain.initial_states[0]]) for each in properties
    ]
    assert [won, lost] == pytest.approx(theirs, abs=1e-9)

from __future__ import annotations

import dataclasses

import pytest

from rebecsim.clusters import DISPATCH_POLICIES, UnknownNameError, dispatch_policy


def test_the_published_policies_are_registered_in_table_order_and_before_the_others():
    assert tuple(DISPATCH_POLICIES) == ("EDF", "FIFO", "MDF", "PRIORITY", "LLF", "MLF", "SJF")
    assert all(dispatch_policy(name).name == name for name in DISPATCH_POLICIES)


def test_only_priority_draws_priorities_and_only_fifo_keeps_the_order_of_arrival():
    assert [name for name, policy in DISPATCH_POLICIES.items() if policy.uses_priority] == [
        "PRIORITY"
    ]
    assert [name for name, policy in DISPATCH_POLICIES.items() if policy.keeps_arrival_order] == [
        "FIFO"
    ]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("edf", "did you mean EDF"), ("PRIORTY", "did you mean PRIORITY"), ("x", "known are EDF")],
)
def test_an_unknown_policy_is_named_with_what_to_write_instead(name, hint):
    with pytest.raises(UnknownNameError, match=hint):
        dispatch_policy(name)


def test_the_registry_cannot_be_changed():
    with pytest.raises(TypeError):
        DISPATCH_POLICIES["MINE"] = DISPATCH_POLICIES["EDF"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        DISPATCH_POLICIES["EDF"].name = "MINE"

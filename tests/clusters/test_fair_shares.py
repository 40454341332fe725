"""Fair shares: worked examples, and what holds for all of them."""

from __future__ import annotations

from hypothesis import given, strategies as st

from rebecsim.clusters.kit.hadoop import UNLIMITED, Claim, fair_shares

_CLAIMS = st.lists(
    st.builds(
        lambda weight, least, more: Claim(weight, least, least + more),
        st.one_of(st.just(0.0), st.floats(0.01, 100)),
        st.integers(0, 50_000),
        st.one_of(st.integers(0, 50_000), st.just(UNLIMITED)),
    ),
    min_size=1,
    max_size=8,
)


def test_a_least_and_a_most_bind() -> None:
    claims = [Claim(1, least=40960), Claim(2), Claim(1, most=10240)]
    assert fair_shares(102400, claims) == [40960, 51200, 10240]


def test_thirds_are_a_little_too_much() -> None:
    assert fair_shares(102400, [Claim()] * 3) == [34134] * 3


def test_who_has_no_weight_gets_the_least_and_who_may_have_nothing_gets_nothing() -> None:
    assert fair_shares(100, [Claim(0, least=30), Claim(5, most=0), Claim(1)]) == [30, 0, 70]


def test_nothing_to_share() -> None:
    assert fair_shares(0, [Claim(), Claim(2)]) == [0, 0]
    assert fair_shares(0, []) == []


@given(st.integers(0, 10**7), _CLAIMS)
def test_shares_lie_between_least_and_most_and_leave_nothing(
    total: int, claims: list[Claim]
) -> None:
    shares = fair_shares(total, claims)
    for share, claim in zip(shares, claims, strict=True):
        assert min(claim.least, claim.most) <= share <= claim.most
    weighty = [place for place, claim in enumerate(claims) if claim.weight > 0]
    if all(shares[place] < claims[place].most for place in weighty) and weighty:
        assert sum(shares) >= total  # nothing is left where somebody could have more
    if sum(each.least for each in claims if each.most > 0) <= total:
        steps = (1 + shares[at] / 2**22 for at in weighty if shares[at] > claims[at].least)
        assert sum(shares) <= total + sum(steps)  # the last step of the ratio is so fine


@given(st.integers(0, 10**7), _CLAIMS)
def test_a_heavier_claim_gets_no_less(total: int, claims: list[Claim]) -> None:
    for place, claim in enumerate(claims):
        if claim.weight > 0:
            heavier = [*claims]
            heavier[place] = claim._replace(weight=claim.weight * 2)
            before, after = fair_shares(total, claims), fair_shares(total, heavier)
            assert after[place] >= before[place] - 2 - total // 2**20
            break

"""What policies are worth on pairs of measured jobs: the order that docs/results-share.md reports."""

from __future__ import annotations

import pytest

from tests.share.bandit import play, policies, world_of
from tests.share.cases import TRACES


@pytest.fixture(scope="module")
def scores():
    if not TRACES.is_dir():
        pytest.skip("the real traces are not at hand: no folder ../shared/traces beside the repository")
    world = world_of()
    return {name: play(world, made, 200, seed=1) for name, made in policies(world, 1).items()}


def test_nobody_is_slowed_where_nobody_shares(scores):
    assert (scores["none"].slower, scores["none"].won) == (pytest.approx(0.0, abs=1e-9), 0.0)


def test_the_oracle_keeps_every_host_within_its_budget(scores):
    assert scores["oracle"].over == 0.0


def test_who_learns_hurts_hosts_less_than_who_does_not(scores):
    for name in ("pairs", "asax, printed, by progress", "asax, exp4-ix, by progress"):
        assert scores[name].slower < 0.5 * scores["always 30 %"].slower
        assert scores[name].over < 0.5 * scores["always 30 %"].over


def test_ours_wins_more_than_asax_at_the_price_of_some_hosts(scores):
    assert scores["pairs"].won > scores["asax, printed, by progress"].won
    # Where ours loses: a fixed half wins more work, and the oracle hurts nobody.
    assert scores["static"].won > scores["oracle"].won > scores["pairs"].won

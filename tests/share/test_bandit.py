"""The ranking of policies on pairs of measured jobs that docs/results-share.md reports."""

from __future__ import annotations

import pytest

from tests.share.bandit import play, policies, world_of
from tests.share.cases import TRACES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def scores():
    if not TRACES.is_dir():
        pytest.skip("the real traces are not at hand: no folder ../shared/traces next to the repository")
    world = world_of()
    return {name: play(world, made, 200, seed=1) for name, made in policies(world, 1).items()}


def test_without_sharing_no_host_is_slowed(scores):
    assert (scores["none"].slower, scores["none"].won) == (pytest.approx(0.0, abs=1e-9), 0.0)


def test_the_oracle_keeps_every_host_within_its_budget(scores):
    assert scores["oracle"].over == 0.0


def test_learning_policies_slow_hosts_less_than_half_as_much_as_a_fixed_quota(scores):
    for name in ("pairs", "asax, printed, by progress", "asax, exp4-ix, by progress"):
        assert scores[name].slower < 0.5 * scores["always 30 %"].slower
        assert scores[name].over < 0.5 * scores["always 30 %"].over


def test_pairs_does_more_guest_work_than_asax(scores):
    assert scores["pairs"].won > scores["asax, printed, by progress"].won
    # Limits of Pairs: a fixed half does more guest work, and so does the oracle.
    assert scores["static"].won > scores["oracle"].won > scores["pairs"].won

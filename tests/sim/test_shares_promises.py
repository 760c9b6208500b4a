"""Under EASY backfilling the head of the queue starts by its reservation under every sharing policy."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.promises import broken, promises
from tests.oracles.shares import read
from tests.oracles.workloads import CHECK
from tests.sim.sharing import SHARERS, Case, busy, cases, run

_SHARERS = [name for name in SHARERS if name != "none"]


@pytest.mark.slow
@settings(CHECK, max_examples=200)
@given(
    case=cases(most=14),
    sharer=st.sampled_from([*_SHARERS, "nasty", "nasty"]),
    order=st.sampled_from(["easy", "easy in Python"]),
    seed=st.integers(0, 3),
)
def test_the_head_starts_by_its_first_reservation(case: Case, sharer: str, order: str, seed: int) -> None:
    done = run(case, SHARERS[sharer](seed), order, seed=seed)
    assert broken(read(case.jobs, case.use, done.replay, done.shared, case.physics), case.processors) == []


@pytest.mark.matrix
@pytest.mark.parametrize("sharer", SHARERS)
@pytest.mark.parametrize("seed", range(3))
def test_the_head_starts_by_its_first_reservation_in_longer_queues(sharer: str, seed: int) -> None:
    # Would catch, with quotas that fall: guests that outstay their promise, and hosts that were guests and have one.
    case = busy(seed, jobs=80)
    done = run(case, SHARERS[sharer](seed), "easy", seed=seed)
    made = read(case.jobs, case.use, done.replay, done.shared, case.physics)
    assert len(promises(made, case.processors)) > 10
    assert broken(made, case.processors) == []

"""The starts under every policy equal those of a second implementation from its definition."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings

from tests.oracles.naive import ORACLES
from tests.oracles.validator import violations_of
from tests.oracles.workloads import CHECK, EASY_TIES, Case, busy, case, cases
from windlass.order.site import POLICIES
from windlass.sim import replay

_SETTINGS = [(name, kill) for name in ORACLES for kill in (True, False)]


def assert_agreement(case: Case, name: str, kill: bool) -> None:
    jobs, processors = case
    replayed = replay(jobs, processors, POLICIES.find(name)(), kill=kill)
    assert violations_of(replayed, kill=kill) == []
    assert replayed.start.tolist() == ORACLES[name](jobs, processors, kill=kill)


@pytest.mark.parametrize(("name", "kill"), _SETTINGS)
@CHECK
@given(case=cases())
@example(case=case(4, [], [], []))
@example(case=case(1, [0, 0, 0], [0, 0, 0], [1, 1, 1]))
@example(case=case(4, [0, 0, 0, 0], [0, 0, 3, 0], [4, 4, 4, 4], [0, 2, 3, 0]))
@example(case=case(4, [0, 0, 0, 5], [5, 5, 5, 5], [4, 4, 4, 4], [9, 5, 5, 2]))
@example(case=case(9, [0, 0, 0, 0], [10, 10, 10, 100], [3, 1, 6, 1]))
@example(case=case(2, [0, 0.1, 0.2, 0.2], [0.1, 0.2, 0.3, 0.3], [2, 1, 1, 2], [0.3, 0.2, 0.3, 0.1]))
def test_starts_equal_the_definition(case: Case, name: str, kill: bool) -> None:
    assert_agreement(case, name, kill)


@pytest.mark.matrix
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "fractional"])
@pytest.mark.parametrize(("name", "kill"), _SETTINGS)
def test_starts_of_a_long_queue_equal_the_definition(name: str, kill: bool, whole: bool, seed: int) -> None:
    assert_agreement(busy(seed, jobs=150, whole=whole), name, kill)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kill"), _SETTINGS)
@settings(CHECK, max_examples=1000)
@given(case=cases(most=20))
def test_starts_of_many_more_workloads_equal_the_definition(case: Case, name: str, kill: bool) -> None:
    assert_agreement(case, name, kill)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.parametrize(("name", "kill"), _SETTINGS)
def test_starts_of_longer_queues_equal_the_definition(name: str, kill: bool, seed: int) -> None:
    assert_agreement(busy(seed, jobs=400, whole=seed % 2 == 0), name, kill)


def test_easy_with_a_backfilled_job_that_ends_with_the_blocking_ones() -> None:
    assert_agreement(EASY_TIES, "easy", kill=True)


@pytest.mark.parametrize("name", ORACLES)
def test_no_jobs_give_no_starts(name: str) -> None:
    assert_agreement(case(3, [], [], []), name, kill=True)

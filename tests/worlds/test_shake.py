"""Shaken copies of a log: small changes of arrivals, different for each seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.experiment.workloads.shake import shaken
from windlass.model import InputError, JobTable

LOG = Path(__file__).parents[2] / "examples" / "log.swf"


def results(shake: float, *seeds: int):
    workload = {"trace": str(LOG), "shake": shake}
    policies = {"order": ["fcfs", "easy"]}
    return run(make_scenario({"workload": workload, "policies": policies, "seeds": list(seeds)}))


def submissions(found):
    """For each variant, the (seeds, jobs) submissions."""
    return [np.array([each.jobs["submit_s"] for each in variant.outcomes]) for variant in found.variants]


@given(
    gaps=st.lists(st.integers(0, 10**6), min_size=1, max_size=30),
    most=st.floats(0.0, 1e5),
    seed=st.integers(0, 99),
)
def test_submissions_move_by_at_most_the_bound_in_the_same_order(gaps, most, seed):
    jobs = JobTable.of(np.cumsum(gaps), 1.0 + np.arange(len(gaps)), 1 + np.arange(len(gaps)) % 7)
    found = shaken(jobs, most, np.random.default_rng(seed))
    assert (np.diff(found.submit) >= 0).all()
    # Sorting times that each moved by at most the bound moves no place by more.
    assert (np.abs(found.submit - jobs.submit) <= most * (1 + 1e-9) + 1e-6).all()
    assert found.submit[0] >= jobs.submit[0]
    for column in ("job", "run", "procs", "request"):
        assert getattr(found, column).tolist() == getattr(jobs, column).tolist()


def test_an_empty_table_stays_empty():
    assert len(shaken(JobTable.of([], [], []), 60.0, np.random.default_rng(1))) == 0


def test_each_seed_has_its_own_submissions_which_all_variants_share():
    fcfs, easy = submissions(results(300.0, 1, 2))[:2]
    assert fcfs.tolist() == easy.tolist()
    assert fcfs[0].tolist() != fcfs[1].tolist()
    assert submissions(results(300.0, 2))[0].tolist() == fcfs[1:].tolist()


def test_a_log_is_the_same_for_all_seeds_without_shaking():
    (first, second), _ = submissions(results(0.0, 1, 2))[:2]
    assert first.tolist() == second.tolist()


def test_notes_have_the_bound():
    outcome = results(300.0, 1).variants[0].outcomes[0]
    assert "each seed moves the submissions by up to 300 s" in outcome.notes


@pytest.mark.parametrize("shake", [-1.0, float("inf"), float("nan"), "much"])
def test_a_bound_that_is_no_time_is_refused(shake):
    with pytest.raises(InputError, match=r"workload\.shake"):
        results(shake, 1)


def test_drawn_jobs_are_not_shaken():
    tree = {"workload": {"lublin": {"jobs": 5}, "shake": 60.0}, "policies": {"order": "easy"}}
    with pytest.raises(InputError, match="shake are for a trace"):
        make_scenario(tree)

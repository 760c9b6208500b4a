"""Dispatch policies called through Python, on changing nodes, give the same results as compiled ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.coupled.bounds import case as crowded
from tests.coupled.cases import Case, Ran, Tasks, cases, jobs_of, run
from tests.coupled.test_instants import gone
from tests.coupled.test_random import job_bits
from tests.coupled.test_two_sites import happened
from tests.oracles.workloads import CHECK
from windlass.experiment.dispatching import make_policy
from windlass.model import InputError, PolicyError

#: Early-binding policies without true rates and benchmark tasks, which Python policies do not receive.
_NAMES = ("uniform", "round-robin", "pot", "halo", "jsq", "least-outstanding", "ucb", "eps-greedy")


class Hidden:
    """A policy with its compiled functions hidden."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy
        self.name = policy.name

    def arrived(self, now: float) -> None:
        self._policy.arrived(now)

    def choose(self, queue_lengths: NDArray[np.int64]) -> int:
        return int(self._policy.choose(queue_lengths))

    def completed(self, worker: int, work: float, seconds: float) -> None:
        self._policy.completed(worker, work, seconds)

    def left(self, worker: int) -> None:
        self._policy.left(worker)

    def joined(self, worker: int) -> None:
        self._policy.joined(worker)


def both(case: Case, name: str, order: str = "easy") -> list[Ran | None]:
    """Run the policy compiled and through Python; None if jobs or tasks can never run."""
    assert case.tasks is not None
    found: list[Ran | None] = []
    for hidden in (False, True):
        policy = make_policy(name, np.array(case.tasks.speeds), np.random.default_rng(3))
        try:
            found.append(run(case, order, dispatch=Hidden(policy) if hidden else policy))
        except (PolicyError, InputError) as error:
            if "left" not in str(error):
                raise
            found.append(None)
    return found


def same(one: Ran | None, other: Ran | None) -> bool:
    """Return whether both runs are identical."""
    if one is None or other is None:
        return one is other
    return job_bits(one) == job_bits(other) and happened(one.tasks) == happened(other.tasks)


@pytest.mark.matrix
@pytest.mark.parametrize("name", _NAMES)
@settings(CHECK, max_examples=40)
@given(case=cases(with_tasks=True), order=st.sampled_from(["fcfs", "easy"]))
def test_random_tasks_run_the_same_with_a_python_policy(name: str, case: Case, order: str) -> None:
    assert same(*both(case, name, order))


@pytest.mark.parametrize("name", _NAMES)
def test_many_tasks_run_the_same_with_a_python_policy(name: str) -> None:
    compiled, in_python = both(crowded(7, 70, 300, 1500), name)
    assert same(compiled, in_python)
    assert compiled is not None
    assert compiled.tasks is not None
    # Nodes failed with tasks on them, and the policy had to choose again.
    assert compiled.tasks.moved > 10


@pytest.mark.parametrize("name", _NAMES)
def test_a_python_policy_is_notified_of_simultaneous_node_changes(name: str) -> None:
    outages = gone(0, 2.0, 4.0) + gone(1, 2.0, 4.0) + gone(1, 5.0, 6.0) + gone(0, 6.0, 7.0)
    times = [0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 5.5, 6.0, 7.0]
    tasks = Tasks(times, [0.125] * len(times), [1.0, 2.0])
    compiled, in_python = both(Case(jobs_of((0, 0, 1)), [2, 2], outages, tasks), name)
    assert compiled is not None
    assert compiled.tasks is not None
    assert same(compiled, in_python)
    # Tasks wait while both nodes are down; otherwise none is sent to a node that is down.
    assert compiled.tasks.start[[2, 3]].min() == 4.0
    assert (compiled.tasks.worker[[5, 6, 7]] == [0, 0, 1]).all()

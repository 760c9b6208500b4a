"""Dispatch policies asked in Python, on nodes that come and go: the same as compiled, to the bit."""

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
from tests.coupled.test_random import told
from tests.coupled.test_two_sites import happened
from tests.oracles.workloads import CHECK
from windlass.experiment.dispatching import make_policy
from windlass.model import InputError, PolicyError

#: Those that are told no true rates, bind at once, and send no benchmark tasks: nothing that Python is not told of.
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
    """What happens with the policy compiled, and asked in Python; None where jobs or tasks can never run."""
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
    """Whether the same happened."""
    if one is None or other is None:
        return one is other
    return told(one) == told(other) and happened(one.tasks) == happened(other.tasks)


@pytest.mark.parametrize("name", _NAMES)
@settings(CHECK, max_examples=40)
@given(case=cases(with_tasks=True), order=st.sampled_from(["fcfs", "easy"]))
def test_drawn_tasks_go_the_same_way_asked_in_python(name: str, case: Case, order: str) -> None:
    assert same(*both(case, name, order))


@pytest.mark.parametrize("name", _NAMES)
def test_many_tasks_go_the_same_way_asked_in_python(name: str) -> None:
    compiled, asked = both(crowded(7, 70, 300, 1500), name)
    assert same(compiled, asked)
    assert compiled is not None
    assert compiled.tasks is not None
    # Nodes went with tasks on them, and the policy had to choose anew.
    assert compiled.tasks.moved > 10


@pytest.mark.parametrize("name", _NAMES)
def test_a_policy_in_python_hears_of_nodes_that_go_and_come_at_once(name: str) -> None:
    outages = gone(0, 2.0, 4.0) + gone(1, 2.0, 4.0) + gone(1, 5.0, 6.0) + gone(0, 6.0, 7.0)
    times = [0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 5.5, 6.0, 7.0]
    tasks = Tasks(times, [0.125] * len(times), [1.0, 2.0])
    compiled, asked = both(Case(jobs_of((0, 0, 1)), [2, 2], outages, tasks), name)
    assert compiled is not None
    assert compiled.tasks is not None
    assert same(compiled, asked)
    # While neither node is there, tasks wait; else none is sent to one that is not.
    assert compiled.tasks.start[[2, 3]].min() == 4.0
    assert (compiled.tasks.worker[[5, 6, 7]] == [0, 0, 1]).all()

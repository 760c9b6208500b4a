"""A learning policy from a user's file is saved, restored and merged like a built-in one."""

import numpy as np
import pytest

from tests.engines.linux.agent.conftest import DIM, METRICS, views
from windlass.admit import POLICIES
from windlass.agent.aggregate import Aggregate
from windlass.agent.envelope import opened
from windlass.agent.node import as_message, decide, load_node, make_node
from windlass.experiment.checks.common import CheckError
from windlass.experiment.checks.suite import check_policy
from windlass.model import InputError

SOURCE = '''"""Rejects while a node's metrics are far above their mean."""

import numpy as np

from windlass.admit import Admission, Subspace
from windlass.admit.learned import Learned
from windlass.model import InputError


class Mean:
    """Rejects while the metrics point along their mean so far, and are longer.

    Examples
    --------
    >>> Mean(dim=3).steps
    0
    """

    name = "mean"

    def __init__(self, dim: int) -> None:
        self.dim, self.sum, self.steps = dim, np.zeros(dim), 0

    def decide(self, view):
        found = np.nan_to_num(view.metrics)
        self.sum, self.steps = self.sum + found, self.steps + 1
        score = float(found @ self.sum) / self.steps
        return Admission(score > 4.0, f"the score is {score:.3g}, expected 4 at most", score)

    def save(self) -> bytes:
        return np.array([self.steps, *self.sum]).tobytes()

    @classmethod
    def load(cls, data: bytes):
        if len(data) % 8 or len(data) < 16:
            raise InputError("saved state: is not a mean")
        values = np.frombuffer(data)
        found = cls(len(values) - 1)
        found.sum, found.steps = values[1:], int(values[0])
        return found

    @property
    def is_new(self) -> bool:
        return self.steps == 0

    def learned(self):
        size = float(np.linalg.norm(self.sum))
        return None if self.is_new else Learned(Subspace((self.sum / size)[:, None], np.array([size])))

    def join(self, learned) -> None:
        self.sum, self.steps = learned.subspace.basis[:, 0] * learned.subspace.singular[0], 1
'''


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "mean.py"
    path.write_text(SOURCE)
    return str(path)


def seen(own, seed, steps=40):
    node = make_node(own, DIM, np.random.default_rng(1))
    for view in views(steps, seed):
        decide(node, view)
    return node


def test_the_user_s_policy_passes_every_check(own):
    check_policy(POLICIES, own)


def test_after_a_restart_it_continues_as_if_uninterrupted(own):
    node = seen(own, seed=3)
    again = load_node(own, DIM, node.save())
    for view in views(60, seed=4):
        assert decide(again, view) == decide(node, view)
    with pytest.raises(InputError, match=f"has {DIM} metrics, expected {DIM + 1}"):
        load_node(own, DIM + 1, node.save())


def test_an_aggregator_merges_it_and_a_new_node_starts_from_the_result(own, clock):
    aggregate = Aggregate(DIM, 4, METRICS, 3600.0, clock)
    nodes = [seen(own, seed) for seed in (5, 6)]
    for number, node in enumerate(nodes):
        aggregate.take(f"node{number}", as_message(node.learned(), own, METRICS).seal())
    merged = aggregate.learned()
    for node in nodes:
        along = node.policy.sum / np.linalg.norm(node.policy.sum)
        assert np.linalg.norm(merged.subspace.basis.T @ along) == pytest.approx(1.0)
    newcomer = make_node(own, DIM, np.random.default_rng(1))
    assert newcomer.is_new
    newcomer.start(merged)
    assert not newcomer.is_new
    assert np.linalg.norm(newcomer.policy.sum) == pytest.approx(merged.subspace.singular[0])
    assert opened(as_message(newcomer.learned(), own, METRICS).seal()).policy == own


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("int(values[0])", "2", "the policy that load\\(\\) returns answers differently from the saved one"),
        ("found = cls(len(values) - 1)", "found = cls(6)", "after load\\(\\) its dim is 6, expected 12"),
        ('raise InputError("saved state: is not a mean")', "return cls(12)", "half .* raises nothing"),
        ('raise InputError("saved state: is not a mean")', "pass", "half .* raises a ValueError"),
        ("return self.steps == 0", "return False", "is not new before the first step"),
        ("return None if self.is_new", "return None if True", "is still new after 150 steps"),
        ("learned.subspace.singular[0], 1", "learned.subspace.singular[0], 0", "is still new after join"),
        ("(self.sum / size)[:, None]", "np.eye(1)", "a subspace of 1 metrics, expected 12"),
    ],
)
def test_a_policy_that_violates_a_protocol_is_reported(tmp_path, before, after, problem):
    path = tmp_path / "broken.py"
    assert SOURCE.count(before) == 1
    path.write_text(SOURCE.replace(before, after))
    with pytest.raises(CheckError, match=problem):
        check_policy(POLICIES, str(path))


def test_a_policy_without_the_protocols_is_not_saved(tmp_path):
    with pytest.raises(InputError, match="policy 'ready' cannot be saved or loaded"):
        load_node("ready", DIM, b"")

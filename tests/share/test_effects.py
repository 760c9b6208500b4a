"""Effects per pair of classes, and regression lines saved as text."""

import json

import numpy as np
import pytest

from windlass.io import unseal_text
from windlass.model import InputError
from windlass.share import Pairs
from windlass.share.lib.effects import Effects
from windlass.share.lib.regress import BayesianLine, line_of


def test_a_slope_equals_ridge_regression():
    rng = np.random.default_rng(2)
    present, missed = rng.random(20), rng.random(20)
    effects = Effects()
    for each, off in zip(present, missed, strict=True):
        effects.take("a", "b", float(each), float(off))
    penalty = (0.05 / 0.3) ** 2
    assert effects.slope("a", "b") == pytest.approx(present @ missed / (present @ present + penalty))
    assert effects.slope("b", "a") == 0.0
    assert Effects(effects.sums()).slope("a", "b") == effects.slope("a", "b")


def test_a_solved_line_predicts_as_the_line_does():
    rng = np.random.default_rng(4)
    line = BayesianLine.prior(np.array([1.0, 0.0]), np.array([0.2, 0.3]), noise=0.1)
    for _ in range(9):
        line = line.after(rng.random(2), float(rng.random()))
    features = rng.random((5, 2))
    spread = np.linalg.solve(line.precision, features.T)
    mean, deviation = line.at(features)
    assert mean == pytest.approx(features @ np.linalg.solve(line.precision, line.pull))
    assert deviation == pytest.approx(np.sqrt(np.einsum("kd,dk->k", features, spread)))


def test_a_policy_restored_from_text_has_learned_the_same():
    one, other = Pairs(), Pairs()
    one.effects.take("a", "b", 0.5, 0.2)
    one.slower = one.slower.after(np.ones(5), 0.3)
    other.restore(one.saved())
    assert other.saved() == one.saved()
    assert other.slower.pull.tolist() == one.slower.pull.tolist()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda tree: tree.update(version=0),
        lambda tree: tree.update(policy="asax"),
        lambda tree: tree.pop("slower"),
        lambda tree: tree["slower"][0].pop(),
        lambda tree: tree["faster"][1].__setitem__(0, float("nan")),
        lambda tree: tree["faster"][0][0].__setitem__(0, -1.0),
        lambda tree: tree["faster"][1].__setitem__(0, "much"),
        lambda tree: tree["slower"][0][0].__setitem__(0, {}),
        lambda tree: tree["slower"][1].__setitem__(0, 10**400),
        lambda tree: tree.update(effects=[["a", "b", -1.0, 0.0]]),
        lambda tree: tree.update(effects=[["a", "b", 1.0]]),
        lambda tree: tree.update(effects=[["a", "b", 10**400, 0.0]]),
    ],
)
def test_an_impossible_state_is_rejected_and_changes_nothing(spoil):
    policy = Pairs()
    before = policy.saved()
    tree = json.loads(unseal_text(before, "sharing"))
    spoil(tree)
    with pytest.raises(InputError, match="saved state"):
        policy.restore(json.dumps(tree))
    assert policy.saved() == before
    with pytest.raises(InputError, match="saved state: cannot be read"):
        policy.restore("{")
    with pytest.raises(InputError, match="saved state: 1 bytes that do not begin with 'windlass-sharing 1'"):
        policy.restore("[")


def test_a_precision_matrix_of_the_wrong_size_is_rejected():
    with pytest.raises(ValueError, match=r"expected \(2, 2\) and \(2,\)"):
        line_of([[[1.0]], [1.0]], 2, 0.1)


def test_integers_of_any_size_are_read_as_floats():
    # JSON has no floats: a number that was written without a point comes back as a whole one.
    line = line_of([[[10**30]], [2 * 10**30]], 1, 0.1)
    assert (line.precision.dtype, line.pull.dtype) == (np.float64, np.float64)
    assert line.at(np.array([[1.0]]))[0] == pytest.approx([2.0])


@pytest.mark.parametrize("tree", [[[["a"]], [1.0]], [[[1.0]], ["a"]], [[[1.0], []], [1.0]]])
def test_a_line_of_non_numbers_is_rejected(tree):
    with pytest.raises(ValueError, match=r"convert|sequence"):
        line_of(tree, 1, 0.1)

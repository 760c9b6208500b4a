"""Calls of a dispatch policy by an engine, initial states of several schedulers, and rejected input."""

from __future__ import annotations

import numpy as np
import pytest

from windlass.dispatch import POLICIES, Rosella, state
from windlass.dispatch.lib import learner as learn
from windlass.dispatch.policies.pull import Pull
from windlass.dispatch.policies.ucb import Ucb
from windlass.dispatch.policies.uniform import Uniform
from windlass.dispatch.state import BENCHMARK_AT, RNG, make_state
from windlass.model import InputError

RATES = [1.0, 2.0, 4.0]
#: What a policy is made with if its documentation is taken at its word.
DEFAULTS = {
    "eps-greedy": {"epsilon": 0.05, "memory": 50.0},
    "ucb": {"confidence": 0.1, "memory": 50.0},
    "sparrow": {"probes": 2},
    "pull": {
        "guaranteed": None,
        "late": True,
        "gaps": 1000,
        "probe_share": 0.1,
        "window_scale": 0.02,
        "most_load": 0.95,
    },
    "rosella": {
        "guaranteed": None,
        "gaps": 1000,
        "probe_share": 0.1,
        "window_scale": 0.02,
        "most_load": 0.95,
        "by": "queue",
        "probes": 2,
    },
}
RATED = ("pss", "halo", "ppot", "ppot-ll", "sed")


def make(name, seed=1, **options):
    known = {"rates": RATES} if name in RATED else {"workers": len(RATES)}
    return POLICIES.make(name, np.random.default_rng(seed), **{**known, **options})


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_are_as_documented(name):
    bare, full = make(name), make(name, **DEFAULTS[name])
    assert bare.ints.tolist() == full.ints.tolist()
    assert bare.floats.tolist() == full.floats.tolist()


@pytest.mark.matrix
@pytest.mark.parametrize("name", POLICIES.names())
def test_choosing_without_workers_is_an_error(name):
    policy = make(name)
    policy.arrived(1.0)
    for worker in range(len(RATES)):
        policy.left(worker)
    with pytest.raises(InputError, match="every worker has left"):
        policy.choose(np.zeros(3, np.int64))
    # Lists take the way of the checks, and of each worker that is back there is one.
    for _ in range(2):
        policy.joined(1)
    assert {policy.choose([3, 0, 0]), policy.choose(np.array([9, 9, 9], np.int32))} == {1}
    policy.left(1)
    policy.left(1)
    with pytest.raises(InputError, match="every worker has left"):
        policy.choose([0, 0, 0])


@pytest.mark.parametrize("name", [name for name in POLICIES.names() if name not in ("rosella", "pull")])
def test_policies_without_benchmark_tasks_send_none(name):
    policy = make(name)
    assert policy.benchmark_at == np.inf
    assert policy.benchmark(1e12) is None
    assert policy.benchmark(np.inf) is None
    assert policy.takes(0, 1.0, 1) == 1


@pytest.mark.parametrize("name", ["rosella", "pull"])
def test_without_workers_a_due_benchmark_task_is_not_sent(name):
    policy = make(name, guaranteed=7.0)
    for worker in range(3):
        policy.left(worker)
    due = policy.benchmark_at
    assert policy.benchmark(np.nextafter(due, 0.0)) is None
    assert policy.benchmark_at == due
    assert policy.benchmark(due) is None
    assert policy.benchmark_at > due


def test_the_rates_of_a_policy_are_a_copy():
    policy = make("pss")
    policy.rates[:] = 99.0
    assert policy.rates.tolist() == RATES
    assert make("jsq").rates is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda policy: policy.left(3), "worker is 3, expected 0 to 2"),
        (lambda policy: policy.left(-1), "worker is -1"),
        (lambda policy: policy.joined(3), "worker is 3"),
        (lambda policy: policy.set_rate(3, 1.0), "worker is 3"),
        (lambda policy: policy.set_rate(0, np.inf), "rate"),
        (lambda policy: policy.takes(3, 0.0, 1), "worker is 3"),
        (lambda policy: policy.reported(3, 1.0, 1.0), "worker is 3"),
        (lambda policy: policy.benchmarked(-1, 1.0, 1.0), "worker is -1"),
        (lambda policy: policy.completed(0, np.inf, 1.0), "work is inf"),
        (lambda policy: policy.completed(0, -1.0, np.inf), "work is -1"),
        (lambda policy: policy.completed(0, 0.0, -1.0), "seconds is -1"),
        (lambda policy: policy.completed(0, 0.5, np.inf), "seconds is inf"),
        (lambda policy: policy.arrived(np.inf), "now is inf"),
        (lambda policy: policy.arrived(-np.inf), "now is -inf"),
        (lambda policy: policy.choose([1, -2, -3]), "worker 2 has -3"),
        (lambda policy: policy.choose(np.zeros(2, np.int64)), "queue_lengths has shape"),
        (lambda policy: policy.choose(np.zeros(4, np.int64)), "queue_lengths has shape"),
        (lambda policy: policy.choose(np.zeros((3, 1), np.int64)), "queue_lengths"),
    ],
)
@pytest.mark.parametrize("name", ["rosella", "sed"])
def test_invalid_calls_are_named(name, call, message):
    with pytest.raises(InputError, match=message):
        call(make(name))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("eps-greedy", {"epsilon": 1.01}, "epsilon"),
        ("eps-greedy", {"epsilon": -0.01}, "epsilon"),
        ("eps-greedy", {"memory": 0.9}, "memory"),
        ("ucb", {"confidence": -0.01}, "confidence"),
        ("ll", {"probes": 0}, "probes"),
        ("prequal", {"probes": 0}, "probes"),
        ("prequal", {"hot": 1.01}, "hot"),
        ("prequal", {"max_age": -1.0}, "max_age"),
        ("ll", {"memory": 0.5}, "memory"),
        ("fastest-idle", {"memory": 0.5}, "memory"),
        ("weighted-least-request", {"memory": 0.5}, "memory"),
        ("peak-ewma", {"decay": 0.0}, "decay"),
        ("ucb", {"memory": 0.9}, "memory"),
        ("sparrow", {"probes": 0}, "probes"),
        ("uniform", {"workers": 0}, "workers"),
        ("rosella", {"most_load": -0.01}, "most_load"),
        ("rosella", {"window_scale": 0.0}, "window_scale"),
        ("pull", {"workers": 0}, "workers"),
        ("pull", {"guaranteed": 0.0}, "guaranteed"),
        ("pull", {"gaps": 0}, "gaps"),
        ("pull", {"probe_share": -0.01}, "probe_share"),
        ("pull", {"window_scale": 0.0}, "window_scale"),
        ("pull", {"most_load": 1.0}, "most_load"),
        ("pull", {"most_load": -0.01}, "most_load"),
    ],
)
def test_a_parameter_out_of_bounds_is_named(name, options, message):
    with pytest.raises(InputError, match=message):
        make(name, **options)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("eps-greedy", {"epsilon": 0.0, "memory": 1.0}),
        ("eps-greedy", {"epsilon": 1.0}),
        ("ucb", {"confidence": 0.0, "memory": 1.0}),
        ("sparrow", {"probes": 1}),
        *(
            (name, {"workers": 1, "gaps": 1, "probe_share": 0.0, "most_load": 0.0})
            for name in ("rosella", "pull")
        ),
        *((name, {"workers": 1, "guaranteed": 1e-3, "most_load": 0.999}) for name in ("rosella", "pull")),
    ],
)
def test_a_parameter_at_its_bound_is_accepted(name, options):
    policy = make(name, **options)
    policy.arrived(0.0)
    assert 0 <= policy.choose(np.zeros(policy.workers, np.int64)) < policy.workers


def test_the_number_of_workers_is_limited_to_31_bits(monkeypatch):
    class Arrays:
        int64 = np.int64

        def zeros(self, *arguments):
            raise MemoryError

    # Arrays of this size are not created.
    monkeypatch.setattr(state, "np", Arrays())
    with pytest.raises(MemoryError):
        make_state(2**31 - 1, None)
    with pytest.raises(InputError, match="expected fewer than"):
        make_state(2**31, None)


def test_stream_seeds_cover_all_64_bits():
    words = [int(Uniform(2, np.random.default_rng(seed)).ints[RNG]) for seed in range(100)]
    assert min(words) < -(2**62)
    assert max(words) > 2**62
    assert len(set(words)) == 100


@pytest.mark.parametrize("kind", [Rosella, Pull])
def test_the_first_benchmark_task_is_poisson_like_the_others(kind):
    """Poisson, at the share of the guaranteed capacity, which is all idle before the first task."""
    first = [
        kind(3, 8.0, rng=np.random.default_rng(seed), probe_share=0.25).benchmark_at for seed in range(800)
    ]
    assert np.mean(first) == pytest.approx(0.5, rel=0.1)
    assert np.std(first) == pytest.approx(0.5, rel=0.15)
    assert kind(3, 8.0, rng=np.random.default_rng(1), probe_share=0.0).benchmark_at == np.inf


@pytest.mark.parametrize("kind", [Rosella, Pull])
def test_schedulers_differ_only_in_their_stream_and_share(kind):
    policy, count = kind(3, 8.0, rng=np.random.default_rng(1)), 400
    ints, floats = policy.split(count, np.random.default_rng(2))
    assert ints[0].tolist() == policy.ints.tolist()
    assert len(set(ints[:, RNG].tolist())) == count
    assert (ints[1:, RNG].min() < -(2**62), ints[1:, RNG].max() > 2**62) == (True, True)
    assert (np.delete(ints, RNG, axis=1) == np.delete(policy.ints, RNG)).all()
    kept = np.delete(np.arange(floats.shape[1]), [BENCHMARK_AT, learn.PART])
    assert (floats[:, kept] == policy.floats[kept]).all()
    np.testing.assert_allclose(floats[:, learn.PART], 1.0 / count)
    # Each sends its part of them, and not all at one instant.
    later = floats[:, BENCHMARK_AT] / (count * policy.benchmark_at)
    assert 0.5 <= later.min() < 0.55
    assert 1.45 < later.max() <= 1.5
    alone = policy.split(1, np.random.default_rng(2))
    assert alone[0].tolist() == [policy.ints.tolist()]
    assert alone[1].tolist() == [policy.floats.tolist()]
    two = policy.split(2, np.random.default_rng(2))[1]
    np.testing.assert_allclose(two[:, learn.PART], 0.5)


@pytest.mark.parametrize(("rate", "chosen"), [(1.465, 0), (1.6, 1)])
def test_ucb_uses_at_least_two_arrivals(rate, chosen):
    # Hoped-for rates are μ (1 + c √(log 2 / N)): 1.83 of the first, and 1.21 times its own of the second.
    policy = Ucb(2, np.random.default_rng(1), confidence=1.0, memory=1e9)
    policy.completed(0, 1.0, 1.0)
    for _ in range(16):
        policy.completed(1, rate, 1.0)
    assert {policy.choose([0, 0]) for _ in range(20)} == {chosen}
    policy.arrived(1.0)
    assert {policy.choose([0, 0]) for _ in range(20)} == {chosen}

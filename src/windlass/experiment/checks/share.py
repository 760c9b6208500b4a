"""Checks for policies of sharing: they are driven over days of drawn allocations, without any engine."""

from __future__ import annotations

import dataclasses
import math
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np

from windlass.experiment.checks.capabilities import require_methods, require_restored
from windlass.experiment.checks.common import require, require_defaults
from windlass.model import PolicyError
from windlass.policy.registry import Registry, capability
from windlass.share import Allocation, Candidate, Checkpoint, ShareView, observe
from windlass.share.answer import Sharing
from windlass.share.learned import Persistent
from windlass.share.pairing import carried_out

_CLASSES = ("montage", "blast", "statistics", "synthetic")
_STEPS = 60


def drawn_allocation(job: int, rng: np.random.Generator) -> Allocation:
    """A running job of any kind; of some nothing is known of stage, tasks and waits."""
    done, left = rng.integers(0, 50, 2)
    known = rng.random() < 0.7
    return Allocation(
        job,
        _CLASSES[rng.integers(len(_CLASSES))],
        cores=int(rng.integers(1, 33)),
        memory=float(rng.choice([0.0, 8e9, 64e9])),
        walltime=float(rng.uniform(60, 7200)),
        elapsed=float(rng.choice([0.0, 30.0, 3600.0])),
        cpu=float(rng.uniform(0, 100)),
        memory_used=float(rng.choice([0.0, 10.0, 95.0, 100.0])),
        parallel=[None, False, True][rng.integers(3)],
        tasks_done=float(done) if known else math.nan,
        tasks_left=float(left) if known else math.nan,
        rate=float(rng.choice([0.0, 0.1, 2.0])) if known else math.nan,
        rate_alone=float(rng.choice([0.1, 2.0])) if known else math.nan,
        waited=float(rng.uniform(0, 100)) if rng.random() < 0.5 else math.nan,
    )


def drawn_candidate(job: int, rng: np.random.Generator) -> Candidate:
    """A waiting job; of some classes nobody knows what they use."""
    return Candidate(
        job,
        _CLASSES[rng.integers(len(_CLASSES))],
        cores=int(rng.integers(1, 33)),
        memory=float(rng.choice([0.0, 1e9, 16e9])),
        request=float(rng.uniform(60, 7200)),
        cpu=float(rng.uniform(0, 100)) if rng.random() < 0.5 else math.nan,
        restarts=bool(rng.random() < 0.5),
    )


def drawn_view(rng: np.random.Generator, running: int, waiting: int) -> ShareView:
    """Jobs that run by themselves, and jobs that wait."""
    hosts = tuple(drawn_allocation(job, rng) for job in range(running))
    candidates = tuple(drawn_candidate(running + job, rng) for job in range(waiting))
    return ShareView(float(rng.uniform(0, 1e5)), hosts, candidates)


def _drive(policy: Any, seed: int) -> Iterator[tuple[ShareView, Sharing]]:
    """Views and answers in turn; all that share are measured between, and some jobs end."""
    rng = np.random.default_rng(seed)
    view = drawn_view(rng, 6, 4)
    for step in range(_STEPS):
        answer = policy.decide(view)
        yield view, answer
        hosts = []
        for place, host in enumerate(carried_out(view, answer)):
            measured = drawn_allocation(host.job, rng)
            after = dataclasses.replace(
                host,
                elapsed=host.elapsed + 60.0,
                cpu=measured.cpu,
                tasks_left=measured.tasks_left,
                rate=measured.rate,
                rate_alone=measured.rate_alone,
                waited=measured.waited,
            )
            ended = bool(rng.random() < 0.2)
            if after.guest is not None:
                progress = float(rng.uniform(0, 120)) if rng.random() < 0.5 else math.nan
                guest = dataclasses.replace(after.guest, progress=progress)
                after = dataclasses.replace(after, guest=guest)
                killed = ended and bool(rng.random() < 0.5)
                observe(policy, Checkpoint(host, after, guest, ended, killed))
            hosts.append(drawn_allocation(1000 * (step + 1) + place, rng) if ended else after)
        candidates = tuple(drawn_candidate(1000 * (step + 1) + 100 + job, rng) for job in range(4))
        view = ShareView(60.0 * step, tuple(hosts), candidates)


def _make(registry: Registry, name: str) -> Any:
    return registry.make(name, np.random.default_rng(7))


def check_parameters_have_defaults(registry: Registry, name: str) -> None:
    """A policy can be named alone."""
    require_defaults(registry, name, ("rng",))


def check_can_be_carried_out(registry: Registry, name: str) -> None:
    """Nobody shares twice, beyond cores or beyond memory; quotas are actions, and each has a reason."""
    for seed in range(5):
        try:
            for view, answer in _drive(_make(registry, name), seed):
                answer.check(view)
        except PolicyError as error:
            require(False, f"{name}: {error}")


def check_seeded(registry: Registry, name: str) -> None:
    """Twice the same seed gives the same answers, whatever the global generator does."""
    first = [answer for _, answer in _drive(_make(registry, name), 11)]
    before = pickle.dumps(np.random.get_state(legacy=False))  # noqa: NPY002
    second = [answer for _, answer in _drive(_make(registry, name), 11)]
    after = pickle.dumps(np.random.get_state(legacy=False))  # noqa: NPY002
    require(first == second, f"{name}: the same seed gives other answers")
    require(before == after, f"{name}: draws from NumPy's global generator")


def check_picklable(registry: Registry, name: str) -> None:
    """A copy through pickle, taken after it has learned, answers as the original does from then on."""
    policy = _make(registry, name)
    for _ in _drive(policy, 12):
        pass
    copy = pickle.loads(pickle.dumps(policy))
    goes_on = [answer for _, answer in _drive(policy, 13)]
    require(
        goes_on == [answer for _, answer in _drive(copy, 13)], f"{name}: a pickled copy answers otherwise"
    )


def check_leaves_the_view_alone(registry: Registry, name: str) -> None:
    """A view is the same after a decision."""
    policy = _make(registry, name)
    rng = np.random.default_rng(14)
    for _ in range(20):
        view = drawn_view(rng, 5, 3)
        before = pickle.dumps(view)
        policy.decide(view)
        require(pickle.dumps(view) == before, f"{name}: changes the view it is given")


def check_answers_an_empty_view(registry: Registry, name: str) -> None:
    """Where nobody runs or nobody waits, nobody starts."""
    rng = np.random.default_rng(15)
    for view in (drawn_view(rng, 0, 3), drawn_view(rng, 3, 0), drawn_view(rng, 0, 0)):
        answer = _make(registry, name).decide(view)
        require(not answer.shares, f"{name}: shares where nobody runs or nobody waits")


def check_learns(registry: Registry, name: str) -> None:
    """A policy that learns has the methods for it whole: observed(), and both saved() and restore()."""
    policy = _make(registry, name)
    require_methods(policy, name, "observed")
    require_methods(policy, name, "saved", "restore")


def check_saved_state_is_restored(registry: Registry, name: str) -> None:
    """A policy that can be saved is restored from what it saved, and refuses half of it."""
    learned, fresh = (capability(_make(registry, name), Persistent) for _ in range(2))
    if learned is None or fresh is None:
        return
    for _ in _drive(learned, 16):
        pass
    require_restored(learned, fresh, name)

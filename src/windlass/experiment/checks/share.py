"""Checks for sharing policies, which are called with random allocations, without any engine."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator
from typing import Any

import numpy as np

from windlass.experiment.checks.capabilities import require_methods, require_restored
from windlass.experiment.checks.cases import Drawn
from windlass.experiment.checks.common import Check, require
from windlass.experiment.checks.generic import generic_checks
from windlass.policy.registry import Registry, capability
from windlass.share import Allocation, Candidate, Checkpoint, ShareView, observe
from windlass.share.learned import Persistent
from windlass.share.pairing import carried_out
from windlass.share.view import Sharing

_CLASSES = ("montage", "blast", "statistics", "synthetic")
_STEPS = 60


def drawn_allocation(job: int, rng: np.random.Generator) -> Allocation:
    """Return a running job of any kind; for some, the stage, task counts, rates and waits are unknown."""
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
    """Return a waiting job; for some, the CPU use is unknown."""
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
    """Return a view of jobs that run alone, and of waiting jobs."""
    hosts = tuple(drawn_allocation(job, rng) for job in range(running))
    candidates = tuple(drawn_candidate(running + job, rng) for job in range(waiting))
    return ShareView(float(rng.uniform(0, 1e5)), hosts, candidates)


def drawn_views(policy: Any, seed: int) -> Generator[ShareView, Sharing, None]:
    """Yield views that follow from the answers; between them the policy observes the pairs, and some jobs end."""
    rng = np.random.default_rng(seed)
    view = drawn_view(rng, 6, 4)
    for step in range(_STEPS):
        answer = yield view
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


CASES = Drawn(drawn_views)


def check_answers_an_empty_view(registry: Registry, name: str) -> None:
    """If no job runs or no job waits, no job is started."""
    rng = np.random.default_rng(15)
    for view in (drawn_view(rng, 0, 3), drawn_view(rng, 3, 0), drawn_view(rng, 0, 0)):
        answer = CASES.make(registry, name).decide(view)
        require(not answer.shares, f"{name}: shares an allocation although no job runs or no job waits")


def check_learns(registry: Registry, name: str) -> None:
    """A policy that learns has the method observed(), and either both of saved() and restore() or none."""
    policy = CASES.make(registry, name)
    require_methods(policy, name, "observed")
    require_methods(policy, name, "saved", "restore")


def check_saved_state_is_restored(registry: Registry, name: str) -> None:
    """A policy that can be saved is restored from its saved state, and rejects half of it."""
    learned, fresh = (capability(CASES.make(registry, name), Persistent) for _ in range(2))
    if learned is None or fresh is None:
        return
    CASES.outcome(learned, 16)
    require_restored(learned, fresh, name)


CHECKS: tuple[Check, ...] = (
    *generic_checks(CASES),
    check_answers_an_empty_view,
    check_learns,
    check_saved_state_is_restored,
)

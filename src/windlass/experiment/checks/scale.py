"""Checks for scaling policies, which are called with random demand, without any engine."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np

from windlass.experiment.checks.cases import Drawn
from windlass.experiment.checks.common import Check, CheckError, require
from windlass.experiment.checks.generic import generic_checks
from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.policy.registry import Registry
from windlass.scale import Demands, ScaleView, idle_time

_TYPES = (
    InstanceType("small", cores=4, memory=16e9, price=0.2, most=20),
    InstanceType("large", cores=16, memory=64e9, price=0.7, most=10),
    InstanceType("gpu", gpus=4, cores=32, memory=256e9, price=8.0, most=5),
)
_STEPS = 200


def drawn_demands(rng: np.random.Generator, count: int, now: float) -> Demands:
    """Return jobs of any size, some larger than any instance type; the walltime of some is unknown."""
    gpus = rng.choice([0, 0, 0, 1, 4, 12], count)
    resources = np.stack((gpus, rng.integers(1, 25, count), rng.uniform(1e9, 40e9, count)), axis=1)
    walltime = np.where(rng.random(count) < 0.3, np.inf, rng.uniform(60, 1e5, count))
    return Demands(resources.astype(np.float64), now - rng.uniform(0, 1e4, count), walltime)


def drawn_view(rng: np.random.Generator, now: float, history: np.ndarray) -> ScaleView:
    """Return a view of some instances, running jobs and waiting jobs."""
    most = np.array([kind.most for kind in _TYPES])
    ready = rng.integers(0, most // 2 + 1)
    coming, used = rng.integers(0, most // 2 + 1), rng.integers(0, ready + 1)
    running, waiting = (drawn_demands(rng, int(rng.integers(0, 12)), now) for _ in range(2))
    return ScaleView(now, 600.0, _TYPES, ready, coming, used, running, waiting, history)


def drawn_views(seed: int) -> Generator[ScaleView, Any, None]:
    """Yield views with a growing history, which has a daily cycle and a jump."""
    rng = np.random.default_rng(seed)
    day = 1.0 + np.sin(2.0 * np.pi * np.arange(_STEPS) / 144.0)
    history = day[:, None] * (6.0, 3.0, 1.0) * rng.uniform(0.9, 1.1, (_STEPS, 3))
    history[_STEPS // 2] *= 50.0
    for step in range(0, _STEPS, 10):
        yield drawn_view(rng, 600.0 * step, history[: step + 1])


CASES = Drawn(lambda policy, seed: drawn_views(seed))


def check_polls_change_no_decision(registry: Registry, name: str) -> None:
    """Calls between two decisions get answers that can be carried out, and do not change the next decision."""
    policy, unpolled = CASES.make(registry, name), CASES.make(registry, name)
    rng = np.random.default_rng(15)
    history = rng.uniform(0, 5, (40, 3))
    for step in range(40):
        view = drawn_view(rng, 600.0 * step, history[: step + 1])
        view = replace(view, look=10.0)
        require(
            policy.decide(view) == unpolled.decide(view),
            f"{name}: answers differently after calls between two decisions",
        )
        for passed in (10.0, 40.0):
            poll = replace(drawn_view(rng, view.now + passed, view.history), look=10.0, due=False)
            policy.decide(poll).check(poll)


def check_idle_is_a_time(registry: Registry, name: str) -> None:
    """If a policy sets for how long instances may stay empty, it is a finite number of at least 0, in seconds."""
    policy = CASES.make(registry, name)
    try:
        idle_time(policy, otherwise=0.0)
    except InputError as error:
        require(False, f"{name}: {str(error).removeprefix(f'{policy.name}: ')}")
    except TypeError as error:
        raise CheckError(f"{name}: idle is {policy.idle!r}, expected a number") from error


CHECKS: tuple[Check, ...] = (
    *generic_checks(CASES),
    check_polls_change_no_decision,
    check_idle_is_a_time,
)

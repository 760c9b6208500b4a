"""Checks for ordering policies of one site."""

from __future__ import annotations

from typing import Any

import numpy as np

from windlass.experiment.checks.capabilities import (
    require_kernel,
    require_methods,
    require_numbers,
    require_positive,
)
from windlass.experiment.checks.cases import Recorder, Simulated
from windlass.experiment.checks.common import Check, require
from windlass.experiment.checks.generic import generic_checks, require_ends
from windlass.model import JobTable, Owners
from windlass.order.site.compiled import Parametric, Pooled, Selecting
from windlass.order.site.ownership import Owned, half_life_of
from windlass.order.site.reservation import Reserving
from windlass.policy.registry import Registry, capability
from windlass.sim import Replay, replay

_PROCESSORS = 16


def workload(seed: int, jobs: int = 200) -> JobTable:
    """Return jobs with many ties in time and width, some of length 0 and some that request more than they use."""
    rng = np.random.default_rng(seed)
    run = rng.integers(0, 30, jobs)
    return JobTable.of(
        submit=np.sort(rng.integers(0, 400, jobs)),
        run=run,
        procs=rng.integers(1, _PROCESSORS + 1, jobs),
        request=run + rng.integers(0, 20, jobs) * rng.integers(0, 2, jobs),
    )


def _starts(policy: Any, jobs: JobTable) -> Replay:
    return replay(jobs, _PROCESSORS, policy, owners=Owners.of(len(jobs), user=jobs.job % 5))


CASES = Simulated(lambda policy, seed: _starts(policy, workload(seed)).start.tolist())


def check_same_by_decide(registry: Registry, name: str) -> None:
    """The simulator's compiled path and `decide` give the same starts and reasons."""
    jobs = workload(3)
    direct = _starts(CASES.make(registry, name), jobs)
    recorder = Recorder(CASES.make(registry, name))
    by_decide = _starts(recorder, jobs)
    require(
        np.array_equal(direct.start, by_decide.start),
        f"{name}: jobs start at other times if only decide() is called",
    )
    reasons = [direct.reasons[code] for code in direct.why]
    require(
        reasons == [by_decide.reasons[code] for code in by_decide.why],
        f"{name}: gives other reasons if only decide() is called",
    )


def check_gives_reasons(registry: Registry, name: str) -> None:
    """Every started job has a reason."""
    recorder = Recorder(CASES.make(registry, name))
    _starts(recorder, workload(5))
    for decision in recorder.decisions:
        answer = decision.answer
        reasons = answer.reasons()
        require(
            len(reasons) == len(answer.jobs), f"{name}: {len(answer.jobs)} jobs but {len(reasons)} reasons"
        )
        require(all(reasons), f"{name}: starts a job without a reason")


def check_no_job_starves(registry: Registry, name: str) -> None:
    """Every job of a queue ends; the simulator rejects starts beyond the capacity of the site."""
    require_ends(name, (_starts(CASES.make(registry, name), workload(seed)).end for seed in range(6, 10)))


def check_compiled(registry: Registry, name: str) -> None:
    """The functions of a compiled policy are kernels, and its reasons and numbers have the required types."""
    policy = CASES.make(registry, name)
    selecting, pooled = capability(policy, Selecting), capability(policy, Pooled)
    parametric = capability(policy, Parametric)
    require_kernel(None if selecting is None else selecting.select, name, "select")
    require_kernel(None if pooled is None else pooled.pooled, name, "pooled")
    require_numbers(None if parametric is None else parametric.given, name, "given")
    if selecting is not None and selecting.select is not None:
        reasons = getattr(policy, "reasons", None)
        right = isinstance(reasons, tuple) and bool(reasons) and all(isinstance(why, str) for why in reasons)
        require(right, f"{name}: has select, and reasons is {reasons!r}, expected a tuple of texts")


def check_half_life_is_a_time(registry: Registry, name: str) -> None:
    """If a policy has a half-life for the past use of users, it is a number above 0, in seconds."""
    require_positive(half_life_of(CASES.make(registry, name)), name, "half_life")


def check_promises(registry: Registry, name: str) -> None:
    """A policy that promises starts returns one for each waiting job, or NaN for none, and none in the past."""
    policy = CASES.make(registry, name)
    require_methods(policy, name, "promised")
    able = capability(policy, Reserving)
    if able is None:
        return
    recorder = Recorder(policy)
    _starts(recorder, workload(11))
    for view, _, answer in recorder.decisions[::7]:
        found = np.asarray(able.promised(view, answer), np.float64)
        shape, expected = found.shape, view.waiting.job.shape
        require(shape == expected, f"{name}: promised() returns shape {shape}, expected {expected}")
        past = found < view.now
        require(not past.any(), f"{name}: promised() at {view.now:g} s returns a time before that")


def check_placed(registry: Registry, name: str) -> None:
    """A policy that depends on the owners of jobs returns a policy that decides, and an owner for each job."""
    policy = CASES.make(registry, name)
    require_methods(policy, name, "placed")
    able = capability(policy, Owned)
    if able is None:
        return
    jobs = workload(12)
    found: object = able.placed(Owners.of(len(jobs), user=jobs.job % 5), ())
    right = isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], Owners)
    require(right, f"{name}: placed() returns {type(found).__name__}, expected a policy and Owners")
    placed, owners = able.placed(Owners.of(len(jobs), user=jobs.job % 5), ())
    require(callable(getattr(placed, "decide", None)), f"{name}: placed() returns a policy without decide()")
    count = len(owners.user)
    require(count == len(jobs), f"{name}: placed() returns owners of {count} jobs, expected {len(jobs)}")


CHECKS: tuple[Check, ...] = (
    *generic_checks(CASES),
    check_same_by_decide,
    check_gives_reasons,
    check_no_job_starves,
    check_compiled,
    check_half_life_is_a_time,
    check_promises,
    check_placed,
)

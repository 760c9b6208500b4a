"""Checks for ordering policies of one site."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from windlass.experiment.checks.capabilities import (
    require_kernel,
    require_methods,
    require_numbers,
    require_positive,
)
from windlass.experiment.checks.common import require, require_defaults
from windlass.model import JobTable, Owners
from windlass.order.site.compiled import Parametric, Pooled, Selecting
from windlass.order.site.ownership import Owned, half_life_of
from windlass.order.site.reservation import Reserving
from windlass.order.site.view import SiteView, Start
from windlass.policy.registry import Registry, capability
from windlass.sim import Replay, replay

_PROCESSORS = 16


@dataclass
class _Recorder:
    """Drives a policy by hand: keeps what it answers, and watches the view."""

    policy: Any
    answers: list[Start] = field(default_factory=list)
    views: list[SiteView] = field(default_factory=list)
    changed: bool = False

    @property
    def name(self) -> str:
        return str(self.policy.name)

    def decide(self, view: SiteView) -> Start:
        before = pickle.dumps(view)
        answer: Start = self.policy.decide(view)
        self.changed = self.changed or pickle.dumps(view) != before
        self.answers.append(answer)
        self.views.append(view)
        return answer


def workload(seed: int, jobs: int = 200) -> JobTable:
    """Jobs with many ties in time and width, some idle and some that ask for more than they use."""
    rng = np.random.default_rng(seed)
    run = rng.integers(0, 30, jobs)
    return JobTable.of(
        submit=np.sort(rng.integers(0, 400, jobs)),
        run=run,
        procs=rng.integers(1, _PROCESSORS + 1, jobs),
        request=run + rng.integers(0, 20, jobs) * rng.integers(0, 2, jobs),
    )


def _make(registry: Registry, name: str) -> Any:
    return registry.make(name, np.random.default_rng(7))


def _starts(policy: Any, jobs: JobTable) -> Replay:
    return replay(jobs, _PROCESSORS, policy, owners=Owners.of(len(jobs), user=jobs.job % 5))


def check_parameters_have_defaults(registry: Registry, name: str) -> None:
    """A policy can be named alone."""
    require_defaults(registry, name, ("rng",))


def check_seeded(registry: Registry, name: str) -> None:
    """Twice the same seed gives the same starts, whatever the global generator does."""
    jobs = workload(1)
    first = _starts(_make(registry, name), jobs).start
    before = pickle.dumps(np.random.get_state())  # noqa: NPY002
    second = _starts(_make(registry, name), jobs).start
    after = pickle.dumps(np.random.get_state())  # noqa: NPY002
    require(np.array_equal(first, second), f"{name}: the same seed gives different starts")
    require(before == after, f"{name}: draws from NumPy's global generator")


def check_picklable(registry: Registry, name: str) -> None:
    """A copy through pickle decides as the original does; a policy in a file of its own is imported anew."""
    policy = _make(registry, name)
    jobs = workload(2)
    copy = pickle.loads(pickle.dumps(policy))
    require(
        np.array_equal(_starts(copy, jobs).start, _starts(policy, jobs).start),
        f"{name}: a pickled copy decides otherwise",
    )


def check_same_by_hand(registry: Registry, name: str) -> None:
    """The simulator's own way and `decide` called with each view give the same starts and reasons."""
    jobs = workload(3)
    direct = _starts(_make(registry, name), jobs)
    recorder = _Recorder(_make(registry, name))
    by_hand = _starts(recorder, jobs)
    require(
        np.array_equal(direct.start, by_hand.start), f"{name}: driven by hand it starts jobs at other times"
    )
    reasons = [direct.reasons[code] for code in direct.why]
    require(
        reasons == [by_hand.reasons[code] for code in by_hand.why], f"{name}: by hand it gives other reasons"
    )


def check_leaves_the_view_alone(registry: Registry, name: str) -> None:
    """A view is the same after a decision."""
    recorder = _Recorder(_make(registry, name))
    _starts(recorder, workload(4))
    require(not recorder.changed, f"{name}: changes the view it is given")


def check_gives_reasons(registry: Registry, name: str) -> None:
    """Every started job has a reason of at least a word."""
    recorder = _Recorder(_make(registry, name))
    _starts(recorder, workload(5))
    for answer in recorder.answers:
        reasons = answer.reasons()
        require(
            len(reasons) == len(answer.jobs), f"{name}: {len(answer.jobs)} jobs but {len(reasons)} reasons"
        )
        require(all(reasons), f"{name}: starts a job without a reason")


def check_no_job_starves(registry: Registry, name: str) -> None:
    """On an idle site every queue is worked off, and nothing runs over capacity (the simulator sees to it)."""
    for seed in range(6, 10):
        done = _starts(_make(registry, name), workload(seed))
        require(bool(np.isfinite(done.end).all()), f"{name}: leaves a job without an end")


def check_compiled(registry: Registry, name: str) -> None:
    """The functions of a compiled policy are kernels, and its reasons and numbers are what they need."""
    policy = _make(registry, name)
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
    """Where a policy says after how long the use of users counts half, that is a number above 0, in seconds."""
    require_positive(half_life_of(_make(registry, name)), name, "half_life")


def check_promises(registry: Registry, name: str) -> None:
    """A policy that promises starts promises one or none, NaN, to each waiting job, and none in the past."""
    policy = _make(registry, name)
    require_methods(policy, name, "promised")
    able = capability(policy, Reserving)
    if able is None:
        return
    recorder = _Recorder(policy)
    _starts(recorder, workload(11))
    for view, answer in list(zip(recorder.views, recorder.answers, strict=True))[::7]:
        found = np.asarray(able.promised(view, answer), np.float64)
        shape, expected = found.shape, view.waiting.job.shape
        require(shape == expected, f"{name}: promised() returns shape {shape}, expected {expected}")
        past = found < view.now
        require(not past.any(), f"{name}: promised() at {view.now:g} s returns a time before that")


def check_placed(registry: Registry, name: str) -> None:
    """A policy that has to know whose the jobs are returns one that decides, and an owner for each job."""
    policy = _make(registry, name)
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

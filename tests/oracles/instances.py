"""Invariants of finished runs of jobs on instances, in plain Python and independent of the simulator."""

from __future__ import annotations

import math
from collections import defaultdict

from windlass.sim.instances.result import REASONS, Scaled

#: Relative tolerance for the rounding of hours and dollars.
CLOSE = 1e-9


def check(done: Scaled, *, launch_times_are_exact: bool = True, idle: float = 0.0) -> None:
    """Raise if a run is invalid.

    ``launch_times_are_exact``: launches take exactly the time of their type. ``idle``: no instance leaves before it
    has been empty this long, s.
    """
    _check_instances(done, launch_times_are_exact)
    attempts = _attempts(done)
    _check_jobs(done, attempts)
    _check_capacity(done)
    _check_removals(done, idle)


def paid_hours(done: Scaled) -> float:
    """Return the paid hours of instances, summed independently."""
    total = 0.0
    for begun, gone in zip(done.launches.launched.tolist(), done.launches.gone.tolist(), strict=True):
        total += (done.finish if math.isnan(gone) else gone) - begun
    return total / 3600.0


def _check_instances(done: Scaled, as_told: bool) -> None:
    launches, types = done.launches, done.fleet.types
    lines = zip(
        launches.kind.tolist(),
        launches.launched.tolist(),
        launches.ready.tolist(),
        launches.gone.tolist(),
        launches.why.tolist(),
        strict=True,
    )
    changes = defaultdict(list)
    for number, (kind, begun, ready, gone, why) in enumerate(lines):
        reason = REASONS[why]
        assert math.isnan(gone) == (reason == ""), f"launch {number}: gone {gone}, {reason!r}"
        assert reason != "failed" or math.isnan(ready), f"launch {number} failed and was ready"
        if not math.isnan(ready):
            assert begun <= ready, f"launch {number}: ready at {ready}, launched at {begun}"
            if as_told:
                assert abs(ready - begun - types[kind].launch) <= 1e-6
        if not math.isnan(gone):
            assert gone >= (begun if math.isnan(ready) else ready), f"launch {number} is gone too early"
            changes[kind].append((gone, -1))
        changes[kind].append((begun, 1))
    for kind, steps in changes.items():
        there = 0
        for _, step in sorted(steps):
            there += step
            assert there <= types[kind].most, f"{there} instances {types[kind].name}"


def _attempts(done: Scaled) -> dict[tuple[int, float], list[int]]:
    """The instances of each attempt, by its job and start."""
    found = defaultdict(list)
    seen = zip(
        done.attempts.job.tolist(),
        done.attempts.launch.tolist(),
        done.attempts.began.tolist(),
        done.attempts.ended.tolist(),
        strict=True,
    )
    ends: dict[tuple[int, float], float] = {}
    for job, launch, began, ended in seen:
        ready, gone = float(done.launches.ready[launch]), float(done.launches.gone[launch])
        assert ready <= began, f"job {job} begins at {began}, its instance is ready at {ready}"
        assert math.isnan(gone) or ended <= gone, f"job {job} ends at {ended}, its instance is gone at {gone}"
        assert began >= done.jobs.submit[job], f"job {job} begins before it is submitted"
        assert ends.setdefault((job, began), ended) == ended, f"job {job} ends twice"
        found[job, began].append(launch)
    return found


def _check_jobs(done: Scaled, attempts: dict[tuple[int, float], list[int]]) -> None:
    """Each job completes once; each earlier attempt was killed by an interruption of one of its instances."""
    jobs, lost = done.jobs, 0
    ends = {
        (job, began): ended
        for job, began, ended in zip(
            done.attempts.job.tolist(),
            done.attempts.began.tolist(),
            done.attempts.ended.tolist(),
            strict=True,
        )
    }
    for (job, began), launches in attempts.items():
        assert len(set(launches)) == len(launches), f"job {job} is on one instance twice"
        _check_size(done, job, launches)
        whole = abs(ends[job, began] - began - jobs.run[job]) <= 1e-6 * max(1.0, abs(began))
        if began == done.start[job]:
            assert whole, f"job {job} runs for {ends[job, began] - began} s, expected {jobs.run[job]}"
            assert ends[job, began] == done.end[job]
        else:
            lost += 1
            gone = [done.launches.gone[each] for each in launches if done.launches.why[each] >= 0]
            taken = [
                done.launches.why[each] for each in launches if done.launches.gone[each] == ends[job, began]
            ]
            assert ends[job, began] in gone, f"job {job} is killed though its instances stay"
            assert REASONS.index("interrupted") in taken, f"job {job} is killed by the autoscaler"
    for job in range(len(jobs)):
        assert (job, float(done.start[job])) in attempts, f"job {job} never runs"
    assert lost == done.lost, f"{done.lost} attempts are reported as lost, expected {lost}"


def _check_size(done: Scaled, job: int, launches: list[int]) -> None:
    """A job that fits on a type has one instance; any other job has the minimum number of whole instances of a type."""
    request = done.jobs.resources[job].tolist()
    kinds = {int(done.launches.kind[each]) for each in launches}
    fits = [
        all(a <= h for a, h in zip(request, kind.vector().tolist(), strict=True)) for kind in done.fleet.types
    ]
    if any(fits):
        assert len(launches) == 1, f"job {job} has {len(launches)} instances"
        return
    assert len(kinds) == 1
    one = done.fleet.types[kinds.pop()].vector().tolist()
    needed = max(math.ceil(a / h - 1e-9) for a, h in zip(request, one, strict=True) if a > 0)
    assert len(launches) == needed, f"job {job} has {len(launches)} instances, expected {needed}"


def _check_capacity(done: Scaled) -> None:
    """No instance is over its capacity at any instant; a job on several instances has each of them exclusively."""
    on = defaultdict(list)
    for line, launch in enumerate(done.attempts.launch.tolist()):
        on[launch].append(line)
    for launch, lines in on.items():
        capacity = done.fleet.types[int(done.launches.kind[launch])].vector()
        steps, busy, since = [], 0.0, 0.0
        for line in lines:
            request = done.jobs.resources[done.attempts.job[line]]
            request = capacity if (request > capacity).any() else request
            # At one instant, ends precede starts, except that a job of zero length starts before it ends.
            began, ended = float(done.attempts.began[line]), float(done.attempts.ended[line])
            if ended > began:
                steps += [(began, 1, request), (ended, 0, -request)]
        used, there = 0.0 * capacity, 0
        for time, comes, change in sorted(steps, key=lambda step: step[:2]):
            since = time if there == 0 else since
            there += 1 if comes else -1
            used = used + change
            assert (used <= capacity * (1 + 1e-9) + 1e-6).all(), (
                f"launch {launch} at {time}: {used} of {capacity}"
            )
            busy += time - since if there == 0 else 0.0
        assert abs(busy - done.launches.busy[launch]) <= 1e-6 * max(1.0, busy, abs(done.finish))


def _check_removals(done: Scaled, idle: float) -> None:
    """An instance removed as idle was empty for long enough, and there were more instances than wanted."""
    launches, decisions = done.launches, done.decisions
    last = launches.ready.copy()
    for launch, ended in zip(done.attempts.launch.tolist(), done.attempts.ended.tolist(), strict=True):
        last[launch] = max(last[launch], ended)
    for launch in (launches.why == REASONS.index("idle")).nonzero()[0].tolist():
        gone, kind = float(launches.gone[launch]), int(launches.kind[launch])
        assert gone - last[launch] >= idle - 1e-6, (
            f"launch {launch} goes {gone - last[launch]} s after its last job"
        )
        alike = launches.kind == kind
        # Instances that are present after all removals of that instant.
        stay = int((alike & (launches.launched < gone) & ~(launches.gone <= gone)).sum())
        answers = decisions.totals[decisions.time <= gone, kind][-2:].tolist()
        assert stay >= min(answers), f"at {gone} s {stay} are left, expected {answers}"

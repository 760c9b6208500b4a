"""Check that a finished run with shared processors is possible, independently of policies and the simulator.

The input is the attempts of jobs, the quotas over time, and the speeds of pairs of jobs. The checks compute the rest:
the processors held, the progress of each job, and its used walltime.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from windlass.model import JobTable
from windlass.model.use import JobUse
from windlass.share import Speeds
from windlass.sim import Replay
from windlass.sim.shares.result import Shared

Physics = Callable[[int, int, float, float, int], Speeds]
#: Tolerance for work (s): a stage may be over a millionth of a second before its end.
TOLERANCE = 1e-4


@dataclass(eq=False)
class Line:
    """A quota and its interval."""

    quota: int
    start: float
    end: float


@dataclass(eq=False)
class Attempt:
    """A job ran on [start, end), completed or lost. ``pairs`` are its pairs in order of time."""

    row: int
    start: float
    end: float
    lost: bool
    pairs: list[Pair] = field(default_factory=list)
    done: float = 0.0
    spent: float = 0.0
    #: As a guest: (from, until, walltime used per second).
    paces: list[tuple[float, float, float]] = field(default_factory=list)

    @property
    def home(self) -> Pair | None:
        """The pair in which the attempt started as the guest."""
        return next((pair for pair in self.pairs if pair.guest is self), None)

    @property
    def holds_from(self) -> float:
        """The time from which the attempt holds its own processors, or infinity."""
        if self.home is None:
            return self.start
        return self.home.end if self.home.end < self.end else np.inf


@dataclass(eq=False)
class Pair:
    """Two attempts that shared, and their successive quotas."""

    host: Attempt
    guest: Attempt
    lines: list[Line]

    @property
    def start(self) -> float:
        return self.lines[0].start

    @property
    def end(self) -> float:
        return self.lines[-1].end


@dataclass(eq=False)
class Run:
    """A finished run, prepared for the checks."""

    jobs: JobTable
    use: JobUse
    attempts: list[Attempt]
    pairs: list[Pair]
    wrong: list[str]

    def name(self, attempt: Attempt) -> str:
        return f"job {self.jobs.job[attempt.row]}"


def spent(attempt: Attempt, now: float) -> float:
    """Return the walltime that a running job has used by an instant."""
    if attempt.home is None:
        return now - attempt.start
    used = sum((min(end, now) - min(start, now)) * pace for start, end, pace in attempt.paces)
    return used + max(0.0, now - attempt.home.end)


def read(jobs: JobTable, use: JobUse, replay: Replay, shared: Shared, physics: Physics) -> Run:
    """Return the attempts of each job with their pairs and progress; inconsistent records are violations."""
    attempts, wrong = [], []
    lost = zip(replay.lost.tolist(), replay.lost_start.tolist(), replay.lost_end.tolist(), strict=True)
    for row, start, end in lost:
        attempts.append(Attempt(row, start, end, True))
    for row in range(len(jobs)):
        if not (np.isfinite(replay.start[row]) and np.isfinite(replay.end[row])):
            wrong.append(f"job {jobs.job[row]} never ran to an end")
        attempts.append(Attempt(row, float(replay.start[row]), float(replay.end[row]), False))
    run = Run(jobs, use, attempts, [], wrong)
    open_pairs: dict[tuple[Attempt, Attempt], Pair] = {}
    for host, guest, quota, start, end in zip(
        shared.host.tolist(),
        shared.guest.tolist(),
        shared.quota.tolist(),
        shared.start.tolist(),
        shared.end.tolist(),
        strict=True,
    ):
        both = [_attempt(attempts, row, start, end) for row in (host, guest)]
        if both[0] is None or both[1] is None:
            wrong.append(f"rows {host} and {guest} share on [{start}, {end}), and do not both run")
            continue
        pair = open_pairs.get((both[0], both[1]))
        if pair is None:
            pair = open_pairs[both[0], both[1]] = Pair(both[0], both[1], [])
            run.pairs.append(pair)
            for each in both:
                each.pairs.append(pair)
        pair.lines.append(Line(quota, start, end))
    for attempt in attempts:
        attempt.pairs.sort(key=lambda pair: (pair.start, pair.end))
    if not wrong:
        _work_out(run, physics)
    return run


def _attempt(attempts: Iterable[Attempt], row: int, start: float, end: float) -> Attempt | None:
    """Return the attempt of a line; of two adjacent attempts, the one that contains the line."""
    found = [each for each in attempts if each.row == row and each.start <= start and end <= each.end]
    return max(found, key=lambda each: each.start) if found else None


def violations(
    jobs: JobTable,
    use: JobUse,
    processors: Callable[[float], int],
    replay: Replay,
    shared: Shared,
    physics: Physics,
    *,
    memory_per_core: float = 0.0,
    every: float = np.inf,
    kill: bool = True,
) -> list[str]:
    """Return the violations of a run, one sentence each; an empty list for a valid run."""
    run = read(jobs, use, replay, shared, physics)
    if run.wrong:
        return run.wrong
    return [
        *_order(run),
        *_pairs(run),
        *_capacity(run, processors),
        *_work(run, kill),
        *_memory(run, memory_per_core, every),
    ]


def _order(run: Run) -> list[str]:
    """No job runs before its submission or twice at once; the completed attempt is the last."""
    found = []
    for row in range(len(run.jobs)):
        mine = sorted((each for each in run.attempts if each.row == row), key=lambda each: each.start)
        if mine[0].start < run.jobs.submit[row]:
            found.append(f"{run.name(mine[0])} starts before it is submitted")
        if any(first.end > second.start for first, second in pairwise(mine)):
            found.append(f"{run.name(mine[0])} runs twice at once")
        if any(each.end < each.start for each in mine) or mine[-1].lost:
            found.append(f"{run.name(mine[0])} has attempts out of order")
    return found


def _pairs(run: Run) -> list[str]:
    """A pair lasts from the start of its guest until one job ends, and no job is in two pairs at once."""
    found = []
    for pair in run.pairs:
        name = f"{run.name(pair.host)} with {run.name(pair.guest)}"
        if pair.host.row == pair.guest.row:
            found.append(f"{name}: one job")
        if run.jobs.procs[pair.guest.row] > run.jobs.procs[pair.host.row]:
            found.append(f"{name}: the guest is wider than the host")
        if pair.start != pair.guest.start or pair.start < pair.host.start:
            found.append(f"{name}: the guest did not start with the pair")
        if pair.end != min(pair.host.end, pair.guest.end):
            found.append(f"{name}: ends at {pair.end}, none of both does")
        if any(first.end != second.start for first, second in pairwise(pair.lines)):
            found.append(f"{name}: there are holes between quotas")
        if any(line.quota not in range(0, 100, 10) for line in pair.lines) or pair.lines[0].quota == 0:
            found.append(f"{name}: a quota that there is not")
    for attempt in run.attempts:
        if any(second.start < first.end for first, second in pairwise(attempt.pairs)):
            found.append(f"{run.name(attempt)} shares with two at once")
        if sum(pair.guest is attempt for pair in attempt.pairs) > 1:
            found.append(f"{run.name(attempt)} was taken in twice in one attempt")
    return found


def _capacity(run: Run, processors: Callable[[float], int]) -> list[str]:
    """Starts on own processors never exceed the available processors."""
    found = []
    for one in run.attempts:
        if one.home is not None:
            continue
        # A job of zero length may run after the ends and before the starts of its instant.
        before = one.start if one.end > one.start else np.nextafter(one.start, -np.inf)
        held = sum(
            int(run.jobs.procs[each.row])
            for each in run.attempts
            if each is one or (each.holds_from <= before and one.start < each.end)
        )
        if held > processors(one.start):
            found.append(f"at {one.start} s, {held} of {processors(one.start)} processors are held")
    return found


def stage_at(use: JobUse, row: int, done: float) -> int:
    """Return the stage of a job after `done` seconds of work, up to rounding."""
    stages = use.stages(row)
    return next((at for at in stages if use.until[at] > done + TOLERANCE / 50), stages[-1])


def _work(run: Run, kill: bool) -> list[str]:
    """The progress of each job matches its speeds under the quotas, and jobs are stopped when required."""
    return [line for attempt in run.attempts for line in _ended(run, attempt, kill)]


def _work_out(run: Run, physics: Physics) -> None:
    """Compute the progress and the used walltime of each attempt."""
    clock = {id(attempt): attempt.start for attempt in run.attempts}

    def alone(attempt: Attempt, until: float) -> None:
        step = until - clock[id(attempt)]
        attempt.done, attempt.spent, clock[id(attempt)] = attempt.done + step, attempt.spent + step, until

    for pair in sorted(run.pairs, key=lambda pair: pair.start):
        alone(pair.host, pair.start)
        alone(pair.guest, pair.start)
        pair.host_done = [pair.host.done]  # type: ignore[attr-defined]
        for line in pair.lines:
            _together(run, pair, line, physics)
            pair.host_done.append(pair.host.done)  # type: ignore[attr-defined]
        clock[id(pair.host)] = clock[id(pair.guest)] = pair.end
    for attempt in run.attempts:
        alone(attempt, attempt.end)


def _together(run: Run, pair: Pair, line: Line, physics: Physics) -> None:
    """Advance both jobs of a pair, up to the next end of a stage of either."""
    now, host, guest, use = line.start, pair.host, pair.guest, run.use
    while now < line.end:
        stages = [stage_at(use, each.row, each.done) for each in (host, guest)]
        speeds = Speeds(1.0, 0.0)
        if line.quota > 0:
            cpu = [float(use.cpu[stage]) for stage in stages]
            speeds = physics(host.row, guest.row, cpu[0], cpu[1], line.quota)
        step = line.end - now
        for each, stage, speed in zip((host, guest), stages, (speeds.host, speeds.guest), strict=True):
            left = float(use.until[stage]) - each.done
            if speed > 0.0 and left > 0.0:
                step = min(step, left / speed)
        step = max(step, TOLERANCE / 100)
        host.done, guest.done = host.done + step * speeds.host, guest.done + step * speeds.guest
        # The walltime of a guest runs at its quota, or at its speed if that is lower.
        pace = min(line.quota / 100.0, speeds.guest)
        host.spent, guest.spent = host.spent + step, guest.spent + step * pace
        guest.paces.append((now, now + step, pace))
        now += step


def _ended(run: Run, attempt: Attempt, kill: bool) -> list[str]:
    row, name = attempt.row, run.name(attempt)
    work, request = float(run.jobs.run[row]), float(run.jobs.request[row])
    slack = TOLERANCE * (1 + len(attempt.pairs)) + 1e-9 * work
    if attempt.done > work + slack:
        return [f"{name} did {attempt.done} s of work, it has {work}"]
    if kill and attempt.spent > request + slack:
        return [f"{name} used {attempt.spent} s of a walltime of {request}"]
    whole, stopped = attempt.done >= work - slack, kill and attempt.spent >= request - slack
    if not attempt.lost and not whole and not stopped:
        return [f"{name} ended after {attempt.done} s of {work}, and {attempt.spent} s of {request}"]
    return []


def peak(use: JobUse, row: int, done: float) -> float:
    """Return the peak memory of a job after `done` seconds of work (bytes)."""
    stages = range(use.stages(row).start, stage_at(use, row, done) + 1)
    return max(float(use.used[at]) for at in stages) / 100.0 * float(use.memory[row])


def _memory(run: Run, memory_per_core: float, every: float) -> list[str]:
    """A guest starts only if its memory is available, and otherwise leaves by the next checkpoint."""
    found, use = [], run.use
    for pair in run.pairs:
        row, name = pair.host.row, f"{run.name(pair.host)} with {run.name(pair.guest)}"
        least = 0.0 if pair.host.home is not None else memory_per_core * int(run.jobs.procs[row])
        given, requested = max(float(use.memory[row]), least), float(use.memory[pair.guest.row])
        done = pair.host_done  # type: ignore[attr-defined]
        if peak(use, row, done[0]) + requested > given * (1 + 1e-9):
            found.append(f"{name}: {requested:g} bytes are not there of {given:g}")
        for line, came in zip(pair.lines, done, strict=False):
            if min(peak(use, row, came), given) + requested > given * (1 + 1e-9) and line.start > pair.start:
                found.append(f"{name}: goes on at {line.start} s without memory")
    return found

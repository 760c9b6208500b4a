"""Check the results of each load of one coupled cluster against the snapshots of its ledger."""

from __future__ import annotations

import math
import traceback
from bisect import bisect_right
from collections import defaultdict
from itertools import pairwise

import numpy as np

from tests.oracles import answers, promises, shares, staged
from tests.oracles import instances as of_instances
from tests.oracles.cluster import (
    CLOSE,
    BatchLog,
    ClusterLog,
    Course,
    InstanceLog,
    Snapshot,
    TaskLog,
    row_violations,
)
from windlass.sim.instances.result import REASONS


def violations(log: ClusterLog) -> list[str]:
    """Return the violations of a run, one sentence each; an empty list for a valid run."""
    course = Course(log)
    found = row_violations(log)
    for batch in log.batch:
        found += _batch(log, batch, course)
    if log.tasks is not None:
        found += _tasks(log, log.tasks, course)
        found += _answers(log, log.tasks, course)
    return [*found, *_vectors(log, course), *_streams(log, course), *_staged(log)]


def attempts_of(batch: BatchLog) -> list[shares.Attempt]:
    """Return all attempts of jobs, the killed ones first."""
    replay = batch.replay
    lost = zip(replay.lost.tolist(), replay.lost_start.tolist(), replay.lost_end.tolist(), strict=True)
    ended = enumerate(zip(replay.start.tolist(), replay.end.tolist(), strict=True))
    return [
        *(shares.Attempt(row, start, end, True) for row, start, end in lost),
        *(shares.Attempt(row, start, end, False) for row, (start, end) in ended),
    ]


def _batch(log: ClusterLog, batch: BatchLog, course: Course) -> list[str]:
    replay, jobs = batch.replay, batch.jobs
    if not len(replay.start) == len(replay.end) == len(jobs):
        return [f"part {batch.part}: {len(replay.start)} jobs are in the result, expected {len(jobs)}"]
    if batch.shared is None:
        run = shares.Run(jobs, None, attempts_of(batch), [], [])  # type: ignore[arg-type]
        found = [*_alone(run), *_on_rows(log, batch, course)]
    else:
        run = shares.read(jobs, batch.use, replay, batch.shared, batch.physics)  # type: ignore[arg-type]
        if run.wrong:
            return run.wrong
        limits = (lambda _: 1 << 60, replay, batch.shared, batch.physics)
        memory = {"memory_per_core": batch.memory_per_core}
        found = [*shares.violations(jobs, batch.use, *limits, **memory), *_quotas(run)]  # type: ignore[arg-type]
    found += [*_cores(batch, run, course), *_killed(log, batch, run)]
    if batch.bound is not None:
        found += promises.broken(run, batch.bound)
    return found


def _alone(run: shares.Run) -> list[str]:
    """Each job ends once, after its run time or at its walltime; each killed attempt was shorter."""
    found, jobs = [], run.jobs
    for row in range(len(jobs)):
        mine = sorted(
            (each for each in run.attempts if each.row == row), key=lambda each: (each.start, each.end)
        )
        length, name = float(min(jobs.run[row], jobs.request[row])), run.name(mine[0])
        if not all(math.isfinite(each.start) and math.isfinite(each.end) for each in mine) or mine[-1].lost:
            found.append(f"{name} never ran to an end")
        if mine[0].start < jobs.submit[row]:
            found.append(f"{name} starts at {mine[0].start:g} s, submitted at {jobs.submit[row]:g} s")
        if any(first.end > second.start for first, second in pairwise(mine)):
            found.append(f"{name} runs twice at once")
        for each in mine:
            if each.lost and not each.start <= each.end < each.start + length:
                found.append(f"{name} was killed at {each.end:g} s, after its end")
            if not each.lost and abs(each.end - each.start - length) > CLOSE:
                found.append(f"{name} ran for {each.end - each.start:g} s, expected {length:g} s")
    return found


def _quotas(run: shares.Run) -> list[str]:
    """A host has one guest, which has no guest; the guest's quota leaves the host some time of its cores."""
    found = []
    for pair in run.pairs:
        name = f"{run.name(pair.host)} with {run.name(pair.guest)}"
        if any(not 0 <= line.quota < 100 for line in pair.lines):
            found.append(f"{name}: quota beyond the host's cores")
        for other in run.pairs:
            together = other is not pair and pair.start < other.end and other.start < pair.end
            if together and other.host in (pair.host, pair.guest):
                found.append(f"{name}: {run.name(other.guest)} is a guest there as well")
    return found


def _cores(batch: BatchLog, run: shares.Run, course: Course) -> list[str]:
    """At each instant, the part holds exactly the cores of its running jobs; a guest's are of its host."""
    found, procs = [], run.jobs.procs.tolist()
    instants = {time for each in run.attempts for time in (each.start, each.end)}
    for now in sorted(time for time in {*instants, *course.times} if math.isfinite(time)):
        wanted = sum(procs[each.row] for each in run.attempts if each.holds_from <= now < each.end)
        held = sum(parts[batch.part] for parts in course.at(now).held)
        if held != wanted:
            found.append(
                f"at {now:g} s, part {batch.part} holds {held} cores, its running jobs need {wanted}"
            )
    return found


def _on_rows(log: ClusterLog, batch: BatchLog, course: Course) -> list[str]:
    """Each running job holds its recorded cores of each row from its start to its end."""
    found, first = [], log.sites[0].start
    pieces: dict[tuple[int, float], dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for row, node, cores, start in batch.replay.held.tolist():
        pieces[int(row), start][first + int(node)] += int(cores)
    attempts, procs = attempts_of(batch), batch.jobs.procs.tolist()
    for each in attempts:
        # A job that is killed and started at one instant has two lines of this start.
        alike = sum(each.row == other.row and each.start == other.start for other in attempts)
        if sum(pieces[each.row, each.start].values()) != alike * procs[each.row]:
            found.append(f"row {each.row} of the jobs has other cores than it needs")
    for state in course.states:
        wanted: dict[int, int] = defaultdict(int)
        for each in attempts:
            if each.start <= state.time < each.end:
                for row, cores in pieces[each.row, each.start].items():
                    wanted[row] += cores
        for row in range(len(log.whole)):
            if state.held[row][batch.part] != wanted[row]:
                found.append(
                    f"at {state.time:g} s, jobs hold {state.held[row][batch.part]} cores of row {row}"
                )
    return found


def _killed(log: ClusterLog, batch: BatchLog, run: shares.Run) -> list[str]:
    """Attempts are lost only when a row is vacated, or if the co-scheduler requeues them."""
    vacated = set(log.outages.time[log.outages.kill].tolist())
    if log.instances is not None:
        launches = log.instances.done.launches
        vacated |= set(launches.gone[launches.why == REASONS.index("interrupted")].tolist())
    lost = [each for each in run.attempts if each.lost and each.end not in vacated]
    allowed = 0 if batch.shared is None else batch.shared.evicted
    return [f"{run.name(each)} was killed at {each.end:g} s without a cause" for each in lost[allowed:]]


def speed(tasks: TaskLog, log: ClusterLog, worker: int, state: Snapshot) -> float:
    """Return the speed of a worker: the share of idle and kept cores of its node, but at least the floor."""
    row = log.sites[0].start + worker
    if state.capacity[row] == 0:
        return 0.0
    own = 0 if tasks.part is None else state.held[row][tasks.part]
    share = (max(0, state.idle[row]) + own) / log.whole[row]
    return tasks.speeds[worker] * max(tasks.floor, share)


def _tasks(log: ClusterLog, tasks: TaskLog, course: Course) -> list[str]:
    """Each task ends once, its work is done in one run on one worker, and a worker runs one task at a time."""
    done, found = tasks.done, []
    if not len(done.end) == len(done.start) == len(done.worker) == len(tasks.work):
        return [f"{len(done.end)} tasks are in the result, expected {len(tasks.work)}"]
    runs: dict[int, list[tuple[float, float, int]]] = defaultdict(list)
    for task, (start, end, worker) in enumerate(
        zip(done.start.tolist(), done.end.tolist(), done.worker.tolist(), strict=True)
    ):
        if not math.isfinite(end) and tasks.answers is not None and tasks.answers.refuses:
            continue
        if not (math.isfinite(start) and math.isfinite(end)):
            found.append(f"task {task} never ends")
            continue
        runs[worker].append((start, end, task))
        if start < tasks.submit[task]:
            found.append(f"task {task} starts at {start:g} s, submitted at {tasks.submit[task]:g} s")
        given = 0.0
        for since, until, state in course.between(start, end):
            given += (until - since) * speed(tasks, log, worker, state)
            if state.capacity[log.sites[0].start + worker] == 0:
                found.append(f"task {task} runs at {since:g} s on worker {worker}, which is down")
        if abs(given - tasks.work[task]) > CLOSE * (1.0 + tasks.work[task]):
            found.append(f"task {task} received {given:g} of its work of {tasks.work[task]:g}")
    for worker, each in runs.items():
        for first, second in pairwise(sorted(each)):
            if second[0] < first[1] - CLOSE:
                found.append(f"worker {worker} runs tasks {first[2]} and {second[2]} at once")
    return found


def _answers(log: ClusterLog, tasks: TaskLog, course: Course) -> list[str]:
    """Tasks run on nodes that accept them; see :mod:`tests.oracles.answers`."""
    if tasks.answers is None or len(tasks.done.end) != len(tasks.work):
        return []
    return answers.violations(tasks.answers, tasks.done, presence(log, course))


def presence(log: ClusterLog, course: Course | None = None) -> answers.Present:
    """Return the function that names the nodes of the first site that have cores at a time."""
    first, states = log.sites[0].start, course or Course(log)
    # A node of which the cores change at an instant may or may not be there for tasks of this instant.
    changes = {
        second.time
        for one, second in pairwise(log.snapshots)
        if any((a > 0) != (b > 0) for a, b in zip(one.capacity, second.capacity, strict=True))
    }

    def present(time: float) -> list[int] | None:
        if time in changes:
            return None
        capacity = states.at(time).capacity
        return [row - first for row in log.sites[0] if capacity[row] > 0]

    return present


def _staged(log: ClusterLog) -> list[str]:
    """Tasks of staged jobs follow those of earlier stages and their bytes, and hold a core each."""
    if log.staged is None:
        return []
    run, part, rows = log.staged.run, log.staged.part, log.staged.rows
    return [
        *staged.precedence(run),
        *staged.places(run, rows),
        *staged.carried(run),
        *staged.arrived(run),
        *staged.held(run, part, log.snapshots),
    ]


def _vectors(log: ClusterLog, course: Course) -> list[str]:
    """Jobs on instances run as :mod:`tests.oracles.instances` requires, and hold their cores."""
    part = log.instances
    if part is None:
        return []
    try:
        # Launches that are due after the end of all loads are not part of the run.
        of_instances.check(part.done, launch_times_are_exact=False, idle=part.idle)
    except AssertionError as error:
        line = traceback.extract_tb(error.__traceback__)[-1].line
        return [f"instances: {str(error) or line}"]
    until, attempts = _end_of_loads(log), part.done.attempts
    found = _launches(part, until)
    # The end of short tasks is noticed at the next poll, and that of loads of several sites.
    late = CLOSE if log.tasks is None and not part.ends else part.look
    if not until - CLOSE <= part.done.finish <= until + late:
        found.append(f"instances are paid until {part.done.finish:g} s, all loads end at {until:g} s")
    for state in course.states:
        on: dict[int, float] = defaultdict(float)
        for job, launch, began, ended in zip(
            attempts.job.tolist(),
            attempts.launch.tolist(),
            attempts.began.tolist(),
            attempts.ended.tolist(),
            strict=True,
        ):
            if began <= state.time < ended:
                size = part.done.fleet.types[int(part.done.launches.kind[launch])].cores
                on[launch] = min(on[launch] + float(part.done.jobs.resources[job, 1]), size)
        held = sum(parts[part.part] for parts in state.held)
        if held != sum(math.ceil(cores - CLOSE) for cores in on.values()):
            found.append(f"at {state.time:g} s, instances hold {held} cores for jobs of {sum(on.values()):g}")
    return found


def _end_of_loads(log: ClusterLog) -> float:
    """Return the end of the last job or task that may run on instances."""
    ends = [each.replay.end for each in log.batch]
    ends += [] if log.tasks is None else [log.tasks.done.end]
    ends += [] if log.instances is None else [log.instances.done.end, np.array(log.instances.ends)]
    # A task that was refused has no end.
    return max(float(np.fmax.reduce(each, initial=0.0)) for each in ends)


def _launches(part: InstanceLog, until: float) -> list[str]:
    """Launches take exactly the time of their type."""
    launches, found = part.done.launches, []
    for kind, begun, ready, gone in zip(
        launches.kind.tolist(),
        launches.launched.tolist(),
        launches.ready.tolist(),
        launches.gone.tolist(),
        strict=True,
    ):
        due = begun + part.done.fleet.types[kind].launch
        # At the instant of the last end, instances stay as they are.
        if due < until and not gone <= due and ready != due:
            found.append(f"the instance launched at {begun:g} s is ready at {ready:g} s, expected {due:g} s")
    return found


def _streams(log: ClusterLog, course: Course) -> list[str]:
    """Queries hold the cores that they use, rounded up, and at least those kept; their streams are complete."""
    streams = log.streams
    if streams is None:
        return []
    done, found = streams.done, []
    length = (done.stays.leave - done.stays.arrive).tolist()
    for query, (served, lost, stay) in enumerate(
        zip(done.served.tolist(), done.lost.tolist(), length, strict=True)
    ):
        if abs(served + lost - stay) > CLOSE * (1.0 + stay):
            found.append(f"query {query}: {served:g} s served and {lost:g} s lost of {stay:g} s")
    times, until = done.course.time.tolist(), max(done.stays.leave.tolist(), default=0.0)
    for now in sorted({*course.times, *times}):
        if not times[0] <= now < min(until, times[-1]):
            continue
        state, used = course.at(now), done.course.held[bisect_right(times, now) - 1].tolist()
        for site, cores, keep in zip(streams.at, used, streams.keep, strict=True):
            held = state.of(streams.part, log.sites[site])
            idle = sum(max(0, state.idle[row]) for row in log.sites[site])
            expected = max(math.ceil(cores - CLOSE), keep)
            if held != expected and not (idle == 0 and math.ceil(cores - CLOSE) <= held < keep):
                found.append(f"at {now:g} s, queries hold {held} cores of site {site}, expected {expected}")
    return found

"""Corruptions of the log of a cluster, each with the sentence by which a validator should reject it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tests.coupled.clusters import JOBS, OTHERS, SHARING
from tests.oracles.cluster import BatchLog, ClusterLog, Snapshot

Corrupt = Callable[[ClusterLog], ClusterLog]


class Control(NamedTuple):
    """A corruption, and part of a violation that it must cause."""

    message: str
    corrupt: Corrupt


def _edited(values: Any, at: int, change: Callable[[Any], Any]) -> Any:
    """Return a copy of a column with one changed entry."""
    copy = np.array(values)
    copy[at] = change(copy[at])
    return copy


def _columns(table: Any, at: int, **changes: Callable[[Any], Any]) -> Any:
    """Return a copy of a result with changes of some columns in one row."""
    return replace(table, **{name: _edited(getattr(table, name), at, each) for name, each in changes.items()})


def _batch(log: ClusterLog, part: int, change: Callable[[BatchLog], BatchLog]) -> ClusterLog:
    return replace(log, batch=tuple(change(each) if each.part == part else each for each in log.batch))


def _replay(part: int, at: int, **changes: Callable[[Any], Any]) -> Corrupt:
    return lambda log: _batch(
        log, part, lambda batch: replace(batch, replay=_columns(batch.replay, at, **changes))
    )


def _lost(part: int, row: int, start: float, end: float) -> Corrupt:
    def add(batch: BatchLog) -> BatchLog:
        old = batch.replay
        more = dict(lost=np.append(old.lost, row), lost_start=np.append(old.lost_start, start))
        return replace(batch, replay=replace(old, **more, lost_end=np.append(old.lost_end, end)))

    return lambda log: _batch(log, part, add)


def _shared(at: int, **changes: Callable[[Any], Any]) -> Corrupt:
    return lambda log: _batch(
        log, SHARING, lambda batch: replace(batch, shared=_columns(batch.shared, at, **changes))
    )


def _guest_of_a_guest(log: ClusterLog) -> ClusterLog:
    def add(batch: BatchLog) -> BatchLog:
        old = batch.shared
        # The first guest takes in another job for as long.
        more = {"host": int(old.guest[0]), "guest": 3, "quota": 10, "start": old.start[0], "end": old.end[0]}
        columns = {name: np.append(getattr(old, name), value) for name, value in more.items()}
        return replace(batch, shared=replace(old, **columns, why=(*old.why, "drawn")))

    return _batch(_replay(SHARING, 3, start=lambda _: 1.0)(log), SHARING, add)


def _snapshot(
    log: ClusterLog,
    change: Callable[[Snapshot], Snapshot],
    which: Callable[[Snapshot], bool],
    *,
    last: bool = False,
) -> ClusterLog:
    """Return a log with a changed first (or last) snapshot of some kind, of those that end their instants."""
    final = [id(each) for each in log.last_of_instants()]
    places = [at for at, each in enumerate(log.snapshots) if which(each) and id(each) in final]
    at = places[-1 if last else 0]
    return replace(log, snapshots=(*log.snapshots[:at], change(log.snapshots[at]), *log.snapshots[at + 1 :]))


def _moved(each: Snapshot, row: int, **more: int) -> Snapshot:
    """Return a snapshot with more capacity or idle cores of a row, or more cores held by ``part0`` to ``part5``."""
    changed = {name: list(getattr(each, name)) for name in ("capacity", "idle")}
    held = [list(parts) for parts in each.held]
    for name, cores in more.items():
        if name in changed:
            changed[name][row] += cores
        else:
            held[row][int(name[-1])] += cores
    return each._replace(
        **{name: tuple(values) for name, values in changed.items()}, held=tuple(map(tuple, held))
    )


def _at(time: float, row: int, **more: int) -> Corrupt:
    """Return a corruption of the state from an instant on, until the next change."""
    return lambda log: _snapshot(log, lambda each: _moved(each, row, **more), lambda each: each.time == time)


def _with(name: str, at: int, **changes: Callable[[Any], Any]) -> Corrupt:
    """Return a corruption of a row of the result of tasks, instances or queries."""

    def corrupt(log: ClusterLog) -> ClusterLog:
        part = getattr(log, name)
        return replace(log, **{name: replace(part, done=_columns(part.done, at, **changes))})

    return corrupt


def _instances(table: str, at: int, **changes: Callable[[Any], Any]) -> Corrupt:
    def corrupt(log: ClusterLog) -> ClusterLog:
        assert log.instances is not None
        done = log.instances.done
        changed = _columns(getattr(done, table), at, **changes)
        return replace(log, instances=replace(log.instances, done=replace(done, **{table: changed})))

    return corrupt


def _paid_for_longer(log: ClusterLog) -> ClusterLog:
    assert log.instances is not None
    done = log.instances.done
    return replace(log, instances=replace(log.instances, done=replace(done, finish=done.finish + 3.0)))


def _without_last_job(log: ClusterLog) -> ClusterLog:
    def cut(batch: BatchLog) -> BatchLog:
        return replace(batch, replay=replace(batch.replay, start=batch.replay.start[:-1]))

    return _batch(log, JOBS, cut)


def _done_twice(log: ClusterLog) -> ClusterLog:
    """The first task of the result is reported in place of the second."""
    assert log.tasks is not None
    done, again = log.tasks.done, dict[str, Any]()
    for name in ("start", "worker"):
        column = np.array(getattr(done, name))
        again[name] = np.where(np.arange(len(column)) == 2, column[1], column)
    response = np.array(done.response)
    response[2] = done.end[1] - done.submit[2]
    return replace(log, tasks=replace(log.tasks, done=replace(done, **again, response=response)))


def _without_last_task(log: ClusterLog) -> ClusterLog:
    assert log.tasks is not None
    done = log.tasks.done
    cut = {name: getattr(done, name)[:-1] for name in ("submit", "response", "start", "worker")}
    return replace(log, tasks=replace(log.tasks, done=replace(done, **cut)))


def _held_by_queries(log: ClusterLog) -> ClusterLog:
    """The timeline reports more cores than the queries hold."""
    assert log.streams is not None
    course = log.streams.done.course
    more = replace(course, held=_edited(course.held, 4, lambda row: [*row[:2], row[2] + 2.0, row[3]]))
    return replace(log, streams=replace(log.streams, done=replace(log.streams.done, course=more)))


def _all_vacated(log: ClusterLog) -> ClusterLog:
    return replace(log, outages=replace(log.outages, kill=np.ones(len(log.outages), np.bool_)))


def _later_submission(log: ClusterLog) -> ClusterLog:
    return _batch(
        log,
        JOBS,
        lambda batch: replace(batch, jobs=_columns(batch.jobs, -1, submit=lambda time: time + 15.0)),
    )


def _end_of_run(log: ClusterLog) -> ClusterLog:
    return _snapshot(log, lambda each: _moved(each, 0, idle=-1, part1=1), lambda _: True, last=True)


#: Corruptions of the log of the cluster of all kinds of parts.
OF_ALL_KINDS = {
    "start a second earlier": Control(
        "ran for 10 s, expected 9 s", _replay(JOBS, 1, start=lambda at: at - 1.0)
    ),
    "end a second later": Control("ran for 10 s, expected 9 s", _replay(JOBS, 1, end=lambda at: at + 1.0)),
    "run a second later": Control(
        "its running jobs need", _replay(JOBS, 1, start=lambda at: at + 1.0, end=lambda at: at + 1.0)
    ),
    "start before submission": Control("submitted at", _later_submission),
    "job missing": Control("4 jobs are in the result, expected 5", _without_last_job),
    "job that never ends": Control("never ran to an end", _replay(JOBS, 1, end=lambda _: np.nan)),
    "two attempts at once": Control("runs twice at once", _lost(JOBS, 1, 2.0, 6.0)),
    "attempt lost without a cause": Control("was killed at 3.5 s without a cause", _lost(JOBS, 4, 3.0, 3.5)),
    "attempt lost after its end": Control("after its end", _lost(JOBS, 4, -9.0, 3.0)),
    "cores on another node": Control(
        "jobs hold", _replay(JOBS, 0, held=lambda line: [line[0], 1 - line[1], line[2], line[3]])
    ),
    "one core less recorded": Control(
        "other cores than it needs",
        _replay(JOBS, 0, held=lambda line: [line[0], line[1], line[2] - 1, line[3]]),
    ),
    "sharing job that is too short": Control("ended after", _replay(SHARING, 3, end=lambda at: at - 1.0)),
    "quota of a guest": Control("quota beyond the host's cores", _shared(0, quota=lambda _: 100)),
    "guest of a guest": Control("is a guest there as well", _guest_of_a_guest),
    "held core that is idle as well": Control("cores of row 0 are idle, not", _at(3.0, 0, part1=1)),
    "held core of no job": Control("part 1 holds", _at(3.0, 0, part1=1, idle=-1)),
    "held core of no sharing job": Control("part 2 holds", _at(3.0, 1, part2=1, idle=-1)),
    "more cores than the row has": Control("cores is held by", _at(3.0, 0, capacity=1, idle=1)),
    "cores during an outage": Control("row 0 has 1 cores, expected 0", _at(8.0, 0, capacity=1, idle=1)),
    "start on owed cores": Control("takes cores of row 0, which has", _at(8.0, 0, part1=3, idle=-3)),
    "row that was not vacated": Control("was to be vacated", _all_vacated),
    "kept core returned": Control("part 4 lacks kept ones", _at(0.0, 0, part4=-1, idle=1)),
    "kept core given to jobs": Control(
        "takes cores of row 0 that part 4 keeps", _at(0.0, 0, part4=-1, part1=1)
    ),
    "limit": Control("at most 0", lambda log: replace(log, limits={**log.limits, (0, OTHERS): 0})),
    "core held at the end": Control("at the end, part 1 holds 1 cores", _end_of_run),
    "part that has not ended": Control(
        "SitePart has not ended", lambda log: replace(log, left=("SitePart",))
    ),
    "snapshots out of order": Control(
        "not in the order of time", lambda log: replace(log, snapshots=log.snapshots[::-1])
    ),
    "task that ends earlier": Control(
        "task 3 received", _with("tasks", 3, response=lambda time: time - 0.25)
    ),
    "task that starts earlier": Control("task 1 starts at", _with("tasks", 1, start=lambda _: 0.0)),
    "task that never ends": Control("task 3 never ends", _with("tasks", 3, response=lambda _: np.nan)),
    "task done twice": Control("runs tasks 1 and 2 at once", _done_twice),
    "task missing": Control("6 tasks are in the result, expected 7", _without_last_task),
    "task on another worker": Control("on worker 3, which is down", _with("tasks", 1, worker=lambda _: 3)),
    "instance that is ready later": Control(
        "instance launched at", _instances("launches", 0, ready=lambda at: at + 1.0)
    ),
    "instance that stays": Control(
        "instances have cores", _instances("launches", 1, gone=lambda at: at + 1.0)
    ),
    "cost until later": Control("instances are paid until", _paid_for_longer),
    "vector job that ends earlier": Control(
        "instances: ", _instances("attempts", 0, ended=lambda at: at - 1.0)
    ),
    "held core of no vector job": Control("instances hold", _at(12.0, 2, part3=1, idle=-1)),
    "stream served twice": Control("s served and", _with("streams", 0, served=lambda time: time + 1.0)),
    "cores that queries do not hold": Control("queries hold", _held_by_queries),
}


def _later(log: ClusterLog) -> ClusterLog:
    return _replay(JOBS, 2, start=lambda at: at + 3.0, end=lambda at: at + 3.0)(log)


#: Corruptions of the log of the cluster of which jobs are promised their starts.
OF_PROMISES = {
    "promise": Control("is head at 1.0 s, can start by 6.0 s, and does at 9.0 s", _later),
    "kept core of tasks": Control("part 0 lacks kept ones", _at(4.0, 1, part0=-1, idle=1)),
    "kept core of tasks given to jobs": Control(
        "takes cores of row 1 that part 0 keeps", _at(4.0, 1, part0=-1, part1=1)
    ),
}


def _limits(at: int, limits: tuple[int, ...]) -> Corrupt:
    """Return a corruption of one of the nodes' answers."""

    def corrupt(log: ClusterLog) -> ClusterLog:
        assert log.tasks is not None
        answers = log.tasks.answers
        assert answers is not None
        changed = (*answers.limits[:at], limits, *answers.limits[at + 1 :])
        return replace(log, tasks=replace(log.tasks, answers=replace(answers, limits=changed)))

    return corrupt


def _staged(at: int, **changes: Callable[[Any], Any]) -> Corrupt:
    def corrupt(log: ClusterLog) -> ClusterLog:
        assert log.staged is not None
        return replace(log, staged=replace(log.staged, run=_columns(log.staged.run, at, **changes)))

    return corrupt


#: Corruptions of the log of the cluster with staged jobs, and with nodes that reject tasks that start late.
OF_GATED = {
    "stage before its parent": Control(
        "stage 1 began at 1.5 s, its parent 0 ended at 2 s", _staged(5, begun=lambda _: 1.5)
    ),
    "task before its bytes": Control("its bytes came until 4.25", _staged(5, read=lambda at: at - 1.0)),
    "task without its bytes": Control("task 0 reads nothing from site 1", _staged(0, source=lambda _: 1)),
    "bytes between sites": Control(
        "bytes to", lambda log: _staged(0, flows=lambda row: [*row[:2], row[2] + 1.0, *row[3:]])(log)
    ),
    "task at another site": Control("of site 1 held a core of row", _staged(0, site=lambda _: 1)),
    "core of another row": Control("part 6 holds", _staged(0, row=lambda row: 1 - row)),
    "start on a node that rejects": Control(
        "task 21 starts at 12.5 s on node 0, which rejects", _limits(11, (0, 9))
    ),
    "refusal although a node accepts": Control(
        "task 4 was refused at 2.25 s, although a node accepts", _limits(1, (9, 0))
    ),
}
#: Corruptions of the log of the cluster of which tasks get a node on arrival.
OF_FORCED = {
    "task beyond a limit": Control("task 4 came at 2.25 s to node 0, which rejects", _limits(1, (1, 9))),
    "task on a node that rejects": Control("to node 0, which rejects", _limits(1, (0, 9))),
    "refused task": Control("task 23 was refused", _with("tasks", 23, response=lambda _: np.nan)),
}

"""The algorithms of the thesis as printed, in plain Python, and a validator of schedules."""

from collections import defaultdict
from fractions import Fraction
from types import SimpleNamespace

import numpy as np


def swag(subjobs, slots, backlog):
    """Algorithm 3.5: the least makespan, then the fewest tasks, then the first; exact arithmetic."""
    queue = [Fraction(int(tasks)) for tasks in backlog]
    left, order = list(range(len(subjobs))), []
    while left:

        def key(job, queue=queue):
            makespan = max((q + int(v)) / int(c) for q, v, c in zip(queue, subjobs[job], slots, strict=True))
            return makespan, int(sum(subjobs[job])), job

        best = min(left, key=key)
        order.append(best)
        left.remove(best)
        queue = [q + int(v) for q, v in zip(queue, subjobs[best], strict=True)]
    return order


def reordering(subjobs, slots, orders):
    """Algorithm 3.3, with lists for queues; `orders` has one order per site."""
    sites = range(len(slots))
    queues = [[job for job in orders[site] if subjobs[job][site] > 0] for site in sites]
    last_first = []
    while any(queues):
        lengths = [Fraction(sum(int(subjobs[j][d]) for j in queues[d]), max(int(slots[d]), 1)) for d in sites]
        target = max(sites, key=lambda d: (lengths[d], -d))
        job = queues[target][-1]
        last_first.append(job)
        queues = [[other for other in queue if other != job] for queue in queues]
    idle = [job for job in orders[0] if job not in last_first]
    return idle + last_first[::-1]


def flat(case):
    """Sub-jobs of jobs whose tasks are fixed to sites, as plain columns."""
    jobs = case.jobs
    return SimpleNamespace(
        jobs=len(jobs),
        submit=jobs.submit,
        first=jobs.part0,
        site=jobs.site,
        task0=jobs.task0,
        duration=jobs.duration,
        slots=case.fleet.slots,
        job_tasks=jobs.job_tasks,
    )


def validate(case, done):
    """Raise unless every task ran once, at its site, within the slots, and no slot idled while work waited."""
    work = flat(case)
    job_of_sub = np.repeat(np.arange(work.jobs), np.diff(work.first))
    assert np.isfinite(done.begun).all()
    assert (done.site == np.repeat(work.site, np.diff(work.task0))).all()
    end = done.begun + work.duration
    for sub, site in enumerate(work.site):
        tasks = slice(work.task0[sub], work.task0[sub + 1])
        assert (done.begun[tasks] >= work.submit[job_of_sub[sub]]).all()
        assert (np.diff(done.begun[tasks]) >= 0).all(), "tasks of a sub-job start in their order"
        assert 0 <= site < len(work.slots)
    for job in range(work.jobs):
        tasks = slice(work.task0[work.first[job]], work.task0[work.first[job + 1]])
        assert done.start[job] == done.begun[tasks].min()
        assert done.end[job] == end[tasks].max()
    by_site = defaultdict(list)
    for sub, site in enumerate(work.site):
        by_site[site] += range(work.task0[sub], work.task0[sub + 1])
    for site, tasks in by_site.items():
        most = 0
        instants = np.unique(np.concatenate((done.begun[tasks], end[tasks])))
        started, ended = np.sort(done.begun[tasks]), np.sort(end[tasks])
        for time in instants:
            running = np.searchsorted(started, time, "right") - np.searchsorted(ended, time, "right")
            most = max(most, running)
        assert most <= work.slots[site], f"site {site} runs {most} tasks on {work.slots[site]} slots"
        arrived = np.repeat(work.submit[job_of_sub], np.diff(work.task0))[tasks]
        for time in instants:
            busy = np.searchsorted(started, time, "right") - np.searchsorted(ended, time, "right")
            waiting = (arrived <= time).sum() - np.searchsorted(started, time, "right")
            assert busy == work.slots[site] or waiting == 0, f"site {site} idles at {time}"

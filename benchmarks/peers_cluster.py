"""Staged jobs on slots, and jobs packed on instances, in plain Python with heapq."""

from __future__ import annotations

import heapq
from collections import deque

#: A staged job: its submission (s), and the compute times (s) of each stage's tasks. A stage follows the one before.
StagedJob = tuple[float, list[list[float]]]
#: A job for instances: its submission and run time (s), and its cores.
PackedJob = tuple[float, float, int]


def plain_stages(jobs: list[StagedJob], slots: int) -> list[float]:
    """Serve jobs in order of arrival, one slot for each task; return the end of each job, s."""
    ended, left = [0.0] * len(jobs), [0] * len(jobs)
    waiting: dict[int, deque[float]] = {}
    stage = [0] * len(jobs)
    # The jobs with tasks to start, first come first.
    queue: list[int] = []
    running: list[tuple[float, int]] = []
    arrived = 0

    def begin(job: int) -> None:
        tasks = jobs[job][1][stage[job]]
        waiting[job], left[job] = deque(tasks), len(tasks)
        heapq.heappush(queue, job)

    while arrived < len(jobs) or running:
        arrival = jobs[arrived][0] if arrived < len(jobs) else float("inf")
        now = min(arrival, running[0][0] if running else float("inf"))
        while running and running[0][0] == now:
            job = heapq.heappop(running)[1]
            slots += 1
            left[job] -= 1
            if left[job] == 0:
                stage[job] += 1
                if stage[job] < len(jobs[job][1]):
                    begin(job)
                else:
                    ended[job] = now
        while arrived < len(jobs) and jobs[arrived][0] == now:
            begin(arrived)
            arrived += 1
        while slots and queue:
            job = queue[0]
            heapq.heappush(running, (now + waiting[job].popleft(), job))
            slots -= 1
            if not waiting[job]:
                heapq.heappop(queue)
    return ended


def plain_instances(jobs: list[PackedJob], cores: int, most: int) -> list[float]:
    """Launch an instance as soon as a job needs it and end it when it is empty; return the start of each job, s.

    A job runs on the first instance that has room, jobs are served in order of submission, and one without room is
    skipped.
    """
    started = [0.0] * len(jobs)
    idle = [cores] * most
    present = [False] * most
    # Waiting jobs by their cores: a job behind one of the same size has no room either.
    queues: dict[int, deque[int]] = {}
    running: list[tuple[float, int, int]] = []
    arrived = 0
    while arrived < len(jobs) or running:
        arrival = jobs[arrived][0] if arrived < len(jobs) else float("inf")
        now = min(arrival, running[0][0] if running else float("inf"))
        while running and running[0][0] == now:
            _, job, row = heapq.heappop(running)
            idle[row] += jobs[job][2]
        while arrived < len(jobs) and jobs[arrived][0] == now:
            queues.setdefault(jobs[arrived][2], deque()).append(arrived)
            arrived += 1
        tried = set(queues)
        while tried:
            size = min(tried, key=lambda size: queues[size][0])
            row = next((row for row in range(most) if present[row] and idle[row] >= size), -1)
            if row < 0:
                row = next((row for row in range(most) if not present[row]), -1)
            if row < 0:
                tried.remove(size)
                continue
            job = queues[size].popleft()
            present[row] = True
            idle[row] -= size
            started[job] = now
            heapq.heappush(running, (now + jobs[job][1], job, row))
            if not queues[size]:
                del queues[size]
                tried.remove(size)
        for row in range(most):
            present[row] = idle[row] < cores
    return started

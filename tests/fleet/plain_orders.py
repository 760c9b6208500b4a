"""Jobs under standing orders, in plain Python; reading input takes no time."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from windlass.order.fleet import FleetView


class PlainOrders:
    """A simulation of a case under an ordering policy; its results have the attribute names of a run."""

    def __init__(self, case, policy, *, by_seconds=False):
        self.case, self.jobs, self.policy, self.by_seconds = case, case.jobs, policy, by_seconds
        jobs = case.jobs
        self.slots, self.free = case.fleet.slots.tolist(), case.fleet.slots.tolist()
        self.n = len(self.slots)
        self.stages = []
        for k in range(len(jobs.tasks)):
            parts = range(int(jobs.part0[k]), int(jobs.part0[k + 1]))
            own = {int(jobs.site[p]): list(range(jobs.task0[p], jobs.task0[p + 1])) for p in parts}
            # Tasks of a part are bound to its site; otherwise the tasks of the stage start in order.
            pool = [task for part in own.values() for task in part]
            left = [len(own.get(x, ())) for x in range(self.n)]
            self.stages.append(SimpleNamespace(job=int(jobs.job[k]), own=own, pool=pool, left=left, done=0))
        self.begun, self.computed = np.full((2, len(jobs.duration)), np.nan)
        self.site, self.end = np.zeros(len(jobs.duration), int), np.full(len(jobs), np.nan)
        self.seconds = [[] for _ in jobs.submit]
        self.running, self.pushed, self.arrived, self.changed = [], 0, 0, 0
        self.decisions = self.jobs_reported = self.subjobs_reported = 0
        self.lines, self.views = [], []

    def run(self):
        jobs, changes = self.jobs, self.case.timetable
        while np.isnan(self.end).any():
            times = [min(self.running)[0]] if self.running else []
            times += [jobs.submit[self.arrived]] if self.arrived < len(jobs) else []
            times += [changes.time[self.changed]] if self.changed < len(changes) else []
            now, moved = float(min(times)), False
            while self.changed < len(changes) and changes.time[self.changed] <= now:
                x, slots = int(changes.site[self.changed]), int(changes.slots[self.changed])
                self.free[x] += slots - self.slots[x]
                self.slots[x] = slots
                self.changed, moved = self.changed + 1, True
            for end in sorted(end for end in self.running if end[0] <= now):
                self.running.remove(end)
                moved |= self.finish(now, *end[2:])
            while self.arrived < len(jobs) and jobs.submit[self.arrived] <= now:
                self.arrived, moved = self.arrived + 1, True
            if moved:
                self.call_policy(now)
            self.serve(now)
        return self

    def finish(self, now, stage, task):
        """Finish a task; return whether its job departs."""
        self.free[self.site[task]] += 1
        self.computed[task] = now
        stage.done += 1
        self.seconds[stage.job].append(float(self.jobs.duration[task]))
        mine = [other for other in self.stages if other.job == stage.job]
        departs = sum(other.done for other in mine) == int(self.jobs.job_tasks[stage.job])
        if departs:
            self.end[stage.job] = now
        return departs

    def expected(self, job):
        """Return the expected time of a task of the job, s; 1 if tasks are counted."""
        if not self.by_seconds:
            return 1.0
        everywhere = [each for of in self.seconds for each in of]
        known = self.seconds[job] or everywhere or [1.0]
        return sum(known) / len(known) * float(self.jobs.error[job])

    def call_policy(self, now):
        waiting = [stage for stage in self.stages if stage.job < self.arrived and sum(stage.left)]
        names = sorted({stage.job for stage in waiting})
        if not names:
            return
        left = [
            np.sum([s.left for s in waiting if s.job == job], axis=0) * self.expected(job) for job in names
        ]
        busy = [slots - free for slots, free in zip(self.slots, self.free, strict=True)]
        view = FleetView(
            now,
            np.array(left, float),
            np.maximum(self.slots, 1).astype(float),
            np.array(busy, float),
            np.array(names),
        )
        order = np.atleast_2d(self.policy.decide(view).order).tolist()
        self.views.append(view)
        self.decisions += 1
        self.jobs_reported += len(names)
        self.subjobs_reported += sum(count > 0 for stage in waiting for count in stage.left)
        self.lines = [
            [stage for place in line for stage in waiting if stage.job == names[place]] for line in order
        ]

    def serve(self, now):
        for x in range(self.n):
            for stage in self.lines[x % len(self.lines)] if self.lines else ():
                while self.free[x] > 0 and stage.left[x] > 0:
                    task = stage.own[x].pop(0) if self.jobs.homes else stage.pool.pop(0)
                    stage.left[x] -= 1
                    self.free[x] -= 1
                    self.begun[task], self.site[task] = now, x
                    self.pushed += 1
                    self.running.append((now + float(self.jobs.duration[task]), self.pushed, stage, task))

"""Jobs over a fleet under placements, in plain Python: the oracle for the compiled world.

Flows are fluid and share links max-min fairly at every instant. The package provides only the columns of a
case, and views and answers of policies.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from windlass.place.view import PlaceView, Ready, Sites


def fair(flows, up, down, pair):
    """(k,) bytes/s of one task of each flow (source, site, tasks): the fullest link fixes its flows, in turn."""
    rates, open_flows = [0.0] * len(flows), set(range(len(flows)))
    links = [(up[x], {i for i, f in enumerate(flows) if f.source == x}) for x in range(len(up))]
    links += [(down[y], {i for i, f in enumerate(flows) if f.site == y}) for y in range(len(up))]
    links += [
        (pair[x][y], {i for i, f in enumerate(flows) if (f.source, f.site) == (x, y)})
        for x in range(len(up))
        for y in range(len(up))
    ]
    while open_flows:
        least, settled = math.inf, set()
        for capacity, members in links:
            mine = members & open_flows
            if mine:
                left = capacity - sum(rates[i] * flows[i].batch.tasks for i in members - open_flows)
                share = max(left, 0.0) / sum(flows[i].batch.tasks for i in mine)
                if share < least:
                    least, settled = share, mine
        for i in settled:
            rates[i] = least
        open_flows -= settled
    return rates


class PlainFleet:
    """A simulation of a case under a policy; its results have the attribute names of a run."""

    def __init__(self, case, policy, *, decide_every=0.0, finished=False):
        self.case, self.jobs, self.policy = case, case.jobs, policy
        self.every, self.finished = decide_every, finished
        jobs, fleet = case.jobs, case.fleet
        self.n, self.linked = len(fleet), fleet.linked
        self.slots, self.free = fleet.slots.tolist(), fleet.slots.tolist()
        self.up, self.down = fleet.up.tolist(), fleet.down.tolist()
        self.pair = fleet.pair.tolist()
        sizes = jobs.size.tolist() or [1.0] * len(jobs.duration)
        self.size = sizes
        here = jobs.here(self.n).tolist()
        self.stages = [
            SimpleNamespace(
                number=k,
                job=int(jobs.job[k]),
                tasks=int(jobs.tasks[k]),
                shuffles=bool(jobs.shuffles[k]),
                order=list(range(int(jobs.first[k]), int(jobs.first[k + 1]))),
                children=jobs.children[jobs.child_at[k] : jobs.child_at[k + 1]].tolist(),
                parents=int(jobs.parents[k]),
                here=here[k],
                data=[0.0] * self.n,
                started=[0] * self.n,
                running=[0] * self.n,
                plan=[-1] * self.n,
                waiting=0,
                begun=0,
                done=0,
                seconds=0.0,
                since=0.0,
                ready=False,
            )
            for k in range(len(jobs.tasks))
        ]
        tasks = len(jobs.duration)
        self.site, self.source = np.zeros(tasks, int), np.zeros(tasks, int)
        self.begun, self.read, self.computed = np.full((3, tasks), np.nan)
        self.end, self.sent = np.full(len(jobs), np.nan), np.zeros(len(jobs))
        self.carried = np.zeros((self.n, self.n))
        self.flows, self.log, self.computing, self.pushed = [], [], [], 0
        self.reasons, self.decisions = {}, 0
        self.arrived = self.changed = self.ended = 0
        self.now = self.polled = self.decided = -math.inf
        self.wake, self.wanted, self.stale = math.inf, False, False
        self.resources = self.moved = False

    # What happens

    def run(self):
        while self.ended < len(self.jobs):
            next_instant = self.next_instant()
            if self.wanted:
                due = max(self.decided + self.every, self.now)
                if due <= next_instant:
                    self.now = due
                    self.call_policy()
                    continue
                next_instant = min(next_instant, due)
            assert next_instant < math.inf, "nothing will ever happen again"
            self.now = max(next_instant, self.now)
            self.handle_instant()
        return self

    def next_instant(self):
        jobs, changes = self.jobs, self.case.timetable
        times = [self.wake, self.now if self.stale else math.inf]
        times += [jobs.submit[self.arrived]] if self.arrived < len(jobs) else []
        times += [changes.time[self.changed]] if self.changed < len(changes) else []
        times += [min(self.computing)[0]] if self.computing else []
        times += [self.polled + f.left / f.rate for f in self.flows if f.rate > 0.0]
        return min(times)

    def handle_instant(self):
        now, changes = self.now, self.case.timetable
        if self.wake <= now:
            self.wake, self.wanted = math.inf, True
        while self.changed < len(changes) and changes.time[self.changed] <= now:
            row, x = self.changed, int(changes.site[self.changed])
            self.free[x] += int(changes.slots[row]) - self.slots[x]
            self.slots[x] = int(changes.slots[row])
            if self.linked:
                self.up[x], self.down[x] = float(changes.up[row]), float(changes.down[row])
            self.changed += 1
            self.wanted = self.resources = self.moved = True
            self.stale |= bool(self.flows)
        while self.computing and min(self.computing)[0] <= now:
            end = min(self.computing)
            self.computing.remove(end)
            self.finish(end[2])
        if self.stale or any(self.polled + f.left / f.rate <= now for f in self.flows if f.rate > 0.0):
            self.poll()
        while self.arrived < len(self.jobs) and self.jobs.submit[self.arrived] <= now:
            for stage in self.stages:
                if stage.job == self.arrived and not stage.shuffles:
                    self.make_ready(stage)
            self.arrived += 1

    def make_ready(self, stage):
        stage.ready, stage.waiting, stage.since = True, stage.tasks, self.now
        self.wanted = self.moved = True

    def finish(self, task):
        stage, x = next(s for s in self.stages if task in s.order), int(self.site[task])
        self.free[x] += 1
        self.computed[task] = self.now
        stage.done += 1
        stage.running[x] -= 1
        stage.seconds += float(self.jobs.duration[task])
        self.wanted = True
        read = self.jobs.task_bytes[stage.number]
        if stage.shuffles:
            read = sum(stage.data) * self.size[task] / stage.tasks
        for child in (self.stages[k] for k in stage.children):
            child.data[x] += read * self.jobs.ratio[stage.number]
            child.parents -= stage.done == stage.tasks
            if stage.done == stage.tasks and child.parents == 0:
                self.make_ready(child)
        mine = [other for other in self.stages if other.job == stage.job]
        if stage.done == stage.tasks and all(other.done == other.tasks for other in mine):
            self.end[stage.job] = self.now
            self.ended += 1
            self.moved = True

    def poll(self):
        """Account for the bytes sent since the last poll, and share the links again."""
        for flow in self.flows:
            flow.left -= flow.rate * (self.now - self.polled) if flow.rate else 0.0
        self.polled, self.stale = self.now, False
        for flow in sorted(self.flows, key=lambda f: (f.source, f.site)):
            if flow.left <= 1e-9 * (flow.each + 1.0):
                self.flows.remove(flow)
                stage = flow.batch.stage.number
                self.log.append((flow.began, self.now, flow.bytes, flow.source, flow.site, stage))
                flow.batch.flows -= 1
                if not flow.batch.flows:
                    self.arrive(flow.batch)
        for flow, rate in zip(self.flows, fair(self.flows, self.up, self.down, self.pair), strict=True):
            flow.rate = rate

    def read_from(self, stage, tasks, x):
        """Return the bytes that these tasks read at a site."""
        return stage.data[x] * sum(self.size[task] for task in tasks) / stage.tasks

    def fetch(self, stage, tasks, source, site, moves):
        """Start reading for tasks, or for input that moves to the site."""
        batch = SimpleNamespace(stage=stage, site=site, tasks=len(tasks), of=tasks, moves=moves, flows=0)
        for x in range(self.n) if self.linked else ():
            if x == site or (source >= 0 and x != source):
                continue
            amount = self.read_from(stage, tasks, x)
            if not stage.shuffles:
                amount = len(tasks) * self.jobs.task_bytes[stage.number]
            if amount > 0.0:
                each = amount / len(tasks)
                self.flows.append(
                    SimpleNamespace(
                        batch=batch,
                        source=x,
                        site=site,
                        bytes=amount,
                        each=each,
                        left=each,
                        rate=0.0,
                        began=self.now,
                    )
                )
                batch.flows += 1
                self.sent[stage.job] += amount
                self.carried[x, site] += amount
                self.stale = True
        if not batch.flows:
            self.arrive(batch)

    def arrive(self, batch):
        """Handle a batch whose input has arrived."""
        if batch.moves:
            batch.stage.here[batch.site] += batch.tasks
            batch.stage.waiting += batch.tasks
            self.wanted = True
            return
        for task in batch.of:
            self.read[task] = self.now
            self.pushed += 1
            self.computing.append((self.now + float(self.jobs.duration[task]), self.pushed, task))

    # What is decided

    def call_policy(self):
        self.wanted, self.decided, self.wake = False, self.now, math.inf
        rows = [stage for stage in self.stages if stage.ready and stage.waiting > 0]
        if not rows:
            self.resources = False
            return
        answer = self.policy.decide(self.view(rows))
        self.resources = self.moved = False
        self.wake = answer.wake
        self.decisions += 1
        if answer.plan is not None:
            for stage, plan in zip(rows, answer.plan.tolist(), strict=True):
                stage.plan = plan
        for row, source, site, tasks in answer.moves.tolist():
            stage = rows[row]
            stage.waiting -= tasks
            stage.here[source] -= tasks
            self.fetch(stage, [0] * tasks, source, site, moves=True)
        for (row, source, site, tasks), why in zip(answer.starts.tolist(), answer.why.tolist(), strict=True):
            stage = rows[row]
            if stage.begun == 0:
                stage.order.sort()
                if answer.largest_first:
                    stage.order.sort(key=lambda task: -self.size[task])
            which = stage.order[stage.begun : stage.begun + tasks]
            stage.begun += tasks
            stage.waiting -= tasks
            if not stage.shuffles:
                stage.here[source] -= tasks
            self.free[site] -= tasks
            stage.started[site] += tasks
            stage.running[site] += tasks
            stage.since = self.now
            for task in which:
                self.site[task], self.source[task], self.begun[task] = site, source, self.now
            self.reasons[answer.reasons[why]] = self.reasons.get(answer.reasons[why], 0) + tasks
            self.fetch(stage, which, source, site, moves=False)

    def estimated_seconds(self):
        """Return the estimated compute time of a task of each stage, s."""
        if not self.finished:
            return self.jobs.estimate_s.tolist()
        found = []
        for stage in self.stages:
            own = [other for other in self.stages if other.job == stage.job]
            means = [
                sum(s.seconds for s in of) / sum(s.done for s in of)
                for of in ([stage], own, self.stages)
                if sum(s.done for s in of)
            ]
            found.append(means[0] if means else 1.0)
        return found

    def view(self, rows):
        task_s, task_bytes, n = self.estimated_seconds(), self.jobs.task_bytes, self.n
        here = [[0] * n if s.shuffles else s.here for s in rows]
        data = [
            [each * s.waiting / s.tasks for each in s.data]
            if s.shuffles
            else [count * task_bytes[s.number] for count in s.here]
            for s in rows
        ]
        left = [sum(o.done < o.tasks for o in self.stages if o.job == s.job) for s in rows]
        after = [sum(self.stages[k].tasks * task_s[k] for k in s.children) for s in rows]
        fresh = [
            s.begun == 0 and sum(h) == s.tasks and self.sent[s.job] == 0
            for s, h in zip(rows, here, strict=True)
        ]
        links = np.full((4, n), np.inf)
        if self.linked:
            used = np.zeros((n, n))
            for flow in self.flows:
                used[flow.source, flow.site] += flow.rate * flow.batch.tasks
            links = np.array([self.up, self.down, self.up - used.sum(axis=1), self.down - used.sum(axis=0)])
        ready = Ready(
            *(np.array(column) for column in (
                [s.job for s in rows],
                left,
                [int(s.shuffles) for s in rows],
                [s.tasks for s in rows],
                [s.waiting for s in rows],
                [task_s[s.number] for s in rows],
                after,
                [self.jobs.ratio[s.number] for s in rows],
                [s.since for s in rows],
                here,
                data,
                [s.started for s in rows],
                [s.running for s in rows],
                [s.plan for s in rows],
            ))
        )  # fmt: skip
        sites = Sites(np.array(self.slots), np.array(self.free), *np.maximum(links, 0.0))
        return PlaceView(self.now, sites, ready, np.array(fresh, np.int64), self.resources, self.moved)

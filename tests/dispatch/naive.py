"""A plain version of the dispatch world: the oracle for the compiled one.

It calls policies through their public methods, as a live engine would. Several schedulers have a policy each; what
they see of queues, and hear of the others' tasks, may be late.
"""

from __future__ import annotations

import bisect
from collections import deque
from typing import Any

import numpy as np

from windlass.model.timetable import FAIL, RETURN, SET_SPEED, TAKE_SAMPLE, WorkerTimetable

INF = float("inf")
PASSED = -1


class Worker:
    def __init__(self, speed: float) -> None:
        self.speed, self.down = speed, False
        self.queue: deque[Any] = deque()
        self.low: deque[tuple[float, int]] = deque()
        self.running: Any = None
        self.left = self.since = self.started = 0.0
        self.end = INF


class Naive:
    """Run tasks to their end; ``events`` lists (time, what, worker, task) of starts and ends of real tasks."""

    def __init__(
        self,
        policies: Any,
        speeds: Any,
        submit: Any,
        work: Any,
        timetable: WorkerTimetable | None = None,
        per_job: int = 1,
        sender: Any = None,
        delay: float = 0.0,
        sizes_known: bool = True,
        lane: int = 8,
        fetch: float = 0.0,
        count_sent: bool = False,
        wait: float = 0.0,
    ) -> None:
        self.policies = policies if isinstance(policies, list) else [policies]
        self.submit, self.work, self.delay = submit, work, delay
        # How long tasks wait for probes before they are dispatched.
        self.wait = wait
        self.sender = np.zeros(len(submit), int) if sender is None else sender
        self.workers = [Worker(speed) for speed in speeds]
        planned = timetable or WorkerTimetable.none()
        self.changes = list(zip(planned.time, planned.kind, planned.worker, planned.value, strict=True))
        self.longest, self.waiting, self.estimates = [], [], []
        # Tasks without a worker: of each scheduler, and as the others know it.
        self.unbound, self.known_unbound = [0 for _ in self.policies], [0 for _ in self.policies]
        self.copies = getattr(self.policies[0], "copies", 0)
        # Whether tasks wait with their schedulers; those that do, and when those requested ahead arrive.
        self.central = self.copies < 0
        self.waiting_tasks: list[int] = []
        self.arrives: dict[int, float] = {}
        # What schedulers will see: (when, what is then done).
        self.coming: deque[Any] = deque()
        self.noted, self.seen = self.lengths(), self.lengths()
        # What each scheduler sent within the delay, if they count it.
        self.count_sent = count_sent
        self.sent = np.zeros((len(self.policies), len(self.workers)), int)
        self.per_job, self.next_task = per_job, {}
        self.held: deque[Any] = deque()
        self.response = np.full(len(submit), np.nan)
        self.events: list[tuple[float, str, int, int]] = []
        self.benchmarks = self.arrived = self.done = self.ended = 0
        self.dropped = self.moved = self.longest_queue = 0
        self.refused: list[int] = []
        self.start = np.full(len(submit), np.nan)
        self.sizes_known, self.lane, self.fetch = sizes_known, lane, fetch

    def lengths(self) -> np.ndarray:
        return np.array([len(w.queue) + (w.running is not None) for w in self.workers])

    def note(self, now: float) -> None:
        """Let schedulers see lengths that have changed, once the delay has passed."""
        if not self.delay:
            return
        lengths = self.lengths()
        for worker in np.flatnonzero(lengths != self.noted):
            self.coming.append((now + self.delay, self.see, (worker, lengths[worker])))
        self.noted = lengths

    def see(self, worker: int, length: int) -> None:
        self.seen[worker] = length

    def forget_sent(self, scheduler: int, worker: int) -> None:
        self.sent[scheduler, worker] -= 1

    def count_unbound(self, scheduler: int, change: int, now: float) -> None:
        self.unbound[scheduler] += change
        if self.delay:
            what = scheduler, self.unbound[scheduler]
            self.coming.append((now + self.delay, self.reveal_unbound, what))
        else:
            self.reveal_unbound(scheduler, self.unbound[scheduler])

    def reveal_unbound(self, scheduler: int, number: int) -> None:
        self.known_unbound[scheduler] = number

    def tell_others(self, sender: int, index: int, work: float, seconds: float) -> None:
        for scheduler, policy in enumerate(self.policies):
            if scheduler != sender:
                policy.reported(index, work, seconds)

    def begin(self, index: int, item: Any, amount: float, now: float) -> None:
        worker = self.workers[index]
        worker.running, worker.left, worker.since, worker.started = item, amount, now, now
        worker.end = now + amount / worker.speed if worker.speed else INF

    def start_task(self, index: int, item: Any, now: float) -> None:
        task = item[1]
        self.events.append((now, "start", index, task))
        self.start[task] = now
        self.begin(index, item, self.work[task], now)

    def begin_real(self, index: int, item: Any, now: float) -> bool:
        """A bound item is ["task", i]; a reservation ["job", j] fetches the job's next task."""
        if item[0] == "job":
            job = item[1]
            task = self.next_task.get(job, job * self.per_job)
            if task == (job + 1) * self.per_job:
                return False
            self.next_task[job] = task + 1
            item[:] = ["task", task]
            now += self.fetch
        self.start_task(index, item, now)
        return True

    def offer_again(self, now: float) -> None:
        idle = any(worker.running is None and not worker.down for worker in self.workers)
        if self.waiting_tasks and idle:
            self.offer(self.sender[self.waiting_tasks[0]], now)

    def offer(self, sender: int, now: float) -> None:
        """Offer tasks that wait with their schedulers to all workers, as a scheduler orders them."""
        for index in self.policies[sender].offers():
            worker = self.workers[index]
            if worker.running is None and not worker.down and self.waiting_tasks:
                self.begin_central(index, now, 0.0)
            if worker.running is not None:
                self.take_ahead(index, 0.0, now)

    def take(self, index: int, held: int, now: float) -> int | None:
        if not self.waiting_tasks:
            return None
        sender = self.sender[self.waiting_tasks[0]]
        others = sum(self.known_unbound) - self.known_unbound[sender]
        place = self.policies[sender].takes(
            index, now, self.unbound[sender], others, held=held, fetch=self.fetch
        )
        if not place:
            return None
        task = self.waiting_tasks.pop(min(place, len(self.waiting_tasks)) - 1)
        self.count_unbound(self.sender[task], -1, now)
        return task

    def begin_central(self, index: int, now: float, fetch: float) -> None:
        worker = self.workers[index]
        worker.running, worker.end = None, INF
        if worker.queue:
            item = worker.queue.popleft()
            self.start_task(index, item, max(now, self.arrives[item[1]]))
        elif (task := self.take(index, 0, now)) is not None:
            self.start_task(index, ["task", task], now + fetch)
        self.longest_queue = max(self.longest_queue, self.lengths()[index])

    def take_ahead(self, index: int, fetch: float, now: float) -> None:
        worker = self.workers[index]
        while self.fetch:
            task = self.take(index, self.lengths()[index], now)
            if task is None:
                return
            worker.queue.append(["task", task])
            self.arrives[task] = now + fetch
            self.longest_queue = max(self.longest_queue, self.lengths()[index])

    def begin_next(self, index: int, now: float) -> None:
        worker = self.workers[index]
        worker.running, worker.end = None, INF
        if self.central:
            self.begin_central(index, now, self.fetch)
            if worker.running is not None:
                self.take_ahead(index, self.fetch, now)
        while worker.running is None and worker.queue:
            self.begin_real(index, worker.queue.popleft(), now)
        if worker.running is None and worker.low:
            size, sender = worker.low.popleft()
            self.begin(index, ["low", size, sender], size, now)

    def rejected_by_all(self) -> bool:
        """Return whether a task that would be sent now is refused; see ``plain_admission``."""
        return False

    def refuse(self, task: int) -> None:
        self.done += 1
        self.start[task] = np.nan
        self.refused.append(task)

    def dispatch(self, now: float) -> None:
        while self.held and not all(worker.down for worker in self.workers):
            item = self.held.popleft()
            task = item[1] * self.per_job if item[0] == "job" else item[1]
            sender = self.sender[task]
            policy = self.policies[sender]
            if self.central:
                bisect.insort(self.waiting_tasks, task)
                self.count_unbound(sender, 1, now)
                self.offer(sender, now)
                continue
            if self.rejected_by_all():
                self.refuse(task)
                continue
            index = policy.choose(self.seen + self.sent[sender] if self.delay else self.lengths())
            worker = self.workers[index]
            assert not worker.down
            if worker.running is None:
                worker.queue.append(item)
                self.begin_next(index, now)
            else:
                worker.queue.append(item)
            if item is worker.running or any(item is other for other in worker.queue):
                self.longest_queue = max(self.longest_queue, self.lengths()[index])
                if self.delay and self.count_sent:
                    self.sent[sender, index] += 1
                    self.coming.append((now + self.delay, self.forget_sent, (sender, index)))
            self.note(now)

    def complete(self, index: int, now: float) -> None:
        worker = self.workers[index]
        kind, what, *of = worker.running
        seconds = now - worker.started
        self.begin_next(index, now)
        sender = of[0] if kind == "low" else self.sender[what]
        if kind == "low":
            self.benchmarks += 1
            reported = what if self.sizes_known else 1.0
            self.policies[sender].benchmarked(index, reported, seconds)
        else:
            self.done += 1
            assert np.isnan(self.response[what])
            self.response[what] = now - self.submit[what]
            self.events.append((now, "end", index, what))
            self.ended = what
            reported = self.work[what] if self.sizes_known else 1.0
            self.policies[sender].completed(index, reported, seconds)
        if self.delay:
            self.coming.append((now + self.delay, self.tell_others, (sender, index, reported, seconds)))
        else:
            self.tell_others(sender, index, reported, seconds)
        self.offer_again(now)

    def change(self, now: float) -> None:
        _, kind, index, value = self.changes.pop(0)
        worker = self.workers[index]
        if kind == SET_SPEED:
            if worker.running is not None:
                begun = max(now, worker.since)
                worker.left = max(0.0, worker.left - (begun - worker.since) * worker.speed)
                worker.since = begun
                worker.end = begun if not worker.left else begun + worker.left / value if value else INF
            worker.speed = value
            for policy in self.policies:
                if getattr(policy, "follows", False):
                    policy.set_rate(int(index), value)
        elif kind == FAIL and not worker.down:
            worker.down = True
            in_hand = [] if worker.running is None else [worker.running]
            lost = [item for item in in_hand if item[0] != "low"]
            self.held.extend(lost + list(worker.queue))
            self.moved += len(lost) + len(worker.queue)
            self.dropped += len(in_hand) - len(lost) + len(worker.low)
            worker.queue.clear()
            worker.low.clear()
            worker.running, worker.end = None, INF
            for policy in self.policies:
                policy.left(int(index))
            self.offer_again(now)
        elif kind == TAKE_SAMPLE:
            lengths, rates = self.lengths(), getattr(self.policies[0], "rates", None)
            self.longest.append(lengths.max())
            self.waiting.append(lengths.sum() + len(self.waiting_tasks))
            self.estimates.append(np.array([] if rates is None else rates, float))
        elif kind == RETURN and worker.down:
            worker.down = False
            for policy in self.policies:
                policy.joined(int(index))
            self.offer_again(now)

    def run(self) -> np.ndarray:
        while self.done < len(self.submit):
            ends = [worker.end for worker in self.workers]
            index = int(np.argmin(ends))
            change = self.changes[0][0] if self.changes else INF
            seen = self.coming[0][0] if self.coming else INF
            due = min(policy.benchmark_at for policy in self.policies)
            arrival = self.submit[self.arrived] + self.wait if self.arrived < len(self.submit) else INF
            now = min(ends[index], change, seen, due, arrival)
            if ends[index] == now:
                self.complete(index, now)
            elif change == now:
                self.change(now)
            elif seen == now:
                _, what, of = self.coming.popleft()
                what(*of)
            elif due == now:
                for scheduler, policy in enumerate(self.policies):
                    sent = policy.benchmark(now)
                    if sent is not None:
                        self.benchmark(sent[0], sent[1], now, scheduler)
            else:
                task = self.arrived
                self.arrived += 1
                self.policies[self.sender[task]].arrived(now)
                items = [["job", task // self.per_job] for _ in range(self.copies)] or [["task", task]]
                if self.copies != 0 and self.rejected_by_all():
                    self.refuse(task)
                else:
                    self.held.extend(items)
            self.note(now)
            self.dispatch(now)
        return self.response

    def check(self, done: Any) -> None:
        """Check that the compiled results of the same tasks equal these."""
        looks = np.linspace(0.0, self.submit[-1] + self.wait, len(done.sample_time) + 1)[1:]
        # Samples are taken once all has changed that does at their instant.
        self.changes += [(look, TAKE_SAMPLE, 0, 0.0) for look in looks]
        self.changes.sort(key=lambda change: change[0])
        response = self.run()
        np.testing.assert_allclose(done.response, response, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(done.start, self.start, rtol=1e-9, atol=1e-9)
        where = {task: worker for _, what, worker, task in self.events if what == "end"}
        assert done.worker.tolist() == [where.get(task, -1) for task in range(len(response))]
        assert np.flatnonzero(done.refused).tolist() == sorted(self.refused)
        assert done.refusals == len(self.refused)
        of_jobs = response.reshape(-1, self.per_job).max(axis=1)
        np.testing.assert_allclose(done.job_response, of_jobs, rtol=1e-9, atol=1e-9)
        counts = self.benchmarks, self.dropped, self.moved, self.longest_queue
        assert (done.benchmarks, done.dropped, done.moved, done.longest_queue) == counts
        assert done.sample_time.tolist() == looks.tolist()
        assert done.longest.tolist() == self.longest
        assert done.waiting.tolist() == self.waiting
        if done.estimates.shape[1]:
            np.testing.assert_allclose(done.estimates, self.estimates, rtol=1e-9)
        assert (done.submit == self.submit).all()

    def benchmark(self, index: int, size: float, now: float, sender: int) -> None:
        worker = self.workers[index]
        if not self.sizes_known:
            # Sizes are unknown, so the task that ended last is run again.
            size = self.work[self.ended]
        if size <= 0:
            return
        if worker.down or len(worker.low) >= self.lane:
            self.dropped += 1
            return
        if worker.running is None:
            self.begin(index, ["low", size, sender], size, now)
        else:
            worker.low.append((size, sender))

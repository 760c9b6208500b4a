"""Nodes that reject tasks under late binding: a plain version for :mod:`naive`, and a simulation with given answers.

Answers are a list of (time, (n,) whether each node rejects), in order of time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from naive import Naive
from plain_pull import PlainPull
from plain_sparrow import PlainSparrow

from windlass.drive import drive
from windlass.experiment.dispatching import LANE
from windlass.experiment.workloads.tasks import draw_tasks
from windlass.model.timetable import WorkerTimetable
from windlass.sim.coupled import Coupled
from windlass.sim.part import Quiet
from windlass.sim.telemetry.answers import Counts, limits_of, set_answers
from windlass.sim.telemetry.binding import Binding
from windlass.sim.telemetry.gate import gate
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.setup import Setup

#: A kind of change in addition to those of a timetable.
ANSWERS = -1


class Answering(Quiet):
    """A part that lets nodes answer at given times."""

    def __init__(self, workers: WorkersPart, answers: list[tuple[float, Any]]) -> None:
        self.workers, self.binding, self.answers = workers, Binding(workers), list(answers)

    def horizon(self) -> float:
        return self.answers[0][0] if self.answers else np.inf

    def decide(self, now: float) -> tuple[()]:
        if self.answers and now >= self.answers[0][0]:
            self.binding.answer(limits_of(np.array(self.answers.pop(0)[1], bool)), now)
        return ()

    def ended(self) -> bool:
        return self.workers.ended()

    def result(self) -> Counts:
        return self.binding.counts()


def run_gated(
    policy: Any,
    speeds: Any,
    submit: Any,
    work: Any,
    answers: list[tuple[float, Any]] | None,
    *,
    timetable: WorkerTimetable | None = None,
    schedulers: int = 1,
    delay: float = 0.0,
    per_job: int = 1,
    seed: int = 0,
    samples: int = 0,
    sizes_known: bool = False,
    full: Any = "force",
) -> tuple[Any, Counts | None]:
    """Return the simulated tasks, and tasks by answer; without a gate if ``answers`` is None."""
    setup = Setup(
        speeds=np.array(speeds, float),
        timetable=timetable or WorkerTimetable.none(),
        schedulers=schedulers,
        probe_delay=delay,
        sizes_known=sizes_known,
        lane=LANE,
        samples=samples,
        record=True,
        tasks_per_job=per_job,
    )
    capacity = float(np.sum(speeds))
    drawn = draw_tasks(len(work), None, submit, work, tasks_per_job=per_job, capacity=capacity, seed=seed)
    used = policy if answers is None else gate(policy, full)
    part = WorkersPart(setup, used, drawn.submit, drawn.work, np.random.default_rng(drawn.schedulers))
    if answers is None:
        return drive(Coupled([part]), {"dispatch": used})[0], None
    counts, done = drive(Coupled([Answering(part, answers), part]), {"dispatch": used})
    return done, counts


class Gate:
    """A scheduler for which nodes that reject have left, unless all nodes that are up reject."""

    def start(self) -> Any:
        self.rejects, self.down = [False] * len(self.here), set()
        return self

    def left(self, worker: int) -> None:
        super().left(worker)
        self.down.add(worker)
        self.update()

    def joined(self, worker: int) -> None:
        super().joined(worker)
        self.down.discard(worker)
        self.update()

    def update(self) -> bool:
        up = [worker for worker in range(len(self.rejects)) if worker not in self.down]
        taking = [worker for worker in up if not self.rejects[worker]] or up
        before = list(self.here)
        for worker in range(len(self.rejects)):
            if worker in self.here and worker not in taking:
                self.here[self.here.index(worker)] = self.here[-1]
                self.here.pop()
            elif worker in taking and worker not in self.here:
                self.here.append(worker)
        if before != self.here:
            self.order = None
        return before != self.here

    def takes(self, worker: int, *numbers: Any, **more: Any) -> int:
        return super().takes(worker, *numbers, **more) if worker in self.here else 0


class GatedPull(Gate, PlainPull):
    pass


class GatedSparrow(Gate, PlainSparrow):
    pass


class GatedNaive(Naive):
    """The plain engine, with answers of the nodes; ``accepted`` and ``forced`` count starts."""

    def let_answer(self, answers: list[tuple[float, Any]], full: str = "force") -> GatedNaive:
        self.full = full
        self.changes += [(time, ANSWERS, 0, rejects) for time, rejects in answers]
        # Answers come before other changes of an instant.
        self.changes.sort(key=lambda change: (change[0], change[1] != ANSWERS))
        self.rejects = [False] * len(self.workers)
        self.accepted = self.forced = 0
        self.counted: set[int] = set()
        return self

    def rejected_by_all(self) -> bool:
        up = [rejects for rejects, worker in zip(self.rejects, self.workers, strict=True) if not worker.down]
        return self.full == "refuse" and bool(up) and all(up)

    def start_task(self, index: int, item: Any, now: float) -> None:
        super().start_task(index, item, now)
        if item[1] not in self.counted:
            self.counted.add(item[1])
            self.forced += self.rejects[index]
            self.accepted += not self.rejects[index]

    def change(self, now: float) -> None:
        if self.changes[0][1] != ANSWERS:
            super().change(now)
            return
        self.rejects = [bool(each) for each in self.changes.pop(0)[3]]
        if self.copies == 0:
            # The policies bind at once, and have a gate of their own.
            for policy in self.policies:
                set_answers(policy.ints[None], limits_of(np.array(self.rejects)))
            return
        for policy in self.policies:
            policy.rejects = self.rejects
        if not any([policy.update() for policy in self.policies]):
            return
        if self.central:
            self.offer_again(now)
            return
        for index, worker in enumerate(self.workers):
            if index not in self.policies[0].here:
                self.held.extend(worker.queue)
                worker.queue.clear()

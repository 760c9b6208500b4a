"""Small random sites with sharing jobs, and a co-scheduler with random valid answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from tests.oracles.plain import Plain
from windlass.drive import drive
from windlass.model import JobTable, PolicyError
from windlass.model.timetable import NodeTimetable
from windlass.model.use import JobUse, UseStage
from windlass.order.site import POLICIES as ORDERS
from windlass.share import POLICIES, Interference, Share, ShareView, Sharing, Speeds
from windlass.sim import Replay
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Part, Quiet
from windlass.sim.shares.part import SharesPart
from windlass.sim.shares.result import Shared
from windlass.sim.site.rated import RatedSite

MODEL = Interference(0.019, 0.161, 0.278)
#: Constructors of every co-scheduler, from a seed.
SHARERS: dict[str, Callable[[int], Any]] = {
    "none": lambda seed: _create("none", seed),
    "static": lambda seed: _create("static", seed),
    "always": lambda seed: _create("always", seed, quota=90),
    "asax, printed": lambda seed: _create("asax", seed),
    "asax, anchored": lambda seed: _create("asax", seed, update="anchored", loss="progress"),
    "asax, exp4-ix": lambda seed: _create("asax", seed, update="exp4-ix", loss="wait"),
    "pairs": lambda seed: _create("pairs", seed, probe=1),
    "oracle": lambda seed: _create("oracle", seed, speeds=MODEL.of_jobs, budget=400.0),
    "nasty": lambda seed: RandomSharer(np.random.default_rng(seed)),
}
ORDER_NAMES = ("fcfs", "easy", "sjf", "conservative", "easy in Python")


def _create(name: str, seed: int, **options: Any) -> Any:
    return POLICIES.make(name, np.random.default_rng(seed), **options)


class RandomSharer:
    """A co-scheduler with random answers that pass the check: new quotas for pairs, and guests."""

    name = "nasty"

    def __init__(self, rng: np.random.Generator, eager: float = 0.8) -> None:
        self._rng, self._eager = rng, eager

    def decide(self, view: ShareView) -> Sharing:
        rng = self._rng
        made: list[Share] = []
        for host in rng.permutation(np.array(view.running, dtype=object)):
            if host.guest is not None:
                if rng.random() < self._eager:
                    made.append(Share(host.job, host.guest.job.job, int(rng.choice(view.actions)), "drawn"))
            elif len(view.waiting) and rng.random() < self._eager:
                for place in rng.permutation(len(view.waiting)):
                    quota = int(rng.choice(view.actions[1:]))
                    more = [*made, Share(host.job, view.waiting[place].job, quota, "drawn")]
                    if allowed(view, more):
                        made = more
                        break
        return Sharing(tuple(made))


def allowed(view: ShareView, shares: Sequence[Share]) -> bool:
    """Return whether an answer passes the check."""
    try:
        Sharing(tuple(shares)).check(view)
    except PolicyError:
        return False
    return True


@dataclass(frozen=True)
class Case:
    """Jobs that use part of their allocation, and their site."""

    jobs: JobTable
    use: JobUse
    processors: int
    every: float
    memory_per_core: float = 0.0
    model: Interference = MODEL
    outages: NodeTimetable = field(default_factory=NodeTimetable.none)

    def physics(self, host: int, guest: int, own: float, other: float, quota: int) -> Speeds:
        """Return the speeds of two jobs that share."""
        return self.model.speeds(own, other, quota)


class Vacates(Quiet):
    """Removes processors of a pooled site at once and restores them, which Outages rejects."""

    def __init__(self, ledger: Ledger, changes: NodeTimetable) -> None:
        ledger.watch(0)
        self._ledger = ledger
        self._left = list(zip(changes.time.tolist(), changes.cores.tolist(), strict=True))

    def horizon(self) -> float:
        return self._left[0][0] if self._left else np.inf

    def alter(self, now: float) -> None:
        while self._left and self._left[0][0] <= now:
            self._ledger.set_capacity(0, self._left.pop(0)[1], vacate=True)


class Done(NamedTuple):
    """The results, and the ledger at the end."""

    replay: Replay
    shared: Shared
    ledger: Ledger


def order_of(name: str) -> Any:
    """Return an ordering policy, compiled or called through Python."""
    return Plain(ORDERS.find("easy")()) if name == "easy in Python" else ORDERS.find(name)()


def run(
    case: Case,
    sharer: Any,
    order: Any = "easy",
    *,
    kill: bool = True,
    seed: int = 0,
    noise: float = 0.05,
    also: Callable[[Ledger], Sequence[Part]] = lambda ledger: (),
    log: Any = None,
    vacate: bool = False,
    cores: int | None = None,
) -> Done:
    """Run a case: outages, then jobs, then sharing; on a pooled site, or on nodes with some cores each."""
    policy = order_of(order) if isinstance(order, str) else order
    ledger = Ledger([[cores or case.processors] * (case.processors // (cores or case.processors))], parts=1)
    site = RatedSite(case.jobs, policy, ledger, kill=kill)
    part = SharesPart(
        site,
        case.jobs,
        case.use,
        sharer,
        case.physics,
        ledger,
        np.random.default_rng(seed),
        memory_per_core=case.memory_per_core,
        every=case.every,
        noise=noise,
    )
    parts: list[Any] = [*also(ledger), site, part]
    if vacate:
        parts.insert(0, Vacates(ledger, case.outages))
    elif len(case.outages):
        parts.insert(0, Outages(case.outages, ledger))
    results = drive(Coupled(parts, ledger), {"order": policy, "share": sharer}, log)
    replay = next(each for each in results if isinstance(each, Replay))
    return Done(replay, next(each for each in results if isinstance(each, Shared)), ledger)


_CLASSES = ("montage", "blast")


@st.composite
def cases(draw: st.DrawFn, *, zero_requests: bool = True, outages: bool = False, most: int = 10) -> Case:
    """Up to ``most`` jobs on 1 to 8 processors, whose stages, requests and memory are at the edges on purpose."""
    unit = draw(st.sampled_from([1.0, 1.0, 0.1, 1 / 3]))
    processors = draw(st.sampled_from([1, 2, 4, 8]))
    count = draw(st.integers(1, most))
    begin = draw(st.sampled_from([0.0, 0.0, 1e8]))
    stages = [draw(_stages(unit)) for _ in range(count)]
    memory = draw(st.lists(st.sampled_from([0.0, 1e9, 4e9, 5e9]), min_size=count, max_size=count))
    classes = draw(st.lists(st.sampled_from(_CLASSES), min_size=count, max_size=count))
    use = JobUse.of(classes, memory, stages)
    widths = st.one_of(st.integers(1, processors), st.just(processors))
    slacks = st.sampled_from([0.0, 0.0, 1.0, 3.0, 20.0, -1.0, -40.0])
    gaps = np.array(draw(st.lists(st.integers(0, 6), min_size=count, max_size=count)))
    slack = np.array(draw(st.lists(slacks, min_size=count, max_size=count)))
    run_time = use.run()
    request = np.maximum(run_time + slack * unit, 0.0 if zero_requests else unit)
    procs = draw(st.lists(widths, min_size=count, max_size=count))
    jobs = JobTable.of(begin + np.cumsum(gaps) * unit, run_time, procs, request, job=500 - np.arange(count))
    changes = NodeTimetable.none()
    for _ in range(draw(st.integers(0, 3)) if outages else 0):
        down, length = draw(st.integers(0, 30)), draw(st.integers(1, 9))
        left = draw(st.integers(0, processors))
        changes += NodeTimetable.outage(
            0, begin + down * unit, begin + (down + length) * unit, cores=processors, left=left
        )
    return Case(
        jobs,
        use,
        processors,
        every=draw(st.sampled_from([1.0, 2.5, 7.0])) * unit,
        memory_per_core=draw(st.sampled_from([0.0, 2e9])),
        model=draw(st.sampled_from([MODEL, Interference(0.0, 0.0, 0.0)])),
        outages=changes,
    )


@st.composite
def _stages(draw: st.DrawFn, unit: float) -> list[UseStage]:
    percents = st.sampled_from([0.0, 5.0, 40.0, 60.0, 100.0])
    return [
        UseStage(
            draw(st.sampled_from([0.0, 1.0, 2.0, 5.0, 12.0, 12.0])) * unit,
            draw(percents),
            draw(percents),
            draw(st.booleans()),
            draw(st.sampled_from([0.0, 1.0, 0.3])),
        )
        for _ in range(draw(st.integers(1, 3)))
    ]


def busy(seed: int, *, jobs: int = 60, processors: int = 16, load: float = 1.5) -> Case:
    """A longer queue than the drawn ones.

    >>> len(busy(0).jobs)
    60
    """
    rng = np.random.default_rng(seed)
    procs = np.minimum(2 ** rng.integers(0, 5, jobs), processors)
    stages = []
    for _ in range(jobs):
        lengths = rng.exponential(200.0, rng.integers(1, 5))
        stages.append(
            [
                UseStage(length, rng.uniform(0, 100), rng.uniform(0, 90), bool(rng.random() < 0.7), 20.0)
                for length in lengths.tolist()
            ]
        )
    memory = procs * rng.choice([1e9, 2e9, 4e9], jobs)
    use = JobUse.of([f"class {each}" for each in rng.integers(0, 4, jobs)], memory, stages)
    run_time = use.run()
    request = run_time * rng.choice([1.0, 1.2, 3.0, 5.0, 0.7], jobs)
    gaps = rng.exponential(run_time.mean() * procs.mean() / processors / load, jobs)
    return Case(
        JobTable.of(np.cumsum(gaps), run_time, procs, request), use, processors, 60.0, memory_per_core=4e9
    )

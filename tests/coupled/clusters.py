"""Small clusters of any kinds of parts on common nodes, and the logs of their runs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tests.coupled.cases import Tasks, workers
from tests.coupled.fleets import fleet_part
from tests.oracles.answers import AnswerLog
from tests.oracles.cluster import (
    BatchLog,
    ClusterLog,
    InstanceLog,
    Snapshot,
    StagedLog,
    StreamLog,
    TaskLog,
)
from tests.sim.instances import RandomScaler
from tests.sim.queries import KINDS as CONFIGURATIONS
from tests.sim.queries import TIERS, RandomPlanner
from tests.sim.sharing import RandomSharer
from windlass.admit import Admission, AdmitSiteView, SiteAdmission
from windlass.admit.site import NO_LIMIT, Reads
from windlass.drive import drive
from windlass.experiment.dispatching import make_policy
from windlass.model import JobTable
from windlass.model.fleet import FleetCase
from windlass.model.instances import InstanceType
from windlass.model.timetable import NodeTimetable
from windlass.model.use import JobUse
from windlass.model.vectors import VectorJobs
from windlass.order.site.policies.easy import Easy
from windlass.plan import QueryOptions
from windlass.share import Interference, Speeds
from windlass.sim.coupled import Coupled
from windlass.sim.fleet.binding import FleetCores
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.instances.part import InstancesPart
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Concerns, Part, Quiet
from windlass.sim.queries.part import QueriesPart
from windlass.sim.queries.setup import Stays, Terms
from windlass.sim.shares.part import SharesPart
from windlass.sim.site.part import SitePart
from windlass.sim.site.rated import RatedSite
from windlass.sim.telemetry.gate import gate
from windlass.sim.telemetry.metrics import Metrics, read_model
from windlass.sim.telemetry.neighbours import CoreChanges, Neighbours
from windlass.sim.telemetry.part import TelemetryPart

#: Numbers of the parts in the ledger. Tasks that keep cores join first, without a number.
TASKS, JOBS, SHARING, VECTORS, STREAMS, OTHERS, STAGED = range(7)
TINY = InstanceType("tiny", cores=2, memory=8, price=1.0, launch=3.0, most=2)
#: The site of each cluster of queries: east, west, private (the nodes), cloud.
AT = (1, 2, 0, 3)
PERIOD, LOOK = 10.0, 2.0


@dataclass(frozen=True)
class Shape:
    """What is on the nodes; None for parts that are absent."""

    nodes: list[int]
    jobs: JobTable | None = None
    sharing: JobTable | None = None
    use: JobUse | None = None
    loss: float = 0.0
    every: float = 2.0
    tasks: Tasks | None = None
    dispatch: str = "jsq"
    #: Share of each node that tasks keep.
    share: float = 0.0
    vectors: VectorJobs | None = None
    fleet: InstanceFleet | None = None
    #: The first decision of the autoscaler.
    begin: float = 0.0
    stays: Stays | None = None
    kinds: tuple[int, ...] = ()
    terms: Terms = field(default_factory=Terms)
    #: Cores that queries keep, and the most that they hold, of the nodes; None for no limit.
    keep: int = 0
    most: int | None = None
    bursts: CoreChanges | None = None
    #: Most cores of neighbours; None for no limit.
    most_bursts: int | None = None
    outages: NodeTimetable = field(default_factory=NodeTimetable.none)
    order: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6)
    #: Jobs of stages over the nodes and the cloud; their policy, as in :mod:`tests.coupled.fleets`.
    staged: FleetCase | None = None
    staged_policy: tuple[str, bool, bool] = ("tetrium", False, True)
    #: Share of the answers with which a node rejects, and whether tasks that no node accepts are refused.
    rejects: float | None = None
    refuses: bool = False
    seed: int = 1
    #: Whether the part of tasks is made before that of queries.
    tasks_first: bool = False
    #: Whether each instant concerns all parts.
    all_called: bool = False

    def physics(self, host: int, guest: int, own: float, other: float, quota: int) -> Speeds:
        """Return the speeds of two jobs that share."""
        return Interference(self.loss, 8 * self.loss, 14 * self.loss).speeds(own, other, quota)


class Observer(Quiet):
    """Takes a snapshot of the ledger after each change of a row; the last part in the list."""

    def __init__(self, ledger: Ledger, *, all_called: bool) -> None:
        self._ledger, self._all = ledger, all_called
        self.snapshots: list[Snapshot] = []
        for site in range(len(ledger.nodes.total)):
            ledger.watch(site)
        self._take(-1.0)

    def _take(self, now: float) -> None:
        nodes = self._ledger.nodes
        held = tuple(tuple(row) for row in nodes.held.tolist())
        self.snapshots.append(Snapshot(now, tuple(nodes.capacity.tolist()), tuple(nodes.idle.tolist()), held))

    def concerns(self) -> Concerns | None:
        return None if self._all else Concerns(sites=tuple(range(len(self._ledger.nodes.total))))

    def settle(self, now: float) -> None:
        self._take(now)


def run(shape: Shape) -> ClusterLog:
    """Run a cluster, and return its log."""
    fleet = shape.fleet
    ledger = Ledger([[*shape.nodes, *(fleet.rows() if fleet else [])], [1], [1], [8]], parts=7)
    limits = {}
    for part, most in ((STREAMS, shape.most), (OTHERS, shape.most_bursts)):
        if most is not None:
            limits[0, part] = most
            ledger.limit(0, part, most)
    rng, groups, policies = np.random.default_rng(shape.seed), dict[int, list[Part]](), dict[str, Any]()
    makers = {TASKS: _make_tasks, STREAMS: _make_queries}
    for part in (TASKS, STREAMS) if shape.tasks_first else (STREAMS, TASKS):
        groups[part] = makers[part](shape, ledger)
    policies["admit"] = admit = RecordedAdmission(shape.rejects or 0.0, shape.seed)
    if shape.rejects is not None and groups[TASKS]:
        groups[TASKS].insert(0, _telemetry(groups[TASKS][0], ledger))
    policies["plan"] = RandomPlanner(np.random.default_rng(shape.seed))
    if shape.jobs is not None:
        groups[JOBS] = [SitePart(shape.jobs, Easy(), ledger, number=JOBS, record=True)]
    if shape.sharing is not None:
        assert shape.use is not None
        policies["share"] = RandomSharer(rng)
        site = RatedSite(shape.sharing, Easy(), ledger, number=SHARING)
        shares = SharesPart(
            site, shape.sharing, shape.use, policies["share"], shape.physics, ledger, rng, every=shape.every
        )
        groups[SHARING] = [site, shares]
    if shape.bursts is not None:
        groups[OTHERS] = [Neighbours(shape.bursts, ledger, number=OTHERS)]
    if shape.staged is not None:
        cores = FleetCores(ledger, (0, 3), STAGED)
        part, more = fleet_part(shape.staged, shape.staged_policy, cores)
        groups[STAGED], policies = [part], policies | more
    if fleet is not None:
        assert shape.vectors is not None
        policies["scale"] = RandomScaler(np.random.default_rng(shape.seed), until=25.0)
        loads: list[Any] = [
            groups[each][-1 if each == TASKS else 0]
            for each in (JOBS, SHARING, TASKS, STAGED, STREAMS)
            if groups.get(each)
        ]
        groups[VECTORS] = [
            InstancesPart(
                shape.vectors,
                fleet,
                ledger,
                rng,
                period=PERIOD,
                look=LOOK,
                begin=shape.begin,
                number_in_ledger=VECTORS,
                after=len(shape.nodes),
                loads=loads,
            )
        ]
    # Instances follow the loads that run on them.
    order = [each for each in shape.order if each != VECTORS] + [VECTORS]
    parts = [part for each in order for part in groups.get(each, [])]
    if len(shape.outages):
        parts.insert(shape.seed % (len(parts) + 1), Outages(shape.outages, ledger))
    observer = Observer(ledger, all_called=shape.all_called)
    done = drive(Coupled([*parts, observer], ledger), policies)
    results = dict(zip(map(id, parts), done, strict=False))
    found = {number: [results[id(part)] for part in group] for number, group in groups.items()}
    left = [type(each).__name__ for each in parts if not each.ended()]
    return _log(shape, ledger, found, observer, limits, left, admit)


def _make_tasks(shape: Shape, ledger: Ledger) -> list[Part]:
    if shape.tasks is None:
        return []
    policy: Any = shape.dispatch
    if shape.rejects is not None:
        made = make_policy(shape.dispatch, np.array(shape.tasks.speeds), np.random.default_rng(3))
        policy = gate(made, "refuse" if shape.refuses else "force")
    return [workers(shape.tasks, ledger, policy=policy, keep=shape.share, record=True)]


def _telemetry(part: Any, ledger: Ledger) -> TelemetryPart:
    metrics = Metrics(read_model(), len(part.state.base), np.random.default_rng(2))
    return TelemetryPart(part, metrics, ledger, reads=Reads(metrics=False, tasks=False))


class RecordedAdmission:
    """Rejects or limits at random, and records the limits of all nodes with their times."""

    name = "drawn"

    def __init__(self, rejects: float, seed: int) -> None:
        self._rng, self._rejects = np.random.default_rng(seed), rejects
        self.times: list[float] = []
        self.limits: list[tuple[int, ...]] = []

    def decide(self, view: AdmitSiteView) -> SiteAdmission:
        answers = []
        for _ in view.present:
            limit = int(self._rng.integers(1, 3)) if self._rng.random() < 0.4 else None
            answers.append(Admission(bool(self._rng.random() < self._rejects), "drawn", limit=limit))
        answer = SiteAdmission.of(answers)
        limits = np.where(view.present, np.where(answer.reject, 0, answer.limit), NO_LIMIT)
        self.times.append(view.now)
        self.limits.append(tuple(limits.tolist()))
        return answer

    def log(self, shape: Shape) -> AnswerLog:
        """Return the answers."""
        return AnswerLog(tuple(self.times), tuple(self.limits), shape.dispatch == "pull", shape.refuses)


def _make_queries(shape: Shape, ledger: Ledger) -> list[Part]:
    if shape.stays is None:
        return []
    options = [
        QueryOptions.of(row, CONFIGURATIONS[kind], merging=True) for row, kind in enumerate(shape.kinds)
    ]
    keep = (0, 0, shape.keep, 0)
    return [
        QueriesPart(
            TIERS, options, shape.stays, ledger, terms=shape.terms, units=1, number=STREAMS, at=AT, keep=keep
        )
    ]


def _log(
    shape: Shape,
    ledger: Ledger,
    found: dict[int, list[Any]],
    observer: Observer,
    limits: dict[tuple[int, int], int],
    left: list[str],
    admit: RecordedAdmission,
) -> ClusterLog:
    bound, batch = _bound(shape), []
    if JOBS in found:
        batch.append(BatchLog(JOBS, shape.jobs, found[JOBS][0], bound=bound))  # type: ignore[arg-type]
    if SHARING in found:
        replay, shared = found[SHARING]
        assert shape.sharing is not None
        batch.append(BatchLog(SHARING, shape.sharing, replay, shared, shape.use, shape.physics, bound))
    log = ClusterLog(
        tuple(ledger.rows(site) for site in range(len(ledger.nodes.total))),
        tuple(ledger.nodes.whole.tolist()),
        tuple(observer.snapshots),
        shape.outages,
        limits,
        tuple(batch),
        neighbours=() if shape.bursts is None else (OTHERS,),
        left=tuple(left),
    )
    if shape.tasks is not None:
        part = TASKS if shape.share > 0.0 else None
        submit, work, speeds, floor = shape.tasks
        log = replace(log, tasks=TaskLog(found[TASKS][-1], submit, work, speeds, floor, shape.share, part))
        if shape.rejects is not None:
            log = replace(log, tasks=replace(log.tasks, answers=admit.log(shape)))  # type: ignore[type-var]
    if shape.fleet is not None:
        ends = [] if shape.staged is None else found[STAGED][0].end.tolist()
        ends += [] if shape.stays is None else shape.stays.leave.tolist()
        log = replace(
            log,
            instances=InstanceLog(
                VECTORS, found[VECTORS][0], len(shape.nodes), shape.fleet.idle, LOOK, tuple(ends)
            ),
        )
    if shape.stays is not None:
        log = replace(log, streams=StreamLog(STREAMS, found[STREAMS][0], AT, (0, 0, shape.keep, 0)))
    if shape.staged is not None:
        rows = (ledger.rows(0), ledger.rows(3))
        log = replace(log, staged=StagedLog(STAGED, found[STAGED][0], rows))
    return log


def _bound(shape: Shape) -> int | None:
    """Return the cores on which the jobs can count at any time; None if promises to them depend on other parts."""
    unlimited = shape.stays is not None and shape.most is None
    unlimited |= shape.bursts is not None and shape.most_bursts is None
    both = shape.jobs is not None and shape.sharing is not None
    if unlimited or both or shape.staged is not None or shape.fleet is not None or len(shape.outages):
        return None
    return sum(shape.nodes) - taken(shape)


def taken(shape: Shape) -> int:
    """Return the cores of the nodes that other parts keep, or may hold within their limits."""
    kept = sum(int(np.ceil(shape.share * each)) for each in shape.nodes) if shape.tasks else 0
    queries = 0 if shape.stays is None else max(shape.keep, shape.most or 0)
    return kept + queries + (0 if shape.bursts is None else shape.most_bursts or 0)

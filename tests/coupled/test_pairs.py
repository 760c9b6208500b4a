"""Every pair of kinds of parts on the same nodes runs correctly, or is refused with a reason."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.coupled.cases import Tasks, workers
from tests.coupled.test_concerns import content
from tests.sim.instances import SMALL
from tests.sim.queries import KINDS, TIERS, RandomPlanner
from tests.sim.sharing import RandomSharer, busy
from windlass.admit.policies.utilisation import Utilisation
from windlass.drive import drive
from windlass.experiment.dispatching import make_policy
from windlass.model import InputError, JobTable
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.model.timetable import NodeTimetable
from windlass.model.vectors import VectorJobs
from windlass.order.site.policies.easy import Easy
from windlass.place.policies.in_place import InPlace
from windlass.plan.view import QueryOptions
from windlass.scale.policies.reactive import Reactive
from windlass.sim.coupled import Coupled
from windlass.sim.fleet.binding import FleetCores
from windlass.sim.fleet.part import PlacedFleet
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.instances.part import InstancesPart
from windlass.sim.instances.result import Launches, Scaled
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Part, Quiet
from windlass.sim.queries.part import QueriesPart
from windlass.sim.queries.result import Streamed
from windlass.sim.queries.setup import Stays, Terms
from windlass.sim.shares.part import SharesPart
from windlass.sim.site.part import SitePart
from windlass.sim.site.rated import RatedSite
from windlass.sim.telemetry.gate import gate
from windlass.sim.telemetry.metrics import Metrics, read_model
from windlass.sim.telemetry.neighbours import CoreChanges, Neighbours
from windlass.sim.telemetry.part import TelemetryPart
from windlass.sim.telemetry.result import Observed
from windlass.sim.telemetry.site_policy import AdmitSitePolicy

#: Static nodes, and the cores of each.
_NODES, _CORES = 4, 8


@dataclass
class Cluster:
    """A site of static nodes, with rows of instances behind them if a part has instances."""

    with_instances: bool
    #: Policies of decisions made outside of parts, by address.
    policies: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rows = [_CORES] * _NODES + ([SMALL.cores] * SMALL.most if self.with_instances else [])
        # Cameras of two clusters and the cloud are sites that only queries use.
        self.ledger = Ledger([[int(each) for each in rows], [1], [1], [8]], parts=4)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.ledger.rows(0))


def _table(seed: int) -> JobTable:
    rng = np.random.default_rng(seed)
    run = rng.integers(1, 80, 40).astype(float)
    return JobTable.of(
        np.sort(rng.integers(0, 300, 40)).astype(float), run, rng.integers(1, 13, 40), run + 9.0
    )


def _jobs(cluster: Cluster, name: str, seed: int) -> list[Part]:
    return [SitePart(_table(seed), Easy(), cluster.ledger)]


def _sharing(cluster: Cluster, name: str, seed: int) -> list[Part]:
    case = busy(seed)
    cluster.policies[f"share{name}"] = RandomSharer(np.random.default_rng(seed))
    site = RatedSite(case.jobs, Easy(), cluster.ledger)
    sharer, rng = cluster.policies[f"share{name}"], np.random.default_rng(seed)
    shares = SharesPart(site, case.jobs, case.use, sharer, case.physics, cluster.ledger, rng, every=20.0)
    return [site, shares]


def _drawn_tasks(seed: int, rows: int) -> Tasks:
    rng = np.random.default_rng(seed)
    return Tasks(np.sort(rng.random(300) * 400.0).tolist(), rng.exponential(0.5, 300).tolist(), [1.0] * rows)


def _tasks(cluster: Cluster, name: str, seed: int) -> list[Part]:
    return [workers(_drawn_tasks(seed, cluster.rows), cluster.ledger)]


def _admission(cluster: Cluster, name: str, seed: int) -> list[Part]:
    nodes = cluster.rows
    policy = gate(make_policy("pull", np.ones(nodes), np.random.default_rng(3)))
    tasks = workers(_drawn_tasks(seed, nodes), cluster.ledger, policy=policy, record=True)
    metrics = Metrics(read_model(), nodes, np.random.default_rng(seed))
    cluster.policies[f"admit{name}"] = AdmitSitePolicy([Utilisation(0.7) for _ in range(nodes)])
    return [TelemetryPart(tasks, metrics, cluster.ledger), tasks]


def _instances(cluster: Cluster, name: str, seed: int) -> list[Part]:
    cluster.policies[f"scale{name}"] = Reactive(30.0)
    jobs = VectorJobs.of(submit=[20.0, 60.0, 200.0], run=[50.0, 90.0, 40.0], cores=[2, 4, 3])
    return [
        InstancesPart(
            jobs,
            InstanceFleet((SMALL,), idle=30.0),
            cluster.ledger,
            np.random.default_rng(seed),
            begin=0.0,
            look=10.0,
            after=_NODES,
        )
    ]


def _queries(cluster: Cluster, name: str, seed: int) -> list[Part]:
    cluster.policies[f"plan{name}"] = RandomPlanner(np.random.default_rng(seed))
    arrive = np.array([5.0, 40.0, 90.0, 91.0])
    options = [QueryOptions.of(row, KINDS[row % 2], merging=True) for row in range(4)]
    return [
        QueriesPart(
            TIERS,
            options,
            Stays(arrive, arrive + 150.0),
            cluster.ledger,
            terms=Terms(notice=5.0, patience=20.0),
            units=1,
            at=(1, 2, 0, 3),
        )
    ]


def _fleet(cluster: Cluster, name: str, seed: int) -> list[Part]:
    cluster.policies[f"place{name}"] = InPlace()
    cores = int(cluster.ledger.nodes.whole[cluster.ledger.rows(0)].sum())
    jobs = FleetJobs.of([10.0, 30.0], [[StageSpec(7.0, here=(43,))], [StageSpec(30.0, here=(20,))]])
    case = FleetCase(Fleet.of(slots=[cores]), jobs)
    return [PlacedFleet(case, cores=FleetCores(cluster.ledger, (0,)))]


def _outages(cluster: Cluster, name: str, seed: int) -> list[Part]:
    times = NodeTimetable.outage(1, 50.0, 110.0, cores=_CORES, kill=True)
    times += NodeTimetable.outage(2, 60.0, 200.0, cores=_CORES, left=3)
    return [Outages(times, cluster.ledger)]


def _neighbours(cluster: Cluster, name: str, seed: int) -> list[Part]:
    # Node 1 is vacated during its burst.
    changes = CoreChanges(
        np.array([15.0, 25.0, 40.0, 100.0]), np.array([0, 3, 1, 0]), np.array([5, 2, 4, -5])
    )
    return [Neighbours(changes, cluster.ledger)]


_MAKERS: dict[str, Callable[[Cluster, str, int], list[Part]]] = {
    "jobs": _jobs,
    "sharing": _sharing,
    "tasks": _tasks,
    "admission": _admission,
    "instances": _instances,
    "queries": _queries,
    "fleet": _fleet,
    "outages": _outages,
    "neighbours": _neighbours,
}
#: Pairs that cannot share nodes, with the reason.
_REFUSED = {
    ("tasks", "tasks"): "the idle cores are used by small tasks",
    ("tasks", "admission"): "the idle cores are used by small tasks",
    ("admission", "admission"): "the idle cores are used by small tasks",
    ("instances", "instances"): "the capacity is set by instances",
    ("outages", "outages"): "the capacity is set by",
}


def _outcome(pair: tuple[str, str], seed: int, *, others: tuple[Part, ...] = ()) -> list[Any]:
    """Run a pair, and return the results of its parts."""
    cluster = Cluster("instances" in pair)
    names, parts = [], list[Part]()
    for at, kind in enumerate(pair):
        made = _MAKERS[kind](cluster, f"@{at}", seed + at)
        parts += made
        names += [f"@{at}"] * len(made)
    engine = Coupled([*parts, *others], cluster.ledger, [*names, *[""] * len(others)])
    done = drive(engine, cluster.policies)
    nodes = cluster.ledger.nodes
    assert (nodes.idle == nodes.capacity - nodes.held.sum(axis=1)).all()
    assert all(part.ended() for part in parts)
    # Only neighbours may hold cores at the end: the simulation does not wait for them.
    assert nodes.held.sum() == 0 or "neighbours" in pair
    return list(done[: len(parts)])


def _same(one: Any, other: Any) -> bool:
    """Return whether two results agree; exactly, but for what depends on how often a part was called."""
    if isinstance(one, Observed):
        # Nodes measure themselves for some steps more or less after the last task.
        steps = min(len(one.before), len(other.before))
        return (
            np.array_equal(one.channels[:steps], other.channels[:steps], equal_nan=True)
            and np.array_equal(one.rejects[:steps], other.rejects[:steps])
            and one.before[:steps] == other.before[:steps]
        )
    if isinstance(one, Streamed):
        # The course has a line for each call, and sums are rounded at each.
        both = [replace(each, course=one.course, accurate=each.accurate.round(9)) for each in (one, other)]
        return bool(content(both[0]) == content(both[1]))
    if isinstance(one, Scaled):
        # Instances end as other parts go on after the last job, or not.
        up = [(each.launches.gone > each.finish) | np.isnan(each.launches.gone) for each in (one, other)]
        if not np.array_equal(*up):
            return False
        one, other = (replace(each, launches=_ended_by(each.launches, ~up[0])) for each in (one, other))
    return bool(content(one) == content(other))


def _ended_by(launches: Launches, before: NDArray[np.bool_]) -> Launches:
    """Return launches of which only the named have ended."""
    return replace(
        launches, gone=np.where(before, launches.gone, np.nan), why=np.where(before, launches.why, -1)
    )


@pytest.mark.matrix
@pytest.mark.parametrize("pair", itertools.combinations_with_replacement(_MAKERS, 2), ids="-".join)
def test_a_pair_runs_as_if_all_parts_were_called_or_is_refused(pair: tuple[str, str]) -> None:
    if pair in _REFUSED:
        with pytest.raises(InputError, match=_REFUSED[pair]):
            _outcome(pair, 1)
        return
    for seed in (1, 2):
        one, other = _outcome(pair, seed), _outcome(pair, seed, others=(Quiet(),))
        assert [_same(*each) for each in zip(one, other, strict=True)] == [True] * len(one)

"""Runs of variants of the world ``cluster`` that record what an independent validator reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from tests.oracles.cluster import Snapshot
from tests.oracles.cluster_world import WorldLog
from windlass.experiment.scenario import make_scenario
from windlass.experiment.worlds.cluster import build
from windlass.experiment.worlds.cluster.draw import draw_arrivals
from windlass.experiment.worlds.cluster.outcome import outcome_of
from windlass.experiment.worlds.cluster.sampler import Sampler
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.experiment.worlds.elastic import simulation as elastic
from windlass.experiment.worlds.sharing import simulation as sharing
from windlass.sim.ledger import Ledger
from windlass.sim.part import Concerns, Due


class JoinedLedger(Ledger):
    """A ledger that records the numbers of the parts that join it."""

    def __init__(self, sites: Any, parts: int) -> None:
        self.numbers: list[int] = []
        super().__init__(sites, parts)

    def join(self, site: int, part: int | None = None) -> int:
        """Register a part, and record its number."""
        self.numbers.append(super().join(site, part))
        return self.numbers[-1]


class RecordingSampler(Sampler):
    """A sampler that takes a snapshot of the ledger after each change of a row; the last part in the list."""

    def __init__(self, ledger: Ledger, sites: int, *others: Any) -> None:
        super().__init__(ledger, sites, *others)
        self._ledger = ledger
        self.snapshots: list[Snapshot] = []
        for site in range(len(ledger.nodes.total)):
            ledger.watch(site)
        self._take(-1.0)

    def _take(self, now: float) -> None:
        nodes = self._ledger.nodes
        held = tuple(map(tuple, nodes.held.tolist()))
        self.snapshots.append(Snapshot(now, tuple(nodes.capacity.tolist()), tuple(nodes.idle.tolist()), held))

    def concerns(self) -> Concerns:
        """Return all sites of the ledger."""
        return Concerns(sites=tuple(range(len(self._ledger.nodes.total))))

    def settle(self, now: float) -> None:
        """Take a snapshot."""
        self._take(now)

    def decide(self, now: float) -> tuple[Due, ...]:
        """Take the sample that is due, and a snapshot with it."""
        if now >= self.horizon():
            self._take(now)
        return tuple(super().decide(now))


class _Recorder:
    """Replaces the classes of parts by ones that record, and keeps what they were made with."""

    def __init__(self) -> None:
        self.ledgers: list[JoinedLedger] = []
        self.samplers: list[RecordingSampler] = []
        self.numbers: dict[str, list[int | None]] = defaultdict(list)
        self.outages: dict[int, Any] = {}
        self.physics: list[Any] = []
        self.queries: dict[str, Any] = {}

    def ledger(self, sites: Any, parts: int) -> JoinedLedger:
        self.ledgers.append(JoinedLedger(sites, parts))
        return self.ledgers[-1]

    def sampler(self, *args: Any) -> RecordingSampler:
        self.samplers.append(RecordingSampler(*args))
        return self.samplers[-1]

    def numbered(self, kind: str, made: Callable[..., Any], **more: Any) -> Callable[..., Any]:
        def make(*args: Any, **kwargs: Any) -> Any:
            if any(isinstance(each, Ledger) and each is not self.ledgers[-1] for each in args):
                # What a bound knows comes from a run of its own.
                return made(*args, **kwargs)
            joined = self.ledgers[-1].numbers
            before = len(joined)
            part = made(*args, **(kwargs | more))
            self.numbers[kind].append(joined[-1] if len(joined) > before else None)
            if kind == "queries":
                self.queries = {**kwargs, "hierarchy": args[0], "options": args[1]}
            return part

        return make

    def outage(self, times: Any, ledger: Ledger, *, site: int) -> Any:
        self.outages[site] = times
        return _OUTAGES(times, ledger, site=site)

    def shares(self, *args: Any, **kwargs: Any) -> Any:
        self.physics.append(args[4])
        return _SHARES(*args, **kwargs)

    def classes(self) -> dict[str, Any]:
        """Return the classes of parts in the world's module, by the name that they have there."""
        return {
            "Ledger": self.ledger,
            "Sampler": self.sampler,
            "Outages": self.outage,
            "SitePart": self.numbered("rigid", build.SitePart, record=True),
            "WorkersPart": self.numbered("tasks", build.WorkersPart),
            "QueriesPart": self.numbered("queries", build.QueriesPart),
            "PlacedFleet": self.numbered("staged", build.PlacedFleet, log=True),
            "OrderedFleet": self.numbered("staged", build.OrderedFleet, log=True),
        }


_OUTAGES, _SHARES = build.Outages, sharing.SharesPart


def recorded(setting: ClusterSetting, seed: int) -> WorldLog:
    """Run a variant, and return what happened."""
    arrivals, recorder = draw_arrivals(setting, seed), _Recorder()
    instances = recorder.numbered("scaled", elastic.InstancesPart)
    rated = recorder.numbered("rigid", sharing.RatedSite)
    with (
        patch.multiple(build, **recorder.classes()),
        patch.object(elastic, "InstancesPart", instances),
        patch.multiple(sharing, RatedSite=rated, SharesPart=recorder.shares),
    ):
        done = build.run_cluster(setting, seed, arrivals, lambda share: None)
    ledger = recorder.ledgers[0]
    sites = list(setting.sites)
    pairs = zip(((each.load, each.site) for each in done.shared), recorder.physics, strict=True)
    return WorldLog(
        setting,
        arrivals,
        done,
        outcome_of(setting, seed, arrivals, done),
        tuple(ledger.rows(site) for site in range(len(ledger.nodes.total))),
        tuple(ledger.nodes.whole.tolist()),
        tuple(recorder.samplers[0].snapshots),
        {kind: tuple(numbers) for kind, numbers in recorder.numbers.items()},
        {sites[site]: times for site, times in recorder.outages.items()},
        dict(pairs),
        recorder.queries,
    )


def variants(tree: dict[str, Any]) -> list[ClusterSetting]:
    """Return the variants of a scenario."""
    return [variant.setting for variant in make_scenario(tree).variants]  # type: ignore[misc]

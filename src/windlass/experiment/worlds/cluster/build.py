"""Puts a cluster together: the parts of the simulator for each load and capacity, on one ledger, and their policies."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from windlass.drive import drive
from windlass.experiment.dispatching import LANE
from windlass.experiment.workloads.drift import speed_changes
from windlass.experiment.worlds.batch.estimates import ordered_jobs
from windlass.experiment.worlds.cluster.draw import Arrivals, ClusterArrivals
from windlass.experiment.worlds.cluster.instances import instances_case, without_kept
from windlass.experiment.worlds.cluster.layout import ledger_rows, outages_of, tiers_of
from windlass.experiment.worlds.cluster.loads.rigid import RigidJobs
from windlass.experiment.worlds.cluster.loads.tasks import ShortTasks
from windlass.experiment.worlds.cluster.make_policies import make, make_admit, make_dispatch, model_at
from windlass.experiment.worlds.cluster.policies import ClusterPoliciesSpec
from windlass.experiment.worlds.cluster.results import ClusterRecorder, ClusterRun, LoadResult
from windlass.experiment.worlds.cluster.sampler import Sampler
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.experiment.worlds.custom_parts import jobs_of_part, make_part
from windlass.experiment.worlds.elastic.simulation import scale_policy
from windlass.experiment.worlds.outages import check_room
from windlass.experiment.worlds.sharing.simulation import SharingCase, share_policy, sharing_parts
from windlass.experiment.worlds.video.clusters import timetable_of
from windlass.experiment.worlds.video.streams import QuerySchedule
from windlass.model import InputError
from windlass.model.fleet import FleetCase
from windlass.model.timetable import WorkerTimetable
from windlass.order.fleet import POLICIES as ORDER_STAGED
from windlass.order.fleet.compiled import in_loop
from windlass.order.site import POLICIES as ORDER
from windlass.place import POLICIES as PLACE
from windlass.plan import POLICIES as PLAN
from windlass.plan import QueryOptions, configurations
from windlass.scale import POLICIES as SCALE
from windlass.scale import idle_time
from windlass.sim.coupled import Coupled
from windlass.sim.demand import ScaledLoad
from windlass.sim.fleet.binding import FleetCores
from windlass.sim.fleet.part import OrderedFleet, PlacedFleet
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import NamedPart, Part
from windlass.sim.queries.part import QueriesPart
from windlass.sim.site.part import SitePart
from windlass.sim.telemetry.gate import WhenFull, gate
from windlass.sim.telemetry.metrics import Metrics
from windlass.sim.telemetry.neighbours import Neighbours
from windlass.sim.telemetry.part import TelemetryPart
from windlass.sim.workers.guests import Spill
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.setup import Setup


def run_cluster(
    setting: ClusterSetting,
    seed: int,
    arrivals: ClusterArrivals,
    progress: Callable[[float], None],
    recorder: ClusterRecorder | None = None,
) -> ClusterRun:
    """Simulate a cluster.

    Parameters
    ----------
    setting, seed
        The scenario's variant, and the random seed.
    arrivals
        What arrives.
    progress
        Receives the share of the simulated time that has passed.
    recorder
        Records the run; None for a run that is not recorded.

    Raises
    ------
    InputError
        A load cannot run on its sites; names both.
    PolicyError
        An answer of a policy cannot be carried out.
    """
    assembly = _Assembly(setting, seed, arrivals, recorder)
    assembly.add_sampler(progress)
    return assembly.run()


class _Assembly:
    """The parts of a cluster in the order in which they act within an instant, and where their results belong."""

    def __init__(
        self,
        setting: ClusterSetting,
        seed: int,
        arrivals: ClusterArrivals,
        recorder: ClusterRecorder | None = None,
    ) -> None:
        self._setting, self._arrivals = setting, arrivals
        self._streams = setting.random(seed)
        self._begin, self._end = arrivals.span
        self._recorder = recorder
        #: The load with its site of each number in the ledger.
        self._holders: dict[int, str] = {}
        self._chosen: ClusterPoliciesSpec = setting.chosen()
        self._cloud = setting.cloud_for_queries
        self._site = {name: place for place, name in enumerate(setting.sites)}
        rows = ledger_rows(setting.sites, self._cloud, setting.units)
        holders = len(arrivals.rigid) + len(arrivals.tasks) + len(arrivals.staged) + len(arrivals.queries)
        holders += len(arrivals.neighbours)
        custom = [
            (name, site)
            for name, load in setting.loads.items()
            if load.part
            for site in setting.sites_of(load)
        ]
        self._ledger = Ledger(rows, parts=holders + len(setting.sites) + len(custom))
        self._policies: dict[str, Any] = {}
        self._parts: list[Part] = []
        self._names: list[str] = []
        self._places: list[tuple[str, str, str]] = []
        self._workers_at: dict[int, WorkersPart] = {}
        #: By site: parts whose work runs on its instances.
        self._loads: dict[str, list[ScaledLoad]] = {name: [] for name in setting.sites}
        # Tasks claim their cores first, so that jobs wider than the rest are refused; they act after the jobs.
        workers = []
        for tasks in arrivals.tasks:
            workers.append(self._workers(tasks))
            self._note_holder(tasks.name)
        self._spill(workers)
        # Custom parts may limit what they will take, before jobs join.
        parts = [self._custom_part(name, site) for name, site in custom]
        self._add_outages()
        for neighbours in arrivals.neighbours:
            bursts = Neighbours(neighbours.drawn, self._ledger, self._site[neighbours.site])
            self._add(bursts, "", neighbours.load, neighbours.site)
        for queries in arrivals.queries:
            self._add_queries(queries)
        for rigid in arrivals.rigid:
            self._add_rigid(rigid)
        for staged in arrivals.staged:
            self._add_staged(staged)
        for (name, site), custom_part in zip(custom, parts, strict=True):
            self._add(custom_part, "parts", name, site)
        for tasks, part in zip(arrivals.tasks, workers, strict=True):
            self._add_tasks(tasks, part)
        self._add_instances()

    def run(self) -> ClusterRun:
        """Run all parts, and return their results by kind."""
        found = ClusterRun()
        recorder = self._recorder
        if recorder is not None:
            for watch in recorder.last(self._ledger, self._holders):
                self._place(watch)
        log = None if recorder is None else recorder.log
        results = drive(Coupled(self._parts, self._ledger, self._names), self._policies, log)
        for part, (kind, load, site), result in zip(self._parts, self._places, results, strict=True):
            if kind:
                getattr(found, kind).append(LoadResult(load, site, result))
            jobs = jobs_of_part(part, f"loads.{load}") if kind == "parts" else None
            if jobs is not None:
                found.part_jobs.append(LoadResult(load, site, jobs))
        # A policy that expects true run times had them as requests.
        found.rigid = [
            replace(each, result=replace(each.result, jobs=given.drawn.jobs.jobs))
            for each, given in zip(found.rigid, self._arrivals.rigid, strict=True)
        ]
        return found

    def _add(self, part: Part, kind: str = "", load: str = "", site: str = "") -> None:
        name = f"{load}@{site}" if site else load
        self._note_holder(name)
        if self._recorder is not None and kind:
            for watch in self._recorder.before(kind, name, part, self._ledger):
                self._place(watch)
        self._place(part, kind, load, site)

    def _note_holder(self, name: str) -> None:
        """Note that the parts that have joined the ledger since the last call belong to a load."""
        for number in self._ledger.joined - self._holders.keys():
            self._holders[number] = name

    def _place(self, part: Part, kind: str = "", load: str = "", site: str = "") -> None:
        self._parts.append(part)
        self._names.append(f"{'.' if load else ''}{load}{'@' if site else ''}{site}")
        self._places.append((kind, load, site))

    def add_sampler(self, progress: Callable[[float], None]) -> None:
        """Sample the cores in use."""
        setting = self._setting
        loads = [self._holders[number].partition("@")[0] for number in sorted(self._holders)]
        sampler = Sampler(
            self._ledger, len(setting.sites), loads, self._workers_at,
            setting.sample, self._end, progress, self._begin, setting.units,
        )  # fmt: skip
        self._add(sampler, "samples")

    def _serve(self, part: ScaledLoad, sites: Sequence[str]) -> None:
        """Let instances of some sites serve a load over several sites; instances with GPUs serve vector jobs only."""
        for name in sites:
            instances = self._setting.sites[name].instances
            if instances is not None and any(kind.gpus == 0 for kind in instances.types):
                self._loads[name].append(part)

    def _add_outages(self) -> None:
        for name, site in self._setting.sites.items():
            if site.outages is not None:
                rng = self._streams.stream(f"outages@{name}")
                times = outages_of(site, self._end, rng)
                for rigid in self._arrivals.rigid:
                    if rigid.site == name:
                        check_room(times, site.rows(), rigid.drawn.jobs.jobs, f"sites.{name}.outages")
                self._add(Outages(times, self._ledger, site=self._site[name]), site=name)

    def _add_queries(self, given: Arrivals[QuerySchedule]) -> None:
        load = self._setting.loads[given.load]
        tiers = tiers_of(self._setting.sites, self._cloud, self._setting.sites_of(load))
        assert load.queries is not None  # The load has queries.
        spec, units = load.queries, self._setting.units
        options = [
            QueryOptions.of(row, configurations(query, tiers.hierarchy), merging=spec.merge)
            for row, query in enumerate(given.drawn.queries)
        ]
        rng, until = self._streams.stream(f"drops.{given.load}"), float(given.drawn.stays.leave.max())
        changes = timetable_of(tiers.hierarchy, spec.changes, spec.drops, until, rng, units)
        part = QueriesPart(
            tiers.hierarchy, options, given.drawn.stays, self._ledger,
            terms=spec.terms(), timetable=changes, units=units, at=tiers.at,
            keep=[units * cores for cores in tiers.keep],
        )  # fmt: skip
        self._policies[f"plan.{given.load}"] = make(self._chosen.plan, PLAN, self._streams, given.load)
        self._add(part, "queries", given.load)
        self._serve(part, self._setting.sites_of(load))

    def _add_rigid(self, given: Arrivals[RigidJobs]) -> None:
        setting, site = self._setting, self._site[given.site]
        spec = self._chosen.of("order", given.site)
        assert spec is not None  # Jobs always have an order.
        policy = make(spec, ORDER, self._streams, given.name)
        share = self._chosen.of("share", given.site)
        if share is None:
            kill = setting.kill_at_walltime
            ordered = ordered_jobs(policy, given.drawn.jobs, self._chosen.order.estimates, kill=kill)
            self._policies[f"order.{given.name}"] = ordered.policy
            part = SitePart(
                ordered.jobs, ordered.policy, self._ledger, site=site, kill=kill, owners=ordered.owners
            )
            self._add(part, "rigid", given.load, given.site)
            self._loads[given.site].append(part)
            return
        self._policies[f"order.{given.name}"] = policy
        case = self._sharing(given)
        chosen = share_policy(share.name, share.parameters, case, self._streams.stream(f"share.{given.name}"))
        self._policies[f"share.{given.name}"] = chosen
        noise = self._streams.stream(f"noise.{given.name}")
        rated, shares = sharing_parts(case, policy, chosen, self._ledger, noise, site=site)
        self._add(rated, "rigid", given.load, given.site)
        self._loads[given.site].append(rated)
        self._add(shares, "shared", given.load, given.site)

    def _sharing(self, given: Arrivals[RigidJobs]) -> SharingCase:
        """Return how jobs of a site slow each other down; factors of pairs are the same at all sites."""
        setting, site = self._setting, self._setting.sites[given.site]
        load, use = setting.loads[given.load].rigid, given.drawn.use
        assert load is not None  # The load has rigid jobs.
        factors = self._streams.stream(f"factors.{given.load}")
        speeds = load.interference.physics(use, factors, self._streams.seed_of(f"pairs.{given.load}"))
        return SharingCase(
            given.drawn.jobs.jobs, site.for_jobs, use, speeds, site.memory_per_core,
            setting.checkpoint, setting.noise, setting.kill_at_walltime,
        )  # fmt: skip

    def _custom_part(self, name: str, site: str) -> NamedPart:
        spec = self._setting.loads[name].part
        assert spec is not None  # The load is a custom part.
        try:
            part = make_part(spec, self._streams.stream(f"{name}@{site}"), self._ledger, self._site[site])
        except InputError as error:
            raise InputError(f"loads.{name}: {error}") from error
        self._note_holder(f"{name}@{site}")
        return part

    def _add_staged(self, given: Arrivals[FleetCase]) -> None:
        setting, load = self._setting, self._setting.loads[given.load]
        spec, order = load.staged, self._chosen.order.staged
        assert spec is not None  # The load has staged jobs.
        cores = FleetCores(self._ledger, tuple(self._site[name] for name in self._setting.sites_of(load)))
        part: OrderedFleet | PlacedFleet
        if order is not None:
            policy = make(order, ORDER_STAGED, self._streams, given.load)
            self._policies[f"order.{given.load}"] = policy
            part = OrderedFleet(
                given.drawn,
                in_loop(policy),
                look_every=spec.look_every,
                log=self._recorder is not None,
                cores=cores,
            )
        else:
            self._policies[f"place.{given.load}"] = make(self._chosen.place, PLACE, self._streams, given.load)
            part = PlacedFleet(
                given.drawn, look_every=spec.look_every, decide_every=spec.decide_every,
                estimates=setting.durations_of(spec), log=self._recorder is not None, cores=cores,
            )  # fmt: skip
        self._add(part, "staged", given.load)
        self._serve(part, self._setting.sites_of(load))

    def _workers(self, given: Arrivals[ShortTasks]) -> WorkersPart:
        site, tasks, setting = self._setting.sites[given.site], given.drawn, self._setting
        spec = self._chosen.of("dispatch", given.site)
        assert spec is not None  # Tasks are always dispatched.
        load = setting.loads[given.load].tasks
        assert load is not None  # The load has tasks.
        policy = make_dispatch(spec, site, setting.guaranteed(given.site), self._streams, given.name)
        admits = self._chosen.of("admit", given.site) is not None
        full: WhenFull = "force" if setting.telemetry.full == "force" else "refuse"
        setup = Setup(
            site.speeds(), self._speed_changes(given), schedulers=load.schedulers, probe_delay=load.probe_delay,
            sizes_known=load.sizes == "known", lane=LANE, samples=0, record=True, tasks_per_job=tasks.per_job,
            fetch_delay=load.fetch_delay, count_sent=load.count_sent,
        )  # fmt: skip
        self._policies[f"dispatch.{given.name}"] = policy
        rng = (
            self._streams.stream(f"schedulers.{given.name}")
            if tasks.schedulers is None
            else np.random.default_rng(tasks.schedulers)
        )
        return WorkersPart(
            setup, gate(policy, full) if admits else policy, tasks.submit, tasks.work,
            rng, ledger=self._ledger, site=self._site[given.site],
            floor=setting.floor_of_tasks, keep=site.keeps.tasks,
        )  # fmt: skip

    def _speed_changes(self, given: Arrivals[ShortTasks]) -> WorkerTimetable:
        """Return the changes of the speeds of a site's nodes while its tasks arrive."""
        site = self._setting.sites[given.site]
        spec = site.speed_changes
        if spec is None:
            return WorkerTimetable.none()
        speeds, rng = site.speeds()[: site.count], self._streams.stream(f"speeds@{given.site}")
        return speed_changes(speeds, spec.shocks_every, spec.drift, given.drawn.last, rng)

    def _spill(self, workers: list[WorkersPart]) -> None:
        """Let each site with admission send tasks that all its nodes reject to the other sites of the load."""
        telemetry = self._setting.telemetry
        if telemetry.full != "spill":
            return
        given = list(zip(self._arrivals.tasks, workers, strict=True))
        for own, part in given:
            others = tuple(other for each, other in given if each.load == own.load and other is not part)
            if others and self._chosen.of("admit", own.site) is not None:
                part.spill(Spill(others, telemetry.delay))

    def _add_tasks(self, given: Arrivals[ShortTasks], part: WorkersPart) -> None:
        spec = self._chosen.of("admit", given.site)
        if spec is not None:
            model, nodes = (
                model_at(self._setting.telemetry.model),
                len(self._setting.sites[given.site].rows()),
            )
            policy = make_admit(spec, nodes, model.dim, self._streams, given.name)
            self._policies[f"admit.{given.name}"] = policy
            telemetry = TelemetryPart(
                part, Metrics(model, nodes, self._streams.stream(f"metrics.{given.name}")), self._ledger,
                reads=policy.reads, site=self._site[given.site], every=self._setting.telemetry.every, policy=policy,
            )  # fmt: skip
            self._add(telemetry, "observed", given.load, given.site)
        self._workers_at[self._site[given.site]] = part
        self._add(part, "tasks", given.load, given.site)
        self._loads[given.site].append(part)

    def _add_instances(self) -> None:
        """Add the autoscalers, which decide after all loads, so that they see what these have left waiting."""
        own = {given.site: given for given in self._arrivals.vectors}
        for name, site in self._setting.sites.items():
            if site.instances is None:
                continue
            given = own.get(name)
            load = "" if given is None else given.load
            spec = self._chosen.of("scale", name)
            assert spec is not None  # Instances are always scaled.
            case = instances_case(self._setting, name, given)
            rng = self._streams.stream(f"{SCALE.key}.{load}@{name}")
            policy = scale_policy(spec.name, spec.parameters, without_kept(case, site.keeps.tasks), rng)
            self._policies[f"scale{'.' if load else ''}{load}@{name}"] = policy
            try:
                part = case.part(
                    self._ledger, self._streams.stream(f"launches@{name}"), idle_time(policy, case.fleet.idle),
                    site=self._site[name], after=site.count, loads=self._loads[name],
                    # If all jobs run, the first instances are launched in time for the first of them.
                    **({} if math.isinf(self._setting.seconds) else {"begin": 0.0}),
                )  # fmt: skip
            except InputError as error:
                raise InputError(f"sites.{name}: {error}") from error
            self._add(part, "scaled", load, name)

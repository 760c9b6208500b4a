"""The world of one cluster: with one load it equals the simulation of that load alone; fields, names, and errors."""

from dataclasses import replace

import numpy as np
import pytest
import yaml

from tests.announced_kernels import announced_and_called_kernels
from windlass.drive import drive
from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.experiment.workloads.streams import RandomStreams, stream
from windlass.experiment.worlds.cluster.build import run_cluster
from windlass.experiment.worlds.cluster.draw import draw_arrivals
from windlass.experiment.worlds.cluster.layout import fleet_of, ledger_rows, tiers_of
from windlass.experiment.worlds.cluster.loads.cut import Span, early_notes
from windlass.experiment.worlds.cluster.loads.rigid import RigidSpec, draw_rigid
from windlass.experiment.worlds.cluster.loads.staged import StagedSpec, draw_staged
from windlass.experiment.worlds.cluster.loads.tasks import ShortTasksSpec, draw_short_tasks
from windlass.experiment.worlds.cluster.outcome import outcome_of
from windlass.experiment.worlds.cluster.policies import ClusterPoliciesSpec
from windlass.experiment.worlds.cluster.sites import ClusterSiteSpec, TierSpec
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.experiment.worlds.cluster.world import ClusterWorld
from windlass.experiment.worlds.elastic.simulation import ElasticCase
from windlass.experiment.worlds.elastic.spot import instance_fleet
from windlass.experiment.worlds.policy import PolicySpec
from windlass.experiment.worlds.sharing.simulation import SharingCase, run_sharing
from windlass.model import InputError
from windlass.model.fleet import Fleet
from windlass.order.site import POLICIES as ORDER
from windlass.order.site.policies.easy import Easy
from windlass.place import POLICIES as PLACE
from windlass.plan import POLICIES as PLAN
from windlass.plan import QueryOptions, configurations
from windlass.results.verdict.compare import best_row
from windlass.scale import POLICIES as SCALE
from windlass.share import POLICIES as SHARE
from windlass.share.interference import Interference
from windlass.sim import replay
from windlass.sim.coupled import SinglePart
from windlass.sim.fleet import run_placed
from windlass.sim.ledger import Ledger
from windlass.sim.queries.part import QueriesPart
from windlass.sim.queries.setup import Terms
from windlass.sim.shares.neighbours import NeighbourSpeeds

NODES = {"nodes": [{"count": 6, "cores": 8}]}
INSTANCES = {"types": [{"name": "small", "cores": 4, "price": 0.4, "launch": 120, "most": 6}]}
LOADS = {
    "batch": {"rigid": {"lublin": {"jobs": 900, "load": 2.0}}},
    "web": {"tasks": {"tasks": 900, "load": 0.05}},
    "etl": {"staged": {"drawn": {"jobs": 4, "tasks": 20}}},
    "ml": {"vectors": {"drawn": {"per_hour": 30, "run": 300, "shapes": [{"cores": 2}]}}, "at": ["iowa"]},
    "cameras": {"queries": {"per_hour": 12, "last": 900}},
}
SITES = {
    "iowa": {
        **NODES,
        "instances": INSTANCES,
        "cameras": {"count": 2},
        "outages": {"every": 20_000, "last": 900},
    },
    "sydney": {"nodes": [{"count": 3, "cores": 16, "speed": 1.5}]},
}
ALL = {
    "plan": "cascade", "order": "easy", "place": "tetrium", "scale": "thrifty", "share": "pairs", "dispatch": "pull",
    "admit": {"utilisation": {"threshold": 0.9}},
}  # fmt: skip


def tree(*loads, sites=None, **fields):
    chosen = {name: LOADS[name] for name in loads or LOADS}
    return {
        "world": "cluster",
        "seconds": 3600,
        "begin": 36000,
        "sites": sites or SITES,
        "loads": chosen,
    } | fields


def setting(*loads, sites=None, **fields):
    return make_scenario(tree(*loads, sites=sites, **fields)).variants[0].setting


def ran(chosen, seed=1):
    arrivals = draw_arrivals(chosen, seed)
    return arrivals, run_cluster(chosen, seed, arrivals, lambda share: None)


def test_batch_jobs_alone_are_a_replay():
    arrivals, done = ran(setting("batch", sites={"iowa": NODES}))
    jobs = arrivals.rigid[0].drawn.jobs.jobs
    alone = replay(jobs, 48, Easy())
    assert len(jobs) > 25
    assert jobs.submit.max() < 3600
    assert done.rigid[0].result.start.tolist() == alone.start.tolist()
    assert done.rigid[0].result.end.tolist() == alone.end.tolist()


def test_jobs_that_share_run_as_in_the_sharing_world():
    crowded = {"batch": {"rigid": {"lublin": {"jobs": 900, "load": 8.0}}}}
    chosen = setting(
        "batch", sites={"iowa": NODES}, policies={"order": "easy", "share": "static"}, loads=crowded
    )
    arrivals, done = ran(chosen)
    spec, drawn = chosen.loads["batch"].rigid.interference, arrivals.rigid[0].drawn
    factors = np.exp(stream(1, "factors.batch").normal(0.0, spec.spread, 1000))
    speeds = NeighbourSpeeds(
        Interference(spec.pressure, spec.both, spec.crowding, spec.host),
        drawn.use,
        factors,
        RandomStreams(1).seed_of("pairs.batch"),
    )
    case = SharingCase(drawn.jobs.jobs, 48, drawn.use, speeds)
    share = SHARE.make("static", stream(1, "share.batch@iowa"))
    alone = run_sharing(case, ORDER.make("easy", stream(1, "")), share, stream(1, "noise.batch@iowa"))
    assert len(alone.shared.guest) > 0
    assert done.rigid[0].result.end.tolist() == alone.jobs.end.tolist()
    assert done.shared[0].result.guest.tolist() == alone.shared.guest.tolist()


def test_vector_jobs_alone_run_as_in_the_elastic_world():
    # The node has no load of its own; the site of the elastic world has instances only.
    sites = {"iowa": {"nodes": [{"count": 1, "cores": 1}], "instances": INSTANCES}}
    chosen = setting("ml", sites=sites, policies={"scale": "reactive"})
    arrivals, done = ran(chosen)
    jobs = arrivals.vectors[0].drawn.jobs
    fleet = instance_fleet(chosen.sites["iowa"].instances, jobs)
    part = ElasticCase(jobs, fleet, chosen.period, look=chosen.look)
    ledger = Ledger([fleet.rows()], parts=1)
    policy = SCALE.make("reactive", stream(1, ""))
    alone = drive(
        SinglePart(part.part(ledger, stream(1, "launches@iowa"), None, begin=0.0), ledger), {"scale": policy}
    )
    assert len(jobs) > 10
    assert done.scaled[0].result.start.tolist() == alone.start.tolist()
    assert done.scaled[0].result.launches.launched.tolist() == alone.launches.launched.tolist()


def test_staged_jobs_alone_run_as_in_the_fleet_world():
    chosen = setting("etl", policies={"place": "tetrium"})
    arrivals, done = ran(chosen)
    policy = PLACE.make("tetrium", stream(1, "place.etl"))
    case = arrivals.staged[0].drawn
    sites = [sum(site.rows()) for site in chosen.sites.values()]
    assert case.fleet.slots.tolist() == sites == [72, 48]
    calm = {
        name: {key: value for key, value in site.items() if key in ("nodes",)} for name, site in SITES.items()
    }
    calm_arrivals, calm_done = ran(setting("etl", sites=calm, policies={"place": "tetrium"}))
    case = calm_arrivals.staged[0].drawn
    alone = run_placed(case, policy, look_every=0.25, decide_every=1.0, estimates="finished")
    assert calm_done.staged[0].result.end.tolist() == alone.end.tolist()
    assert not np.isnan(done.staged[0].result.end).any()


@pytest.mark.matrix(0)
def test_queries_alone_run_as_in_a_part_of_their_own():
    sites = {"iowa": {**NODES, "cameras": {"count": 2}}}
    arrivals, done = ran(setting("cameras", sites=sites, policies={"plan": "cascade"}))
    schedule = arrivals.queries[0].drawn
    tiers = tiers_of(setting("cameras", sites=sites).sites, TierSpec(), ["iowa"])
    options = [
        QueryOptions.of(row, configurations(query, tiers.hierarchy))
        for row, query in enumerate(schedule.queries)
    ]
    # One row for each cluster, in their order: camera, camera, site, cloud.
    ledger = Ledger([[2, 2, 48, 64]], parts=1)
    part = QueriesPart(tiers.hierarchy, options, schedule.stays, ledger, terms=Terms(patience=60.0), units=1)
    alone = drive(SinglePart(part, ledger), {"plan": PLAN.make("cascade", stream(1, "plan.cameras"))})
    assert len(schedule.stays) > 5
    assert done.queries[0].result.accurate.tolist() == alone.accurate.tolist()


def test_a_cluster_of_all_loads_completes_them_and_measures_each():
    scenario = make_scenario(tree(policies=ALL))
    outcome = run(scenario).variants[0].outcomes[0]
    metrics = outcome.metrics
    assert (metrics.tasks, metrics.staged_jobs) == (1800, 4)
    assert metrics.jobs > 25
    assert metrics.vector_jobs > 10
    assert metrics.queries > 5
    assert 0 < metrics.used_share < 1
    assert metrics.cost_usd > 0
    assert 0 < metrics.query_accuracy <= 1
    assert 0 <= metrics.admit_downtime < 1
    assert metrics.mean_task_response_s > 0
    table = outcome.jobs
    assert set(table["kind"]) == {"job", "staged job", "vector job", "query", "task"}
    assert set(table.filter(table["kind"] == "task")["site"]) == {"iowa", "sydney"}
    late = table.filter((table["kind"] != "query") & (table["start_s"] < table["submit_s"]))
    assert late.is_empty()
    shares = [each for each in outcome.series if each.percent]
    assert [each.name for each in shares] == ["cores in use at iowa", "cores in use at sydney"]
    assert all(len(each.time) == 61 and (each.value <= 1).all() for each in shares)


def test_dispatch_counts_on_what_nodes_have_while_others_hold_all_their_cores():
    """With all possible instances guaranteed, a policy with benchmark tasks would send tens of thousands."""
    chosen = setting("web", policies={"dispatch": "rosella"})
    speeds = {"iowa": 6 * 8 * 1.0, "sydney": 3 * 16 * 1.5}
    assert {site: chosen.guaranteed(site) for site in SITES} == {
        site: pytest.approx(chosen.floor * speed) for site, speed in speeds.items()
    }
    quarter = setting("web", floor=0.25, policies={"dispatch": "rosella"})
    assert quarter.guaranteed("sydney") == pytest.approx(0.25 * speeds["sydney"])


def named(kernel):
    return f"{kernel.python.__module__}.{kernel.python.__qualname__}"


def test_the_kernels_of_a_cluster_of_all_loads_are_announced(monkeypatch):
    """Otherwise they are compiled in the middle of the run, without a progress display."""
    announced, called = announced_and_called_kernels(ClusterWorld(), setting(policies=ALL), monkeypatch)
    assert sorted(named(kernel) for kernel in called - set(announced)) == []


def test_tasks_that_all_nodes_reject_are_forced_refused_or_spilled(tmp_path):
    # A job holds all cores of one site for half an hour, so that its nodes reject; the other site is idle.
    (tmp_path / "a.csv").write_text("submit,run,procs\n0,1800,48\n")
    log = {"rigid": {"trace": str(tmp_path / "a.csv")}, "at": ["iowa"]}
    loads = {"batch": log, "web": {"tasks": {"tasks": 2000, "load": 0.05}}}
    sites = {"iowa": NODES, "sydney": NODES}
    policies = {"dispatch": "jsq", "admit": {"utilisation": {"threshold": 0.8}}}
    found = {}
    for full in ("force", "refuse", "spill"):
        chosen = setting(sites=sites, loads=loads, policies=policies, telemetry={"full": full})
        arrivals, done = ran(chosen)
        metrics = outcome_of(chosen, 1, arrivals, done).metrics
        assert metrics.tasks == 4000
        found[full] = metrics
        ends = np.concatenate([each.result.end for each in done.tasks])
        assert np.isnan(ends).sum() == metrics.refused_tasks
    assert found["force"].refused_tasks == found["force"].spilled_tasks == found["refuse"].spilled_tasks == 0
    assert found["refuse"].refused_tasks > 100
    assert found["spill"].spilled_tasks > 100
    assert found["spill"].refused_tasks < found["refuse"].refused_tasks
    assert found["refuse"].mean_task_response_s < found["force"].mean_task_response_s


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others():
    tables = [run(make_scenario(tree(policies=ALL, seeds=[seed]))).jobs() for seed in (1, 1, 2)]
    assert tables[0].equals(tables[1])
    assert not tables[0].drop("seed").equals(tables[2].drop("seed"))


def test_a_load_that_is_left_out_changes_no_arrivals_of_the_others():
    whole, few = draw_arrivals(setting(), 1), draw_arrivals(setting("batch", "ml"), 1)
    assert few.rigid[0].drawn.jobs.jobs.submit.tolist() == whole.rigid[0].drawn.jobs.jobs.submit.tolist()
    assert few.vectors[0].drawn.jobs.run.tolist() == whole.vectors[0].drawn.jobs.run.tolist()
    first, second = (each.drawn.work for each in whole.tasks)
    assert (first / first.sum()).tolist() != (second / second.sum()).tolist()


def test_variants_that_leave_decisions_out_are_compared_and_named_by_them():
    scenario = make_scenario(tree(policies=ALL, without=[[], ["admit", "share"], ["scale"]]))
    assert [variant.name for variant in scenario.variants] == [
        "all decisions",
        "without share and admit",
        "without scale",
    ]
    assert {variant.point for variant in scenario.variants} == {""}
    chosen = [variant.setting.chosen() for variant in scenario.variants]
    assert chosen[0].share == PolicySpec(name="pairs")
    assert chosen[0].admit is not None
    assert chosen[1].share is None
    assert chosen[1].admit is None
    # A quarter of six instances, in whole numbers.
    assert chosen[2].scale == PolicySpec(name="static", parameters={"count": 1})
    world = ClusterWorld()
    assert len({world.workload_key(variant.setting, 1) for variant in scenario.variants}) == 1


def test_variants_are_named_by_the_policies_that_differ():
    scenario = make_scenario(tree("batch", policies={"order": ["easy", "fcfs"], "scale": "thrifty"}))
    assert [variant.name for variant in scenario.variants] == ["easy", "fcfs"]
    both = make_scenario(tree("batch", policies={"order": ["easy", "fcfs"]}, without=[[], ["order"]]))
    names = [variant.name for variant in both.variants]
    assert names == ["easy", "easy, without order", "fcfs", "fcfs, without order"]


def test_a_scenario_as_run_makes_the_same_variants():
    scenario = make_scenario(tree(policies=ALL, without=[[], ["share"]]))
    again = make_scenario(yaml.safe_load(scenario.as_run))
    assert [each.name for each in again.variants] == [each.name for each in scenario.variants]
    assert [each.setting for each in again.variants] == [each.setting for each in scenario.variants]


@pytest.mark.parametrize(
    ("left_out", "decision", "stands_in"),
    [
        ("plan", "plan", "fair"), ("order", "order", "fcfs"), ("place", "place", "in-place"),
        ("scale", "scale", "static(count=5)"), ("share", "share", "none"), ("dispatch", "dispatch", "round-robin"),
        ("admit", "admit", "none"),
    ],
)  # fmt: skip
def test_each_decision_has_something_that_stands_in_for_it(left_out, decision, stands_in):
    chosen = ClusterPoliciesSpec.model_validate(ALL).without((left_out,), {"iowa": 5})
    assert {choice.decision: choice.label for choice in chosen.choices()}[decision] == stands_in
    unchanged = [
        each for each in ClusterPoliciesSpec.model_validate(ALL).choices() if each.decision != decision
    ]
    assert [each for each in chosen.choices() if each.decision != decision] == unchanged


def test_an_order_of_staged_jobs_stands_back_with_place_and_stays_without_order():
    policies = ClusterPoliciesSpec.model_validate({"order": {"rigid": "easy", "staged": "swag"}})
    assert [choice.policy for choice in policies.choices()][1:3] == ["easy", "swag"]
    assert policies.without(("place",), {}).order.staged is None
    assert policies.without(("order",), {}).order.staged == PolicySpec(name="swag")
    assert policies.without(("order",), {}).of("order") == PolicySpec(name="fcfs")


def test_each_site_keeps_its_own_number_of_instances_without_scale():
    sites = {name: {**NODES, "instances": {**INSTANCES, "base": base}} for name, base in (("a", 1), ("b", 4))}
    chosen = setting(
        "batch", sites=sites, without=["scale"], policies={"at": {"b": {"order": "sjf", "scale": "thrifty"}}}
    )
    found = chosen.chosen()
    assert [found.of("scale", site).parameters for site in ("a", "b")] == [{"count": 1}, {"count": 4}]
    assert found.of("order", "b") == PolicySpec(name="sjf")
    assert found.of("order", "a") == PolicySpec(name="easy")
    assert [choice.label for choice in chosen.choices() if choice.stands_in] == ["static"]


def test_without_scale_tasks_run_on_no_instance_but_those_that_are_kept():
    sites = {"iowa": {**NODES, "instances": {**INSTANCES, "base": 1}}}
    _, done = ran(setting("web", sites=sites, without=["scale"], policies={"dispatch": "round-robin"}))
    # Six nodes, and the first of six instances.
    assert set(done.tasks[0].result.worker.tolist()) == set(range(7))
    assert len(done.scaled[0].result.launches.kind) == 1


def test_one_decision_may_be_left_out_without_a_list():
    scenario = make_scenario(tree("batch", policies=ALL, without=[[], "share", ["admit", "share"]]))
    assert [variant.setting.without for variant in scenario.variants] == [(), ("share",), ("share", "admit")]


def test_policies_of_a_site_replace_those_of_all_and_null_leaves_one_out():
    policies = ClusterPoliciesSpec.model_validate(
        {"order": "easy", "share": "pairs", "at": {"sydney": {"share": None, "order": "sjf"}}}
    )
    assert policies.of("share", "sydney") is None
    assert policies.of("share", "iowa") == PolicySpec(name="pairs")
    assert policies.of("order", "sydney") == PolicySpec(name="sjf")
    without = policies.without(("order",), {})
    assert without.of("order", "sydney") == PolicySpec(name="fcfs")
    assert without.of("share", "sydney") is None


def test_instances_serve_staged_jobs():
    small = {"types": [{"name": "small", "cores": 4, "price": 0.4, "launch": 60, "most": 6}]}
    few = {"nodes": [{"count": 1, "cores": 2}]}
    loads = {"etl": {"staged": {"drawn": {"jobs": 4, "tasks": 60}}}}
    ends = {}
    for name, site in (("with", {**few, "instances": small}), ("without", few)):
        _, done = ran(setting(sites={"iowa": site, "sydney": few}, loads=loads, look=10))
        ends[name] = done.staged[0].result.end.max()
        if name == "with":
            launches = done.scaled[0].result.launches
            assert len(launches.kind) > 0
            assert done.scaled[0].result.finish == ends["with"]
    assert ends["with"] < ends["without"]


def test_instances_with_gpus_do_not_serve_staged_jobs():
    gpus = {"types": [{"name": "gpu", "cores": 4, "gpus": 1, "price": 2.0, "most": 2}]}
    loads = {"etl": {"staged": {"drawn": {"jobs": 2, "tasks": 6}}}}
    _, done = ran(setting(sites={"iowa": {**NODES, "instances": gpus}}, loads=loads))
    assert len(done.scaled[0].result.launches.kind) == 0


def test_swag_orders_staged_jobs():
    chosen = setting("etl", policies={"order": {"staged": "swag"}})
    _, done = ran(chosen)
    assert not np.isnan(done.staged[0].result.end).any()


def test_rows_of_the_ledger_are_sites_then_cameras_then_the_cloud():
    sites = setting().sites
    assert ledger_rows(sites, TierSpec(cores=9)) == [[8] * 6 + [4] * 6, [16] * 3, [2], [2], [9]]
    assert sites["sydney"].speeds().tolist() == [24.0] * 3
    assert sites["iowa"].capacity == 48.0
    found = tiers_of(sites, TierSpec(), ["sydney", "iowa"])
    assert [each.name for each in found.hierarchy.clusters] == ["iowa-1", "iowa-2", "iowa", "sydney", "cloud"]
    assert found.at == (2, 3, 0, 1, 4)


def test_kept_cores_are_not_for_batch_jobs():
    site = ClusterSiteSpec.model_validate({**NODES, "keeps": {"tasks": 0.1, "queries": 5}})
    # One of the eight cores of each node is kept for tasks.
    assert (site.left, site.for_jobs) == (42, 37)
    arrivals, done = ran(setting("batch", "web", sites={"iowa": {**NODES, "keeps": {"tasks": 0.1}}}))
    assert arrivals.rigid[0].drawn.jobs.jobs.procs.max() <= 42
    assert len(done.tasks[0].result.response) == 900


def test_a_job_that_no_instance_has_room_for_next_to_kept_cores_is_refused():
    site = {**NODES, "instances": INSTANCES, "keeps": {"tasks": 0.1}}
    wide = {"vectors": {"drawn": {"per_hour": 60, "shapes": [{"cores": 4}]}}}
    with pytest.raises(InputError, match="a job requests 4 cores, but an instance of iowa has 3 at most"):
        ran(setting(sites={"iowa": site}, loads={"ml": wide}))


def test_measured_links_are_those_of_regions_that_sites_name(tmp_path):
    table = tmp_path / "wan.csv"
    table.write_text("src_region,dst_region,throughput_bits_per_s\naws:x,b,8e6\nb,aws:x,16e6\n")
    nodes = {"a": {**NODES, "region": "aws:x"}, "b": NODES}
    sites = {name: ClusterSiteSpec.model_validate(site) for name, site in nodes.items()}
    links = setting("etl", sites=nodes, links={"throughput": str(table), "machines": 2.0}).links
    fleet = fleet_of(sites, links, ["a", "b"])
    assert fleet.up.tolist() == [2e6, 4e6]
    assert fleet.pair[0, 1] == 2e6


def test_arrivals_are_within_the_time():
    assert Span(10.0).within(np.array([0.0, 5.0, 10.0]), 0.0).tolist() == [True, True, False]
    assert early_notes(80.0, 100.0, "x") == ()
    assert early_notes(79.0, 100.0, "x") != ()


def test_a_site_of_which_nothing_arrives_is_noted_and_a_load_of_which_nothing_arrives_is_refused(tmp_path):
    log = tmp_path / "a.csv"
    log.write_text("submit,run,procs\n0,10,1\n5,10,1\n")
    quiet = {"batch": {"rigid": {"trace": str(log)}}, "ml": {"vectors": {"drawn": {"per_hour": 1.0}}}}
    sites = {name: {**NODES, "instances": INSTANCES} for name in ("iowa", "oslo", "rome")}
    arrivals = draw_arrivals(setting(sites=sites, loads=quiet, seconds=2400), 2)
    assert 0 < len(arrivals.missing) < 3
    assert [note for note in arrivals.notes() if "nothing arrives" in note] == [
        f"{name}: nothing arrives within the simulated time" for name in arrivals.missing
    ]
    with pytest.raises(InputError, match=r"loads.ml: nothing arrives from begin, 36000 s, for 1 s"):
        draw_arrivals(setting(sites=sites, loads=quiet, seconds=1), 1)


def test_generated_loads_begin_at_the_time_of_day():
    early, late = (draw_arrivals(setting("batch", "ml", begin=begin), 1) for begin in (0, 600))
    for kind in ("rigid", "vectors"):
        first, second = (getattr(each, kind)[0].drawn.jobs for each in (early, late))
        first, second = (getattr(each, "jobs", each) for each in (first, second))
        shifted = first.submit[first.submit >= 600] - 600
        assert len(shifted) > 3
        assert second.submit[: len(shifted)].tolist() == shifted.tolist()


def test_short_tasks_have_the_load_and_fill_the_time():
    drawn = draw_short_tasks(
        ShortTasksSpec(tasks=1000, load=0.3, service="pareto"), 50.0, 200.0, RandomStreams(1), "web@a"
    )
    assert drawn.submit[-1] == pytest.approx(200.0)
    assert (np.diff(drawn.submit) >= 0).all()
    assert drawn.work.sum() == pytest.approx(0.3 * 50.0 * 200.0)
    jobs = draw_short_tasks(
        ShortTasksSpec(tasks=1000, tasks_per_job=4), 50.0, 200.0, RandomStreams(1), "web@a"
    )
    assert len(np.unique(jobs.submit)) == 250


def test_staged_jobs_arrive_within_the_time():
    case = draw_staged(StagedSpec(), Fleet.of(slots=[40, 40]), 1000.0, RandomStreams(1), "etl")
    assert case.jobs.submit[0] == 0.0
    assert case.jobs.submit[-1] == pytest.approx(990.0)


def test_jobs_of_a_log_begin_at_zero_and_early_ends_are_noted(tmp_path):
    log = tmp_path / "a.csv"
    log.write_text("submit,run,procs\n500,10,1\n520,10,2\n9000,10,2\n")
    spec = RigidSpec(trace=log)
    found = draw_rigid(spec, 64, 4e9, Span(3600.0, begin=7200.0), RandomStreams(1), "batch@a")
    assert found.jobs.jobs.submit.tolist() == [0.0, 20.0]
    assert not any("the last arrival" in note for note in found.jobs.notes)
    longer = draw_rigid(spec, 64, 4e9, Span(36000.0), RandomStreams(1), "batch@a")
    assert longer.jobs.jobs.submit.tolist() == [0.0, 20.0, 8500.0]
    assert (
        longer.jobs.notes[-1]
        == "batch@a: the last arrival is at 8,500 s of 36,000 s; raise its jobs, or lower seconds"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"loads": {"web": {"tasks": {}, "vectors": {"drawn": {}}}}}, "found tasks and vectors"),
        ({"loads": {"web": {}}}, "rigid, tasks, staged, vectors, queries, neighbours, part, found none"),
        ({"loads": {"a": {"neighbours": {}}, "b": {"neighbours": {}}}}, "already has the neighbours of loads.a"),
        ({"sites": {"iowa": {**NODES, "outages": [{"node": 9, "down": 1}]}}}, "outages.0.node is 9, expected 0 to"),
        ({"sites": {"iowa": {"nodes": [{"count": 10**12, "cores": 1}]}}}, "iowa: nodes and instances: 1,000,000,000"),
        ({"sites": {"iowa": {**NODES, "cameras": {"count": 10**12}}}}, "iowa: cameras: 1,000,000,000,000 workers"),
        ({"loads": {"web": {"tasks": {}, "at": []}}}, "at: the list is empty"),
        ({"loads": {"web": {"tasks": {}, "at": ["rome"]}}}, "loads.web.at: no site 'rome', expected one of iowa"),
        ({"loads": {"web": {"tasks": {}}, "api": {"tasks": {}}}}, "loads.api: site iowa already has the short tasks"),
        ({"loads": {"ml": {"vectors": {"drawn": {}}}}}, "loads.ml: site sydney has no instances"),
        ({"loads": {"cams": {"queries": {}, "at": ["sydney"]}}}, "loads.cams: its sites have no cameras"),
        ({"loads": {"a": {"queries": {}}, "b": {"queries": {}}}}, "loads.b: loads.a already has queries"),
        (
            {"loads": {"cams": {"queries": {"fractions": True}}, "web": {"tasks": {}}}},
            "loads.cams.queries.fractions is true, expected false",
        ),
        ({"loads": {"cams": {"queries": {"seconds": 5}}}}, "seconds: queries start and end within"),
        ({"loads": {"etl": {"staged": {"drawn": {"load": 0.5}}}}}, "load: the number of jobs"),
        ({"loads": {"a.b": {"tasks": {}}}}, "loads: 'a.b' is no valid name"),
        ({"sites": {"io wa": NODES}}, "sites: 'io wa' is no valid name"),
        ({"sites": {"iowa": {"like": "rome"}}}, "sites.iowa.like is 'rome'"),
        ({"sites": {"iowa": {**NODES, "keeps": {"queries": 48}}}}, "keeps.queries is 48, expected fewer than the 48"),
        ({"sites": {"iowa": {**NODES, "instances": {"types": [{"name": "s", "cores": 1.5}]}}}}, "expected whole cores"),
        ({"policies": {"at": {"rome": {"order": "fcfs"}}}}, "policies.at: no site 'rome'"),
        ({"policies": {"place": "tetrium", "order": {"staged": "swag"}}}, "place 'tetrium' orders staged jobs itself"),
        ({"loads": {"ml": {"vectors": {"drawn": {}, "earlier": 9}}}}, "earlier is 9, expected 0"),
        ({"loads": {"b": {"rigid": {"trace": "a.swf", "ran": "easy"}}}}, "ran: a cluster is not compared"),
        ({"without": [["sleep"]]}, "without"),
        ({"policies": {"at": {"iowa": {"dispatch": None}}}}, "dispatch: null, expected a policy"),
        ({"policies": {"dispatch@iowa": None}}, "dispatch: null, expected a policy"),
        ({"policies": {"order@rome": "fcfs"}}, "policies.at: no site 'rome'"),
        ({"policies": {"nap@iowa": "fcfs"}}, "policies.at.iowa.nap: no such field"),
        ({"seconds": "some"}, "seconds: expected a number above 0, or 'all'"),
        ({"seconds": float("inf")}, "seconds: expected a number above 0, or 'all'"),
        ({"seconds": True}, "seconds: expected a number"),
        ({"seconds": "all", "loads": {"cams": {"queries": {}}}}, "loads.cams is spread over the simulated time"),
        ({"streams": {"batch@iowa": -1}}, "streams.batch@iowa.0: expected at least 0, found -1"),
        ({"sites": {"iowa": {}}}, "nodes: missing, expected nodes, processors or instances"),
        ({"sites": {"iowa": {**NODES, "processors": 4}}}, "expected nodes or processors, found both"),
        ({"sites": {"iowa": {"instances": INSTANCES}}}, "loads.batch: site iowa has no nodes, on which"),
        ({"loads": {"b": {"rigid": {"lublin": {"load": 0.5}, "load": 0.6}}}}, "load: lublin.load is given as well"),
        (
            {"policies": {"order": {"estimates": "perfect"}, "share": "pairs"}},
            "estimates is 'perfect', expected 'requested' at site iowa, where jobs share",
        ),
        ({"policies": {"order.estimates": "history"}}, "'requested' or 'perfect' at site iowa, which has outages"),
    ],
)  # fmt: skip
def test_errors_name_the_field_and_what_was_expected(changes, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        make_scenario({**tree("batch"), **changes})


def test_like_replaces_nodes_by_processors():
    sites = {"iowa": SITES["iowa"], "oslo": {"like": "iowa", "processors": 64}}
    found = setting("batch", sites=sites).sites["oslo"]
    assert (found.nodes, found.rows()[:2], found.for_jobs) == ((), [64, 4], 64)


def test_true_run_times_move_no_end_beyond_the_request_and_are_a_bound():
    # Requests are up to five times the run time, so that backfilling differs.
    variants = {
        "own": {},
        "bound": {"policies": {"order": {"estimates": "perfect"}}},
        "old": {"without": "order"},
    }
    crowded = {"batch": {"rigid": {"lublin": {"jobs": 300, "load": 0.9}}}}
    scenario = make_scenario(
        tree("batch", sites={"iowa": NODES}, loads=crowded, seconds="all", begin=0, variants=variants)
    )
    found = run(scenario).variants
    assert [each.bound for each in found] == [False, True, False]
    assert [each.choices[1].label for each in found] == ["easy", "easy(estimates=perfect)", "fcfs"]
    own, bound = (each.outcomes[0].jobs for each in found[:2])
    # The table has the requests of the log.
    assert own["request_s"].to_list() == bound["request_s"].to_list()
    assert own["start_s"].to_list() != bound["start_s"].to_list()
    lasted = [(table["end_s"] - table["start_s"]).to_numpy() for table in (own, bound)]
    assert np.allclose(*lasted, rtol=0, atol=1e-6)


def test_a_bound_at_one_site_is_a_bound_and_does_not_win():
    policies = {"scale": "reactive", "share": None, "at": {"sydney": {"share": "oracle"}}}
    chosen = setting("batch", policies=policies)
    assert [choice.decision for choice in chosen.choices() if choice.bound] == ["share"]


@pytest.mark.parametrize("decision", ["dispatch", "admit"])
def test_a_bound_of_policies_for_short_tasks_is_better_and_does_not_win(decision):
    variants = {"own": {}, "bound": {"bound_of": decision}}
    busy = {
        "batch": {"rigid": {"lublin": {"jobs": 900, "load": 8.0}}},
        "web": {"tasks": {"tasks": 400, "load": 0.1}},
    }
    fields = {"sites": {"iowa": NODES}, "loads": busy}
    results = run(make_scenario(tree("batch", **fields, variants=variants)))
    own, bound = results.variants
    assert (own.bound, bound.bound) == (False, True)
    assert [choice.decision for choice in bound.choices if choice.bound] == [decision]
    first, second = (each.outcomes[0].metrics for each in results.variants)
    assert second.mean_task_response_s < first.mean_task_response_s
    assert second.mean_job_wait_s == first.mean_job_wait_s
    assert best_row(results.variants, "mean_task_response_s", -1) == 0


def test_variants_are_named_by_the_decision_of_which_they_are_a_bound():
    found = make_scenario(tree("batch", bound_of=[None, "plan", "admit"], without=[[], "order"])).variants
    assert [variant.name for variant in found] == [
        *("all decisions", "without order"),
        *("bound of plan", "without order, bound of plan"),
        *("bound of admit", "without order, bound of admit"),
    ]


def test_a_bound_of_place_sees_true_durations_and_does_not_win():
    loads = {"etl": {"staged": {"drawn": {"jobs": 40, "tasks": 20}}}}
    knows = {"etl": {"staged": {**loads["etl"]["staged"], "durations": "true"}}}
    fields = {"policies": {"place": "tetrium"}}
    variants = {"own": {}, "bound": {"bound_of": "place"}}
    own, bound = run(make_scenario(tree("etl", **fields, loads=loads, variants=variants))).variants
    assert (own.bound, bound.bound) == (False, True)
    assert [choice.decision for choice in bound.choices if choice.bound] == ["place"]
    (true,) = run(make_scenario(tree("etl", **fields, loads=knows))).variants
    first, second, third = (each.outcomes[0].metrics.mean_staged_response_s for each in (own, bound, true))
    assert second == third != first
    assert best_row((own, bound), "mean_staged_response_s", -1) == 0


def test_a_bound_of_plan_has_room_for_all_queries():
    variants = {"own": {}, "bound": {"bound_of": "plan"}}
    sites = {"iowa": {"nodes": [{"count": 1, "cores": 1}], "cameras": {"count": 2}}}
    many = {"cameras": {"queries": {"per_hour": 60, "last": 900}}}
    fields = {"policies": {"plan": "cascade"}, "cloud": {"cores": 1}, "variants": variants}
    own, bound = run(make_scenario(tree("cameras", sites=sites, **fields, loads=many))).variants
    assert (own.bound, bound.bound) == (False, True)
    # The same queries arrive, and each gets a better configuration.
    assert own.outcomes[0].metrics.queries == bound.outcomes[0].metrics.queries
    assert own.outcomes[0].metrics.query_accuracy < bound.outcomes[0].metrics.query_accuracy


def test_an_autoscaler_that_knows_the_jobs_launches_ahead_of_them():
    variants = {name: {"policies": {"scale": name}} for name in ("reactive", "clairvoyant")}
    instances = {"types": [{"name": "small", "cores": 2, "launch": 300, "most": 40}], "idle": 60}
    sites = {"iowa": {"nodes": [{"count": 1, "cores": 1}], "instances": instances}}
    found = run(make_scenario(tree("ml", sites=sites, period=60, look=60, variants=variants))).variants
    waits = {each.name: each.outcomes[0].metrics.mean_vector_wait_s for each in found}
    assert waits["clairvoyant"] < 0.4 * waits["reactive"]
    assert [each.name for each in found if each.bound] == ["clairvoyant"]
    # At a site without such jobs, it knows nothing and still runs.
    both = {"iowa": sites["iowa"], "rome": sites["iowa"]}
    assert run(make_scenario(tree("ml", sites=both, policies={"scale": "clairvoyant"}))).variants[0].bound


def test_like_takes_the_fields_of_another_site_and_keeps_its_own():
    sites = {"iowa": SITES["iowa"], "oslo": {"like": "iowa", "nodes": [{"count": 1, "cores": 2}]}}
    found = setting("batch", sites=sites).sites
    assert found["oslo"].cameras == found["iowa"].cameras
    assert found["oslo"].count == 1


def test_a_list_within_a_list_is_one_value_of_a_sweep():
    scenario = make_scenario(tree("batch", without=[[], ["order"], ["order", "plan"]], seconds=[1800, 3600]))
    assert len(scenario.variants) == 6
    assert {variant.point for variant in scenario.variants} == {"seconds=1800", "seconds=3600"}
    assert isinstance(scenario.variants[0].setting, ClusterSetting)


def test_no_policy_and_no_load_of_another_kind_changes_what_arrives():
    one, other = (setting(policies=policies) for policies in ({}, ALL))
    first, second = draw_arrivals(one, 3), draw_arrivals(other, 3)
    assert first.tasks[1].drawn.work.tolist() == second.tasks[1].drawn.work.tolist()
    assert replace(first.rigid[0], load="x").site == "iowa"
    assert first.rigid[0].name == "batch@iowa"


def test_the_calendar_of_a_log_begins_with_the_simulated_time(tmp_path):
    job = "{} {} 5 60 4 -1 -1 4 90 -1 1 17 3 -1 1 -1 -1 -1\n"
    for name, zone in (("a.swf", "Europe/Paris"), ("b.swf", "Europe/London")):
        header = f"; UnixStartTime: 1132444805\n; TimeZoneString: {zone}\n"
        (tmp_path / name).write_text(header + job.format(1, 86_400) + job.format(2, 86_460))
    a, b = ({"rigid": {"trace": str(tmp_path / name)}} for name in ("a.swf", "b.swf"))
    lublin = {"rigid": {"lublin": {"jobs": 20, "load": 0.2}}}

    def calendar(**loads):
        tree = {"world": "cluster", "sites": {"iowa": NODES}, "loads": loads}
        return run(make_scenario(tree)).variants[0].outcomes[0].calendar

    found = calendar(batch=a, more=lublin)
    assert (found.zone, found.text(0.0)) == ("Europe/Paris", "Mon 2005-11-21 01:00:05")
    # Logs of two calendars have no common dates.
    assert calendar(batch=a, other=b) is None
    assert calendar(more=lublin) is None

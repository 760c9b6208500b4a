"""Sites and flows of a cluster equal the results of its loads, and their sums equal the metrics of the loads."""

import numpy as np
import pytest

from tests.worlds.test_cluster import ALL, LOADS, NODES, ran, setting
from tests.worlds.test_cluster_cores import CALM
from windlass.experiment.worlds.cluster.outcome import outcome_of
from windlass.results import Outcome, Results, VariantResult

BIG = {**LOADS, "etl": {"staged": {"drawn": {"jobs": 8, "tasks": 40}}}}


@pytest.fixture(scope="module")
def case():
    chosen = setting(sites={**CALM, "rome": {**NODES, "cameras": {"count": 1}}}, loads=BIG, policies=ALL)
    arrivals, done = ran(chosen)
    return chosen, done, outcome_of(chosen, 1, arrivals, done)


def test_sent_data_of_staged_jobs_sums_to_their_metric_and_is_that_of_each_pair(case):
    chosen, done, outcome = case
    flows = [each for each in outcome.site_map.flows if each.load == "etl"]
    assert sum(each.sent_bytes for each in flows) == pytest.approx(1e9 * outcome.metrics.sent_gb, rel=1e-9)
    assert outcome.metrics.sent_gb > 0
    run, names = done.staged[0].result, list(chosen.sites)
    for each in flows:
        assert each.source != each.target
        assert each.tasks == 0
        assert each.sent_bytes == run.carried[names.index(each.source), names.index(each.target)]


def test_data_of_queries_goes_from_sites_with_queries_to_the_cloud():
    tight = {**NODES, "nodes": [{"count": 1, "cores": 3}], "cameras": {"count": 2}}
    many = {"cameras": {"queries": {"per_hour": 60, "last": 900}}}
    chosen = setting(sites={"oslo": NODES, "iowa": tight, "rome": tight}, loads=many)
    arrivals, done = ran(chosen)
    outcome = outcome_of(chosen, 1, arrivals, done)
    course = done.queries[0].result.course
    # Clusters: four cameras, the three sites, the cloud.
    seconds = np.diff(course.time)
    expected = {
        name: float(sum(own * sent for own, sent in zip(seconds, course.sent[:, 4 + place], strict=True)))
        for place, name in enumerate(chosen.sites)
    }
    found = {each.source: each.sent_bytes for each in outcome.site_map.flows if each.load == "cameras"}
    assert {each.target for each in outcome.site_map.flows if each.load == "cameras"} == {"cloud"}
    assert found == {name: pytest.approx(sent) for name, sent in expected.items() if sent > 0}
    assert set(found) == {"iowa", "rome"}
    held = sum(own * cores for own, cores in zip(seconds, course.held[:, -1], strict=True))
    assert outcome.site_map.sites[-1].used_share == pytest.approx(held / (64 * 3600))
    assert held > 0


def test_sites_have_their_cores_and_the_share_that_loads_hold(case):
    chosen, done, outcome = case
    *sites, cloud = outcome.site_map.sites
    assert [each.name for each in sites] == list(chosen.sites)
    samples = done.samples[0].result
    for place, each in enumerate(sites):
        assert each.cores == pytest.approx(sum(samples.capacity[:, place].tolist()) / 60)
        held = [sum(own[:, place].tolist()) for own in samples.by_load.values()]
        assert each.used_share == pytest.approx(sum(held) / sum(samples.capacity[:, place].tolist()))
    cores, used = np.array([[each.cores, each.used_share] for each in sites]).T
    assert (cores * used).sum() / cores.sum() == pytest.approx(outcome.metrics.used_share)
    course = done.queries[0].result.course
    held = float(np.diff(course.time) @ course.held[:, -1])
    assert (cloud.name, cloud.cores) == ("cloud", 64.0)
    assert cloud.used_share == pytest.approx(held / (64 * 3600))


def test_spilled_tasks_are_counted_by_pair_and_sum_to_their_metric(tmp_path):
    (tmp_path / "a.csv").write_text("submit,run,procs\n0,1800,48\n")
    log = {"rigid": {"trace": str(tmp_path / "a.csv")}, "at": ["iowa", "oslo"]}
    loads = {"batch": log, "web": {"tasks": {"tasks": 2000, "load": 0.05}}}
    policies = {"dispatch": "jsq", "admit": {"utilisation": {"threshold": 0.8}}}
    chosen = setting(
        sites={"iowa": NODES, "oslo": NODES, "rome": NODES},
        loads=loads,
        policies=policies,
        telemetry={"full": "spill"},
    )
    arrivals, done = ran(chosen)
    outcome = outcome_of(chosen, 1, arrivals, done)
    flows = {(each.source, each.target): each.tasks for each in outcome.site_map.flows}
    assert sum(flows.values()) == outcome.metrics.spilled_tasks > 100
    assert {each.load for each in outcome.site_map.flows} == {"web"}
    assert all(each.sent_bytes == 0.0 for each in outcome.site_map.flows)
    # The log holds all cores of the other two sites; each tries the sites in the order of the scenario.
    assert min(flows["iowa", "rome"], flows["oslo", "rome"]) > 50
    assert not [pair for pair in flows if pair[0] == "rome"]
    for each in done.tasks:
        others = [name for name in ("iowa", "oslo", "rome") if name != each.site]
        for place, other in enumerate(others):
            count = sum(1 for at in each.result.site.tolist() if at == place)
            assert flows.get((each.site, other), 0) == count


def test_flows_are_a_table_of_their_own_and_are_saved(case, tmp_path):
    outcome = case[2]
    results = Results("s", "name: s\n", (VariantResult("all", (), (outcome,)),))
    table = results.flows()
    assert table.columns == ["variant", "seed", "load", "source", "target", "sent_bytes", "tasks"]
    assert table.filter(table["load"] == "etl")["sent_bytes"].sum() == pytest.approx(
        1e9 * outcome.metrics.sent_gb
    )
    results.save(tmp_path)
    assert (tmp_path / "flows.parquet").exists()
    bare = Outcome(1, outcome.metrics, outcome.jobs, 8)
    none = Results("s", "name: s\n", (VariantResult("all", (), (bare,)),))
    assert none.flows().is_empty()
    none.save(tmp_path / "none")
    assert not (tmp_path / "none" / "flows.parquet").exists()

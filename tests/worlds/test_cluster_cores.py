"""The cores of a cluster over time, by load, equal sums over the tables of jobs and tasks at each sample."""

import numpy as np
import pytest

from tests.worlds.test_cluster import ALL, LOADS, NODES, SITES, ran, setting
from windlass.experiment.worlds.cluster.core_series import core_series
from windlass.experiment.worlds.cluster.outcome import outcome_of

CALM = {name: {key: value for key, value in site.items() if key != "outages"} for name, site in SITES.items()}
CROWDED = {**LOADS, "batch": {"rigid": {"lublin": {"jobs": 900, "load": 4.0}}}}


def series_of(chosen, done):
    """Series by site and load, each a list of values; every one begins at 0 and ends with the arrivals."""
    found = {}
    for each in core_series(chosen, done):
        assert (each.time[0], each.time[-1], each.percent) == (0.0, 3600.0, False)
        assert each.time[:-1].tolist() == [60.0 * k for k in range(60)]
        found[each.site, each.load] = each.value.tolist()
    return found


def running(begin, end, cores):
    """The sum of the cores of all that run at each sample, one by one."""
    return [
        float(sum(own for b, e, own in zip(begin, end, cores, strict=True) if b <= t < e))
        for t in 60.0 * np.arange(60)
    ]


@pytest.fixture(scope="module", params=[{}, ALL])
def case(request):
    chosen = setting(sites=CALM, loads=CROWDED, policies={**request.param, "share": None})
    return chosen, ran(chosen)[1]


def test_cores_of_each_load_are_those_of_its_running_jobs_and_tasks(case):
    chosen, done = case
    found = series_of(chosen, done)
    for each in done.rigid:
        one = each.result
        assert found[each.site, "batch"] == running(one.start, one.end, one.jobs.procs)
        assert max(found[each.site, "batch"]) > 10
    (scaled,) = done.scaled
    assert found["iowa", "ml"] == running(
        scaled.result.start, scaled.result.end, np.ceil(scaled.result.jobs.resources[:, 1])
    )
    staged = done.staged[0].result
    for place, site in enumerate(chosen.sites):
        here = staged.site == place
        assert found[site, "etl"] == running(staged.begun[here], staged.computed[here], np.ones(here.sum()))
    course = done.queries[0].result.course
    # Clusters of queries are two cameras, iowa and the cloud; sydney has no cameras.
    at = np.searchsorted(course.time, 60.0 * np.arange(60), side="right") - 1
    within = (at >= 0) & (at < len(course.held))
    held = np.where(within, course.held[np.clip(at, 0, len(course.held) - 1), 2], 0.0)
    assert found["iowa", "cameras"] == np.ceil(held).tolist()
    launches, kinds = scaled.result.launches, scaled.result.fleet.types
    of_instances = running(
        launches.ready, np.nan_to_num(launches.gone, nan=np.inf), [kinds[k].cores for k in launches.kind]
    )
    assert found["iowa", ""] == [48.0 + own for own in of_instances]
    assert found["sydney", ""] == [48.0] * 60


def test_all_loads_together_have_at_most_the_capacity_and_at_least_the_cores_in_use(case):
    chosen, done = case
    found, samples = series_of(chosen, done), done.samples[0].result
    for place, site in enumerate(chosen.sites):
        loads = np.sum([value for (at, load), value in found.items() if at == site and load], axis=0)
        assert (loads <= found[site, ""]).all()
        assert (loads - samples.busy[:, place]).tolist() == samples.held[:, place].tolist()


def test_tasks_use_all_cores_of_the_nodes_that_run_one_if_no_other_load_does():
    busy = {"web": {"tasks": {"tasks": 900, "load": 0.5}}}
    chosen = setting("web", sites={"iowa": NODES}, loads=busy)
    _, done = ran(chosen)
    tasks = done.tasks[0].result
    # Eight cores on each of six nodes, which run one task at a time.
    expected = running(tasks.start, tasks.end, np.full(len(tasks.start), 8.0))
    assert series_of(chosen, done)["iowa", "web"] == expected
    assert len(set(expected)) > 2


def test_cores_that_are_kept_for_tasks_are_theirs_while_none_runs():
    chosen = setting("web", sites={"iowa": {**NODES, "keeps": {"tasks": 0.2}}})
    _, done = ran(chosen)
    tasks = done.tasks[0].result
    # Two of eight cores are kept on each of six nodes; a task has the other six as well.
    idle = running(tasks.start, tasks.end, np.full(len(tasks.start), 6.0))
    assert series_of(chosen, done)["iowa", "web"] == [12.0 + own for own in idle]


@pytest.mark.matrix(0)
def test_cores_of_two_jobs_are_those_of_guests_and_no_other_load_has_them():
    chosen = setting(
        "batch", sites={"iowa": NODES}, loads={"batch": CROWDED["batch"]}, policies={"share": "static"}
    )
    _, done = ran(chosen)
    found, jobs, pairs = series_of(chosen, done), done.rigid[0].result, done.shared[0].result
    procs = jobs.jobs.procs
    shared = running(pairs.start, pairs.end, np.minimum(procs[pairs.host], procs[pairs.guest]))
    assert found["iowa", "batch, shared"] == shared
    assert max(shared) > 0
    # Each core of a guest is one of its host, so that jobs run on more cores than they hold.
    held = done.samples[0].result.held[:, 0]
    assert (np.array(found["iowa", "batch"]) + shared).tolist() == held.tolist()
    on_all = running(jobs.start, jobs.end, procs)
    assert [on - own for on, own in zip(on_all, shared, strict=True)] == held.tolist()


def test_the_outcome_has_a_series_for_each_site_and_load():
    chosen = setting("batch", "web", "ml", sites=CALM)
    arrivals, done = ran(chosen)
    found = outcome_of(chosen, 1, arrivals, done).series
    assert [(each.name, each.site, each.load) for each in found] == [
        ("cores in use at iowa", "", ""),
        ("cores in use at sydney", "", ""),
        ("cores of batch at iowa", "iowa", "batch"),
        ("cores of web at iowa", "iowa", "web"),
        ("cores of ml at iowa", "iowa", "ml"),
        ("cores at iowa", "iowa", ""),
        ("cores of batch at sydney", "sydney", "batch"),
        ("cores of web at sydney", "sydney", "web"),
        ("cores at sydney", "sydney", ""),
    ]

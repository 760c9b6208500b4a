"""The history of short tasks of a cluster: sites that rejected them, queues and times equal plain computations."""

import json
import math

import numpy as np
import pytest

from tests.worlds.explained_cluster import explained, run

SITES = {
    "iowa": {"nodes": [{"count": 4, "cores": 8}]},
    "oslo": {"nodes": [{"count": 2, "cores": 8}]},
    "rio": {"nodes": [{"count": 3, "cores": 4}], "outages": {"every": 300, "last": 60}},
}
DELAY = 0.25


def changes(dispatch, full, per_job=1):
    web = {"tasks": 3000, "load": 0.5, "tasks_per_job": per_job}
    return json.dumps(
        {
            "seconds": 600,
            "sites": SITES,
            "loads": {"batch": {"rigid": {"lublin": {"jobs": 900, "load": 9.0}}}, "web": {"tasks": web}},
            "policies": {"dispatch": dispatch, "admit": {"utilisation": {"threshold": 0.8}}},
            "telemetry": {"full": full, "delay": DELAY},
        }
    )


def arrivals_at(done, name):
    """Return (arrival, start, end, node) of each task that ran at a site, by plain loops."""
    names, found = list(SITES), []
    for each in done.tasks:
        result = each.result
        others = [other for other in names if other != each.site]
        for task, submit in enumerate(result.submit.tolist()):
            if math.isnan(result.end[task]):
                continue
            target = int(result.site[task]) if len(result.site) else -1
            at, here = submit, each.site
            for step in range(target + 1):
                at, here = at + DELAY, others[step]
            if here == name:
                found.append((at, result.start[task], result.end[task], int(result.worker[task])))
    return found


def chosen(done, site, refused=2, spilled=6, others=5):
    """Return tasks of a site: refused, spilled, and drawn ones."""
    result = next(each.result for each in done.tasks if each.site == site)
    lost, far = np.flatnonzero(np.isnan(result.end)), np.flatnonzero(result.site >= 0)
    drawn = np.random.default_rng(1).integers(0, len(result.end), others)
    tasks = [*lost[:refused], *far[:: max(len(far) // spilled, 1)], *drawn]
    return result, list(dict.fromkeys(int(each) for each in tasks))


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("dispatch", ["pull", "jsq"])
def test_sites_that_rejected_a_task_and_its_queue_equal_plain_computations(dispatch):
    text = changes(dispatch, "spill")
    _, _, done, _ = run(1, text)
    result, tasks = chosen(done, "iowa")
    histories = explained(tuple(("web", "iowa", task + 1) for task in tasks), 1, text)
    rejections, far = 0, 0
    for task, history in zip(tasks, histories, strict=True):
        submit, refused = float(result.submit[task]), math.isnan(result.end[task])
        tries = len(SITES) if refused else 2 + int(result.site[task])
        admits = [step for step in history.steps if step.decision == "admit"]
        assert [step.figures["site"] for step in admits] == list(SITES)[:tries]
        assert [step.at for step in admits] == [pytest.approx(submit + DELAY * n) for n in range(tries)]
        for place, step in enumerate(admits):
            observed = next(each.result for each in done.observed if each.site == step.figures["site"])
            row = int(step.at) - 1
            up = observed.present[row] if row >= 0 else np.ones(0, bool)
            if step.figures["site"] != "rio" and row >= 0:
                assert step.figures["nodes"] == up.sum()
                assert step.figures["accepting"] == (up & ~observed.rejects[row]).sum()
                assert step.figures["busy_most"] == np.nanmax(observed.channels[row, :, 0])
                assert step.figures["busy_least"] == np.nanmin(observed.channels[row, :, 0])
            assert ("reject it" in step.what) == (place < tries - 1 or refused)
            rejections += "reject it" in step.what
        if refused:
            assert len(history.steps) == len(admits)
            assert "it does not run" in admits[-1].why
            continue
        far += result.site[task] >= 0
        started = next(step for step in history.steps if "starts on" in step.what)
        assert (started.at, history.steps[-1].at) == (result.start[task], result.end[task])
        assert started.figures["node"] == result.worker[task]
        if admits[-1].figures["site"] == "rio":
            continue
        at, there = admits[-1].at, arrivals_at(done, admits[-1].figures["site"])
        node = int(result.worker[task])
        if dispatch == "pull":
            assert started.figures["waiting"] == sum(arrived < at < start for arrived, start, *_ in there)
            running = sum(start < at < end and where == node for _, start, end, where in there)
            assert started.figures["tasks"] == running
        else:
            queue = sum(arrived < at < end and where == node for arrived, _, end, where in there)
            assert started.figures["tasks"] == queue
    assert rejections > 5
    assert far > 2


def test_without_admission_a_task_goes_to_its_node_at_once():
    tree = json.loads(changes("jsq", "force"))
    del tree["policies"]["admit"]
    text = json.dumps(tree)
    _, _, done, _ = run(1, text)
    result, tasks = chosen(done, "rio", others=6)
    histories = explained(tuple(("web", "rio", task + 1) for task in tasks), 1, text)
    for task, history in zip(tasks, histories, strict=True):
        assert history.steps[0].decision == "dispatch"
        assert "goes to node" in history.steps[0].what
        assert history.steps[-1].figures["ran_s"] == result.end[task] - result.start[task]


def test_tasks_that_all_nodes_reject_are_forced_and_each_task_of_a_job_is_explained():
    text = changes("jsq", "force", per_job=3)
    _, _, done, _ = run(1, text)
    result = next(each.result for each in done.tasks if each.site == "iowa")
    observed = next(each.result for each in done.observed if each.site == "iowa")
    (full,) = np.flatnonzero(observed.rejects.all(axis=1))[:1]
    jobs = np.flatnonzero((result.submit[::3] >= full + 1) & (result.submit[::3] < full + 2))[:2] + 1
    assert len(jobs)
    for history in explained(tuple(("web", "iowa", int(job)) for job in jobs), 1, text):
        ends = sorted(float(each) for each in result.end[3 * int(history.job.split("/")[1]) - 3 :][:3])
        assert [step.at for step in history.steps if step.what.endswith("ends")] == ends
        admits = [step for step in history.steps if step.decision == "admit"]
        assert len(admits) == 3
        assert all("one of them gets it nevertheless" in step.why for step in admits)
        assert all(step.what.startswith(f"task {place}: ") for place, step in enumerate(admits, 1))

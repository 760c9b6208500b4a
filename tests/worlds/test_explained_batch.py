"""The history of batch jobs of a cluster: its figures equal plain computations on the tables of the run."""

import itertools
import json

import numpy as np
import pytest

from tests.worlds.explained_cluster import (
    TREE,
    attempts_of,
    batch_cores,
    explained,
    result_of,
    row_of,
    run,
    staged_cores,
    vector_cores,
)

#: The run takes five seconds, and that with recorders of jobs as well.
pytestmark = pytest.mark.matrix(0)

SEED = 2


def setup():
    """Return the results, the histories of some jobs by row, and all attempts."""
    _, _, done, _ = run(SEED)
    replay, shared = result_of(done.rigid, "batch", "iowa"), result_of(done.shared, "batch", "iowa")
    waits = np.argsort(replay.jobs.submit - replay.start)[:4].tolist()
    drawn = np.random.default_rng(1).integers(0, len(replay.jobs), 4).tolist()
    rows = [*waits, *replay.lost[:4].tolist(), *shared.guest[:2].tolist(), *shared.host[:2].tolist(), *drawn]
    rows = list(dict.fromkeys(rows))
    histories = explained(tuple(("batch", "iowa", int(replay.jobs.job[row])) for row in rows), SEED)
    return done, replay, dict(zip(rows, histories, strict=True)), attempts_of(replay)


@pytest.mark.slow
def test_the_figures_of_waits_equal_plain_computations():
    done, replay, histories, attempts = setup()
    waits = 0
    for row, history in histories.items():
        own = [each for each in attempts if each[0] == row]
        starts = [step for step in history.steps if step.what.startswith("starts")]
        assert [step.at for step in starts] == [start for _, _, start, _, _ in own]
        assert starts[-1].figures["reason"] == replay.reasons[replay.why[row]]
        assert all(step.figures["reason"] in replay.reasons or step.decision == "share" for step in starts)
        waiting = [step for step in history.steps if step.what == "waits"]
        assert [step.at for step in waiting] == [each[1] for each in own if each[2] > each[1]]
        for step in waiting:
            waits += 1
            at, figures = step.at, step.figures
            ahead = [each for each in attempts if (each[1], each[0]) < (at, row) and each[2] > at]
            assert figures["ahead"] == len(ahead)
            assert figures["ahead_cores"] == sum(replay.jobs.procs[each[0]] for each in ahead)
            assert figures["running"] == sum(start <= at < end for _, _, start, end, _ in attempts)
            held = figures["held"]
            assert held.get("batch@iowa", 0) == batch_cores(done, "batch", "iowa", at)
            assert held.get("etl", 0) == staged_cores(done, "etl", "iowa", at)
            assert held.get("ml@iowa", 0) == vector_cores(done, "ml", "iowa", at)
            assert figures["idle"] + sum(held.values()) == figures["cores"]
        for step in starts:
            ahead = [each for each in attempts if each[1] <= step.at < each[2] and each[0] != row]
            queued = next(each[1] for each in own if each[2] == step.at)
            assert step.figures["overtakes"] == sum((each[1], each[0]) < (queued, row) for each in ahead)
    assert waits > 5


def test_jobs_that_started_meanwhile_are_those_of_the_table():
    done, replay, histories, attempts = setup()
    shared, others, guests = result_of(done.shared, "batch", "iowa"), 0, 0
    for row, history in histories.items():
        for word in ("earlier", "later"):
            named = [(step.at, job) for step in history.steps for job in step.figures.get(word, ())]
            expected = [
                (start, int(replay.jobs.job[other]))
                for _, queued, begin, _, _ in [each for each in attempts if each[0] == row]
                for other, since, start, _, _ in attempts
                if other != row
                and queued <= start < begin
                and ((since, other) < (queued, row)) == (word == "earlier")
            ]
            assert sorted(named) == sorted(expected)
            others += len(expected)
        pairs = set(zip(shared.start.tolist(), replay.jobs.job[shared.guest].tolist(), strict=True))
        for step in history.steps:
            started = [*step.figures.get("earlier", ()), *step.figures.get("later", ())]
            assert all(((step.at, job) in pairs) == (step.decision == "share") for job in started)
            guests += len(started) if step.decision == "share" else 0
    assert others > 20
    assert guests > 0


def test_cores_of_a_wait_are_averaged_exactly():
    done, _replay, histories, attempts = setup()
    checked = 0
    for row, history in histories.items():
        for step in [step for step in history.steps if step.what.startswith("has waited")]:
            (queued,) = [each[1] for each in attempts if each[0] == row and each[2] == step.at]
            assert step.figures["waited_s"] == step.at - queued
            times = {queued, step.at}
            for _, _, begin, end, _ in attempts:
                times |= {each for each in (begin, end) if queued < each < step.at}
            ordered = sorted(times)
            total = sum(
                batch_cores(done, "batch", "iowa", begin) * (end - begin)
                for begin, end in itertools.pairwise(ordered)
            )
            mean = step.figures["mean_held"].get("batch@iowa", 0.0)
            assert mean == pytest.approx(total / (step.at - queued), rel=1e-9)
            assert 0.0 <= step.figures["enough_idle_s"] <= step.figures["waited_s"]
            checked += 1
    assert checked > 5


def test_a_shared_job_names_its_partners_and_quotas():
    done, replay, histories, _attempts = setup()
    shared, checked = result_of(done.shared, "batch", "iowa"), 0
    for row, history in histories.items():
        lines = [
            (float(shared.start[line]), int(shared.quota[line]), row == shared.guest[line])
            for line in range(len(shared.quota))
            if row in (shared.host[line], shared.guest[line])
        ]
        quotas = [step for step in history.steps if "quota" in step.figures]
        assert [(step.at, step.figures["quota"], step.figures["guest"]) for step in quotas] == sorted(lines)
        assert all(0.0 < step.figures["speed"] <= 1.0 for step in quotas if step.figures["quota"])
        assert all(step.policy == "pairs" for step in quotas)
        checked += len(quotas)
        last = history.steps[-1]
        slowdown = (replay.end[row] - replay.start[row]) / replay.jobs.run[row]
        assert last.figures.get("slowdown", slowdown) == pytest.approx(slowdown)
    assert checked > 2


def test_a_job_that_loses_its_cores_names_the_node():
    _, replay, histories, _ = setup()
    nodes = 0
    for row, history in histories.items():
        lost = [step for step in history.steps if step.what.startswith("loses")]
        assert [step.at for step in lost] == sorted(replay.lost_end[replay.lost == row].tolist())
        nodes += sum("fell from 8 to 0 cores" in step.why for step in lost)
        assert all(
            "fell from" in step.why or step.decision == "share" or "as a guest" in step.why for step in lost
        )
    assert nodes > 0


# The run is short: only batch jobs.
@pytest.mark.matrix(1)
def test_jobs_with_one_number_at_two_sites_are_told_apart():
    # The instances have no vector jobs.
    iowa = {name: TREE["sites"]["iowa"][name] for name in ("nodes", "instances")}
    sites = {"iowa": iowa, "sydney": {"nodes": TREE["sites"]["sydney"]["nodes"]}}
    loads = {"batch": TREE["loads"]["batch"]}
    changes = json.dumps({"seconds": 1800, "sites": sites, "loads": loads, "policies": {}})
    _, _, done, table = run(1, changes)
    replays = {site: result_of(done.rigid, "batch", site) for site in sites}
    both = np.intersect1d(*(replay.jobs.job for replay in replays.values()))[:3].tolist()
    assert len(both) == 3
    # The history of each is that of its own row, which `explained` checks.
    found = explained(tuple(("batch", site, job) for site in sites for job in both), 1, changes)
    assert [each.job for each in found] == [f"batch@{site}/{job}" for site in sites for job in both]
    starts = [row_of(table, "batch", site, job)["start_s"] for site in sites for job in both]
    assert [each.outcome["start_s"] for each in found] == starts
    assert len(set(starts)) == len(starts)

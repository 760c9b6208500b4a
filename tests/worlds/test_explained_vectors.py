"""The history of jobs for instances: what was up, starting and idle, and each decision, equal plain computations."""

import json
import math

import numpy as np

from tests.worlds.explained_cluster import explained, result_of, run


def changes(folder):
    """Return a cluster with jobs for instances alone, some of whose instances are interrupted or fail to boot."""
    trace = folder / "spot.json"
    trace.write_text(
        json.dumps({"metadata": {"gap_seconds": 300}, "data": [6, 6, 1, 6, 4, 0, 6, 6, 2, 6, 6, 6]})
    )
    instances = {
        "types": [{"name": "small", "cores": 4, "price": 0.4, "launch": 90, "most": 6}],
        "boot_failure": 0.2,
        "launch_spread": 0.3,
        "spot": {"trace": str(trace), "type": "small"},
    }
    drawn = {"per_hour": 90, "run": 300, "spread": 0.3, "shapes": [{"cores": 1}, {"cores": 3}]}
    return json.dumps(
        {
            "seconds": 3600,
            "look": 120,
            "sites": {"iowa": {"nodes": [{"count": 2, "cores": 8}], "instances": instances}},
            "loads": {"ml": {"vectors": {"drawn": drawn}}},
            "policies": {"scale": "reactive"},
            "telemetry": {},
        }
    )


def test_instances_and_decisions_of_a_wait_equal_plain_computations(tmp_path):
    text = changes(tmp_path)
    _, _, done, _ = run(1, text)
    scaled = result_of(done.scaled, "ml", "iowa")
    log, attempts, decisions = scaled.launches, scaled.attempts, scaled.decisions
    rows = list(
        dict.fromkeys(
            [
                *np.argsort(scaled.jobs.submit - scaled.start)[:6].tolist(),
                *[row for row in range(len(scaled.jobs)) if (attempts.job == row).sum() > 1][:4],
                *np.random.default_rng(1).integers(0, len(scaled.jobs), 4).tolist(),
            ]
        )
    )
    histories = explained(tuple(("ml", "iowa", int(scaled.jobs.job[row])) for row in rows), 1, text)
    waits = lost = launches = 0
    for row, history in zip(rows, histories, strict=True):
        own = [place for place, job in enumerate(attempts.job.tolist()) if job == row]
        own.sort(key=lambda place: attempts.began[place])
        starts = [step for step in history.steps if step.what.startswith("starts")]
        assert [step.at for step in starts] == [attempts.began[place] for place in own]
        assert [step.figures["launches"] for step in starts] == [[attempts.launch[place]] for place in own]
        for step in starts:
            (launch,) = step.figures["launches"]
            assert step.figures["launched_s"] == [log.launched[launch]]
            assert step.figures["ready_s"] == [log.ready[launch]]
            assert log.ready[launch] <= step.at
        ends = [step for step in history.steps if step.what.startswith(("ends", "loses"))]
        assert [step.at for step in ends] == [attempts.ended[place] for place in own]
        lost += len(ends) - 1
        for step in ends[:-1]:
            assert step.what.startswith("loses")
            assert "was interrupted" in step.why
        queued = float(scaled.jobs.submit[row])
        for place in own:
            began = attempts.began[place]
            found = [step for step in history.steps if step.what == "waits" and step.at == queued]
            assert len(found) == (began > queued)
            for step in found:
                waits += 1
                free, starting = [], 0
                for launch in range(len(log.kind)):
                    gone = log.gone[launch] <= queued
                    if log.ready[launch] <= queued and not gone:
                        jobs = [
                            attempts.job[each]
                            for each in range(len(attempts.job))
                            if attempts.launch[each] == launch
                            and attempts.began[each] <= queued < attempts.ended[each]
                        ]
                        free.append(4 - int(scaled.jobs.resources[jobs, 1].sum()))
                    elif log.launched[launch] <= queued and not gone:
                        starting += 1
                assert sorted(step.figures["free"]) == sorted(free)
                assert step.figures["starting"] == starting
                ahead = [
                    other
                    for other in range(row)
                    if scaled.jobs.submit[other] <= queued
                    and not scaled.end[other] <= queued
                    and not any(
                        attempts.job[each] == other and attempts.began[each] <= queued < attempts.ended[each]
                        for each in range(len(attempts.job))
                    )
                ]
                assert step.figures["ahead"] == len(ahead)
            scales = [
                step for step in history.steps if step.decision == "scale" and queued <= step.at <= began
            ]
            if began > queued:
                expected = [place for place, at in enumerate(decisions.time) if queued <= at <= began]
                assert [step.at for step in scales] == [decisions.time[each] for each in expected]
                assert [step.figures["wanted"] for step in scales] == decisions.totals[expected].tolist()
                assert [step.figures["needed"] for step in scales] == decisions.needed[expected].tolist()
                for step in scales:
                    assert step.figures["launched"] == sum(log.launched == step.at)
                    assert step.minor == (step.figures["launched"] == 0)
                    launches += step.figures["launched"]
            queued = float(attempts.ended[place])
    assert waits > 4
    assert launches > 0
    assert lost > 0
    assert not math.isnan(scaled.end.sum())

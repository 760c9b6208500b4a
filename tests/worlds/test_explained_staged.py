"""The history of staged jobs of a cluster: where tasks ran and what they fetched equal plain computations."""

import json

import numpy as np
import pytest

from tests.worlds.explained_cluster import explained, result_of, run


def changes(policies, outages=None):
    iowa = {"nodes": [{"count": 4, "cores": 8}], "up": 2e8, "down": 2e8}
    return json.dumps(
        {
            "seconds": 600,
            "sites": {
                "iowa": iowa | ({"outages": outages} if outages else {}),
                "oslo": {"nodes": [{"count": 2, "cores": 8}], "up": 1e8, "down": 1e8},
            },
            "loads": {
                "batch": {"rigid": {"lublin": {"jobs": 900, "load": 9.0}}},
                "etl": {"staged": {"drawn": {"jobs": 5, "tasks": 60}}},
            },
            "policies": policies,
            "telemetry": {},
        }
    )


@pytest.mark.parametrize(
    ("policies", "decision"),
    [({"place": "tetrium"}, "place"), ({"order": {"rigid": "easy", "staged": "swag"}}, "order")],
)
def test_tasks_and_bytes_of_each_stage_equal_plain_computations(policies, decision):
    text = changes(policies)
    _, _, done, _ = run(1, text)
    result = result_of(done.staged, "etl", "")
    jobs, names, remote = result.jobs, result.fleet.names, 0.0
    histories = explained(tuple(("etl", "", number) for number in range(1, 6)), 1, text)
    for row, history in enumerate(histories):
        stages = range(int(jobs.stage0[row]), int(jobs.stage0[row + 1]))
        placed = [step for step in history.steps if "first_s" in step.figures]
        placed.sort(key=lambda step: step.what)
        assert len(placed) == len(stages)
        assert {step.decision for step in placed} == {decision}
        total = sum(step.figures["fetched_bytes"] for step in placed)
        assert total == pytest.approx(result.sent[row], rel=1e-6, abs=1.0)
        written = {}
        for stage, step in zip(stages, placed, strict=True):
            tasks = range(int(jobs.first[stage]), int(jobs.first[stage + 1]))
            here = [sum(result.site[task] == site for task in tasks) for site in range(2)]
            assert step.figures["stage_tasks_at"] == here
            assert step.figures["first_s"] == min(result.begun[task] for task in tasks)
            assert step.figures["last_s"] == max(result.begun[task] for task in tasks)
            data, links = np.zeros(2), np.zeros((2, 2))
            if jobs.shuffles[stage]:
                for parent, sizes in written.items():
                    children = jobs.children[jobs.child_at[parent] : jobs.child_at[parent + 1]]
                    data += sizes if stage in children else 0.0
                sizes = {task: data.sum() / len(tasks) * jobs.size[task] for task in tasks}
                for task in tasks:
                    for source in range(2):
                        links[source, result.site[task]] += sizes[task] * data[source] / max(data.sum(), 1.0)
                apart = (
                    sum(data[site] * (1.0 - data[site] / data.sum()) for site in range(2))
                    if data.any()
                    else 0.0
                )
                assert step.figures["in_place_bytes"] == pytest.approx(apart)
            else:
                sizes = {task: jobs.task_bytes[stage] for task in tasks}
                for task in tasks:
                    data[result.source[task]] += sizes[task]
                    links[result.source[task], result.site[task]] += sizes[task]
                assert step.figures["in_place_bytes"] == 0.0
                assert "where their input is" in step.why
                at_input = here == jobs.here(2)[stage].tolist()
                assert ("all run where their input is" in step.why) == at_input
            ready = next(
                each for each in history.steps if each.figures.get("stage") == stage - stages.start + 1
            )
            assert ready.figures["bytes_at"] == pytest.approx(data.tolist())
            for source in range(2):
                over = step.figures["fetched"].get(f"{names[source]} to {names[1 - source]}", 0.0)
                assert over == pytest.approx(links[source, 1 - source], rel=1e-6, abs=1.0)
                remote += over
            written[stage] = np.zeros(2)
            for task in tasks:
                written[stage][result.site[task]] += sizes[task] * jobs.ratio[stage]
    assert remote > 0.0


def test_policys_reasons_and_idle_cores_are_those_of_its_first_view():
    text = changes({"place": "tetrium"})
    for history in explained(tuple(("etl", "", number) for number in range(1, 6)), 1, text):
        for step in [step for step in history.steps if "first_s" in step.figures]:
            reasons = [
                part.partition(" task")[0]
                for part in step.why.split("; ")
                if " task" in part and ": " in part
            ]
            counted = sum(int(each) for each in reasons if each.isdigit())
            assert counted == sum(step.figures["stage_tasks_at"])
            assert "cores idle at first" in step.why


def test_lost_tasks_are_reported():
    text = changes({"place": "tetrium"}, outages={"every": 300, "last": 60, "kill": 1.0})
    _, _, done, _ = run(1, text)
    result = result_of(done.staged, "etl", "")
    assert len(result.lost) > 0
    of = result.jobs.job[np.searchsorted(result.jobs.first, result.lost[:, 0], side="right") - 1]
    for row in np.unique(of)[:2].tolist():
        (history,) = explained((("etl", "", row + 1),), 1, text)
        lost = [step.figures["lost"] for step in history.steps if "lost" in step.figures]
        assert sum(lost) == int((of == row).sum())

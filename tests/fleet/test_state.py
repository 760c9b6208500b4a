"""The initial state of a fleet, and the state with more room, worked out by hand."""

import numpy as np
import pytest

from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.sim.events.heap import push
from windlass.sim.fleet.state import make_state, with_room, with_rows

LINKED = Fleet.of([3, 0, 2], [1e6, 2e6, 3e6], [4e6, 5e6, 6e6])
UNLINKED = Fleet.of([3, 1, 2])
JOBS = FleetJobs.of(
    [0.0, 4.0],
    [
        [StageSpec(2.0, here=(2, 1, 1), task_bytes=10.0), StageSpec(3.0, tasks=2, parents=(0,), ratio=0.5)],
        [StageSpec(1.0, here=(0, 0, 3), task_bytes=20.0)],
    ],
)
# A stage has a part for each site that holds its input; a shuffle has one part.
TASKS, STAGES, PARTS = 9, 3, 5


def sizes(state):
    return {name: column.shape for name, column in state._asdict().items() if name != "heap"}


def test_arguments_are_stored_and_defaults_are_as_documented():
    case = FleetCase(LINKED, JOBS)
    run = make_state(case, standing=False).run[0]
    names = ("standing", "python", "by_seconds", "look_every", "decide_every", "logs")
    assert [run[name] for name in names] == [0, 0, 0, 0.0, 0.0, 0]
    given = dict(standing=True, python=True, by_seconds=True, look_every=0.25, decide_every=0.5, log=True)
    run = make_state(case, **given).run[0]
    assert [run[name] for name in names] == [1, 1, 1, 0.25, 0.5, 1]
    for name in ("python", "by_seconds", "log"):
        run = make_state(case, standing=False, **{name: True}).run[0]
        assert [run[each] for each in ("standing", "python", "by_seconds", "logs")] == [
            0, int(name == "python"), int(name == "by_seconds"), int(name == "log")
        ]  # fmt: skip


def test_the_initial_state_has_no_polls_decisions_or_counts():
    run = make_state(FleetCase(LINKED, JOBS), standing=False).run[0]
    assert [run[name] for name in ("look", "wake", "now", "decided", "next", "looked")] == [
        np.inf, np.inf, -np.inf, -np.inf, -np.inf, 0.0
    ]  # fmt: skip
    assert (run["linked"], run["limited"], run["closed"]) == (1, 0, 1)
    counts = [
        "submitted", "ended", "changes", "flows", "batches", "logged", "rates", "waits", "groups", "subjobs", "orders",
        "decisions", "wanted",
    ]  # fmt: skip
    assert [run[name] for name in counts] == [0] * len(counts)
    assert make_state(FleetCase(UNLINKED, JOBS), standing=False).run[0]["linked"] == 0


def test_tasks_are_bound_to_sites_only_under_standing_orders():
    for standing in (True, False):
        run = make_state(FleetCase(UNLINKED, JOBS), standing=standing).run[0]
        assert bool(run["homes"]) == (standing and JOBS.homes)


@pytest.mark.parametrize("standing", [True, False])
@pytest.mark.parametrize("log", [True, False])
def test_arrays_have_one_entry_per_item_and_an_end_marker(standing, log):
    state = make_state(FleetCase(LINKED, JOBS), standing=standing, log=log, rows=5)
    found = sizes(state)
    expected = {
        "run": (1,), "sites": (3,), "jobs": (3,), "stages": (STAGES + 1,), "parts": (PARTS + 1,), "tasks": (TASKS,),
        "children": (1,), "by_size": (0,), "cells": (5, 3), "rows": (6,), "changes": (0,),
        "slots": (3,), "backlog": (3,), "no_backlog": (3,), "share": (3,), "rest": (3,), "begun": (3,), "want": (3,),
        "sized": (5, 3 if standing else 0), "order": (3 if standing else 0, 5),
        **dict.fromkeys(("weight", "rate", "progress", "most", "carried", "head"), (3, 3)),
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected
    # A poll logs the rate of each pair; without a log there are no lines.
    assert (found["rate_log"][1], found["flow_log"][1]) == (4, 6)
    assert (found["rate_log"][0] >= 9) == (found["flow_log"][0] > 0) == log
    assert len(state.flows) >= 9
    assert len(state.batches) > 0


def test_initial_values_of_jobs_sites_and_stages():
    state = make_state(FleetCase(LINKED, JOBS), standing=True)
    sites, jobs, stages = state.sites, state.jobs, state.stages
    assert (sites["slots"].tolist(), sites["free"].tolist()) == ([3, 0, 2], [3, 0, 2])
    assert (sites["up"].tolist(), sites["down"].tolist()) == ([1e6, 2e6, 3e6], [4e6, 5e6, 6e6])
    # A share must not divide by 0: a site without slots counts as one with a slot.
    assert state.slots.tolist() == [3.0, 1.0, 2.0]
    assert jobs["submit"].tolist() == [0.0, 4.0, np.inf]
    assert jobs["stage0"].tolist() == [0, 2, 3]
    assert jobs["stages_left"][:2].tolist() == [2, 1]
    assert np.isnan(jobs["end"]).all()
    assert stages["tasks"][:3].tolist() == [4, 2, 3]
    assert stages["first"].tolist() == [0, 4, 6, 9]
    assert stages["job"][:3].tolist() == [0, 0, 1]
    assert stages["parents_left"][:3].tolist() == [0, 1, 0]
    assert (stages["shuffles"][:3] > 0).tolist() == [False, True, False]
    assert stages["ratio"][:3].tolist() == JOBS.ratio.tolist()
    assert stages["task_bytes"][:3].tolist() == JOBS.task_bytes.tolist()
    assert stages["row"].tolist() == [-1] * 4
    assert state.tasks["duration"].tolist() == [2.0] * 4 + [3.0] * 2 + [1.0] * 3
    assert state.tasks["stage"].tolist() == [0] * 4 + [1] * 2 + [2] * 3
    assert (state.head == -1).all()
    for name in ("weight", "rate", "progress", "carried", "backlog", "no_backlog"):
        assert not getattr(state, name).any()


def test_the_heap_has_room_for_a_task_in_each_slot():
    state = make_state(FleetCase(UNLINKED, JOBS), standing=True)
    assert len(state.heap.time) >= min(int(UNLINKED.slots.sum()), TASKS)
    for number in range(5):
        push(state.heap, float(-number), 0, number)
    assert state.heap.item[0] == 4


def test_growing_rows_keeps_contents_and_adds_each_new_row_once():
    state = make_state(FleetCase(LINKED, JOBS), standing=True, rows=3)
    assert state.rows["free"][:3].tolist() == [0, 1, 2]
    state.cells["left"][:] = np.arange(9).reshape(3, 3)
    state.rows["free"][:3] = [2, 0, 1]
    state.rows["group0"][3] = 7
    state.order[:] = np.arange(9).reshape(3, 3)
    more = with_rows(state, 5)
    assert more.cells["left"].tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 0, 0], [0, 0, 0]]
    assert more.rows["free"][:5].tolist() == [2, 0, 1, 3, 4]
    assert (len(more.rows), more.rows["group0"][3]) == (6, 7)
    assert more.order[:, :3].tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert (more.order.shape, more.sized.shape) == ((3, 5), (5, 3))


def test_growing_flows_keeps_used_entries_and_adds_each_new_one_once():
    state = make_state(FleetCase(LINKED, JOBS), standing=False)
    flows, batches = len(state.flows), len(state.batches)
    for table in (state.flows, state.batches):
        assert table["free"].tolist() == list(range(len(table)))
    assert with_room(state, flows, batches) is state
    state.run["flows"], state.run["batches"] = 3, 2
    state.flows["ends"][0], state.batches["tasks"][1] = 5.0, 4
    assert with_room(state, flows - 3, batches - 2) is state
    more = with_room(state, flows - 2, 1)
    assert len(more.flows) >= 3 + flows - 2
    assert (len(more.batches), more.flows["ends"][0], more.batches["tasks"][1]) == (batches, 5.0, 4)
    assert sorted(more.flows["free"].tolist()) == list(range(len(more.flows)))
    more = with_room(state, 1, batches - 1)
    assert len(more.batches) >= 2 + batches - 1
    assert sorted(more.batches["free"].tolist()) == list(range(len(more.batches)))
    assert len(more.flows) == flows


def test_logs_have_room_for_all_reads_in_progress():
    state = make_state(FleetCase(LINKED, JOBS), standing=False, log=True)
    state.run["logged"], state.run["rates"], state.run["flows"] = len(state.flow_log), len(state.rate_log), 30
    state.flow_log[:], state.rate_log[:] = 7.0, 8.0
    more = with_room(state, 1, 1)
    assert len(more.flow_log) >= len(state.flow_log) + 30 + 1
    assert len(more.rate_log) >= len(state.rate_log) + 9
    assert (more.flow_log[: len(state.flow_log)] == 7.0).all()
    assert (more.rate_log[: len(state.rate_log)] == 8.0).all()

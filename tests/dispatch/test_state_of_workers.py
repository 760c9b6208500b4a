"""The initial state of workers, and the kernels that their run needs."""

import numpy as np
import pytest

from windlass.dispatch import POLICIES
from windlass.dispatch.compiled import as_compiled
from windlass.experiment.dispatching import simulate
from windlass.model.timetable import TAKE_SAMPLE, WorkerTimetable
from windlass.sim.instants.loop import KERNELS as COMMON_KERNELS
from windlass.sim.workers import part as parts
from windlass.sim.workers.loop import KERNELS
from windlass.sim.workers.part import kernels
from windlass.sim.workers.python_policy import UNUSED
from windlass.sim.workers.setup import Setup, make_workers, with_more_log
from windlass.sim.workers.state import (
    LOG_ENTRY,
    NONE,
    PolicyExchange,
    WorkersProgress,
    WorkersSettings,
)

SPEEDS = np.array([1.0, 2.0, 4.0])


class Plain:
    """A policy that is not compiled."""

    name = "plain"

    def arrived(self, now):
        pass

    def choose(self, lengths):
        return 0

    def completed(self, worker, work, seconds):
        pass


def policy(name):
    takes = {"ppot": ("rates",), "rosella": ("workers", "guaranteed"), "sparrow": ("workers",)}[name]
    offered = {"workers": 3, "rates": SPEEDS, "guaranteed": 7.0}
    return POLICIES.make(name, np.random.default_rng(1), **{each: offered[each] for each in takes})


def make_state(name=None, tasks=6, **more):
    setting = dict(
        speeds=SPEEDS, timetable=WorkerTimetable.none(), schedulers=1, probe_delay=0.0, sizes_known=False, lane=5,
        samples=4, record=False, tasks_per_job=2,
    ) | more  # fmt: skip
    compiled = None if name is None else as_compiled(policy(name))
    submit, work = np.arange(tasks, dtype=float), np.arange(1.0, tasks + 1)
    return make_workers(Setup(**setting), compiled, submit, work, np.random.default_rng(2))


@pytest.mark.parametrize("name", ["ppot", "rosella", "sparrow"])
def test_a_compiled_policy_needs_its_own_functions(name):
    own = policy(name)
    found = kernels(own)
    functions = as_compiled(own).functions()
    assert functions != UNUSED
    assert found == (*COMMON_KERNELS, *functions, *KERNELS)
    assert min(len(COMMON_KERNELS), len(functions), len(KERNELS)) > 0


def test_a_python_policy_needs_the_loop_with_unused_functions():
    assert kernels(Plain()) == (*COMMON_KERNELS, *UNUSED, *KERNELS)


@pytest.mark.parametrize(("name", "copies"), [("ppot", 0), ("rosella", 0), ("sparrow", 2)])
@pytest.mark.parametrize("schedulers", [1, 3])
@pytest.mark.parametrize("record", [True, False])
def test_arrays_have_entries_for_workers_tasks_and_schedulers(name, copies, schedulers, record):
    state = make_state(name, schedulers=schedulers, record=record)
    settings, progress = WorkersSettings.of(state.settings), WorkersProgress.of(state.progress)
    assert (settings.copies, settings.late_binding) == (max(copies, 1), copies > 0)
    lows = 3 * (5 + 1) if name == "rosella" else 0
    nodes = 6 * max(copies, 1)
    expected = {
        **dict.fromkeys(("line", "base", "share", "low_count", "length", "known_length"), 3),
        **dict.fromkeys(("submit", "work", "end"), 6), **dict.fromkeys(("start", "worker"), 6 if record else 0),
        "sender": 6 if schedulers > 1 else 0, "after": nodes + lows, "bound": nodes if copies else 0,
        "low_work": lows, "low_sender": lows, "seen_length": 0, "unbound": schedulers, "known_unbound": schedulers,
        **dict.fromkeys(("settings", "progress", "exchange"), 1),
        **dict.fromkeys(("longest", "waiting", "estimates"), 4),
        **dict.fromkeys(("change_time", "change_kind", "change_worker", "change_value"), 4),
        "log": 0, "ints": schedulers, "floats": schedulers,
    }  # fmt: skip
    assert {each: len(getattr(state, each)) for each in expected} == expected
    assert state.estimates.shape == (4, 3 if name == "rosella" else 0)
    assert progress.free_node == (nodes if lows else NONE)
    # Nodes of benchmark tasks are linked as free, each to the next; no other has one behind it.
    links = [NONE] * nodes + ([*range(nodes + 1, nodes + lows), NONE] if lows else [])
    assert state.after.tolist() == links


def test_workers_begin_idle_at_their_speeds_and_samples_are_evenly_spaced():
    state = make_state("ppot")
    assert state.base.tolist() == state.line["speed"].tolist() == SPEEDS.tolist()
    for name in ("running", "head", "low_head"):
        assert (state.line[name] == NONE).all()
    assert (state.line["down"] == 0).all()
    assert np.isinf(state.line["first_seconds"]).all()
    assert (state.share == 1.0).all()
    assert state.change_time.tolist() == [1.25, 2.5, 3.75, 5.0]
    assert (state.change_kind == TAKE_SAMPLE).all()
    progress, settings = WorkersProgress.of(state.progress), WorkersSettings.of(state.settings)
    assert (progress.workers_up, settings.low_room) == (3, 5)
    assert (progress.held_head, progress.held_tail) == (NONE, NONE)
    assert PolicyExchange.of(state.exchange).chosen == NONE
    assert np.isnan(state.end).all()
    state.base[0] = 9.0
    assert SPEEDS[0] == state.line["speed"][0] == 1.0


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("record", [True, False])
def test_settings_are_stored(known, record):
    settings = WorkersSettings.of(make_state("ppot", sizes_known=known, record=record).settings)
    assert (settings.sizes_hidden, settings.record) == (not known, record)
    assert settings.python_policy == 0
    assert WorkersSettings.of(make_state(None).settings).python_policy == 1


def test_queue_lengths_are_delayed_only_with_a_probe_delay():
    now, late = make_state("ppot"), make_state("ppot", probe_delay=0.5)
    assert now.known_length is now.length
    assert late.known_length is not late.length
    assert [WorkersSettings.of(each.settings).probe_delay for each in (now, late)] == [0.0, 0.5]
    assert len(now.log) == 0
    assert len(late.log) > 0


def test_growing_the_log_keeps_its_entries_in_order():
    state = make_state("ppot", probe_delay=0.5)
    log = np.zeros(4, LOG_ENTRY)
    log["time"], log["worker"], log["work"] = [5.0, 6.0, 3.0, 4.0], [2, 3, 0, 1], [30.0, 40.0, 10.0, 20.0]
    state = state._replace(log=log)
    progress = WorkersProgress.of(state.progress)
    progress.log_first, progress.log_size = 2, 4
    more = with_more_log(state)
    assert more.progress is state.progress
    assert (progress.log_first, progress.log_size) == (0, 4)
    assert more.log["time"].tolist() == [3.0, 4.0, 5.0, 6.0, 0.0, 0.0, 0.0, 0.0]
    assert more.log["worker"][:4].tolist() == [0, 1, 2, 3]
    assert more.log["work"][:4].tolist() == [10.0, 20.0, 30.0, 40.0]


def test_tasks_of_a_job_have_one_scheduler():
    sender = make_state("ppot", tasks=40, schedulers=3).sender
    assert (sender[::2] == sender[1::2]).all()
    assert set(sender.tolist()) == {0, 1, 2}


def test_a_report_before_the_first_completion_does_not_end_the_run(monkeypatch):
    monkeypatch.setattr(parts, "_STEPS_BETWEEN_REPORTS", 1)
    known = []
    done = simulate("ppot", [2.0], tasks=1, samples=0, arrivals=[1.0], service=[3.0], progress=known.append)
    assert done.response.tolist() == [1.5]
    assert known[0] == 0
    assert known[-1] == 1

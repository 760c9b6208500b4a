"""The library with values of NumPy, edited policies, logs with different columns, and sites without stated sizes."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import windlass
from windlass.experiment.run_comparison import compare_runs
from windlass.experiment.site_fit.search import _queues
from windlass.experiment.start_times.alternatives import Alternative, compare_alternatives
from windlass.experiment.start_times.question import history_of
from windlass.experiment.worlds.policy import PolicySpec
from windlass.io.traces import Workload, read_trace, to_workload
from windlass.io.traces.demands import is_demand_table
from windlass.io.traces.groups import Belongings, members_of
from windlass.model import JobTable

ROWS = "0,60,4,ann\n5,30,4,bob\n9,30,2,bob\n"
POLICY = '''
from windlass.order.site.view import SiteView, Start


class Mine:
    """Start waiting jobs in order."""

    name = "mine"

    def decide(self, view: SiteView) -> Start:
        chosen, free = [], view.free
        for row in {order}:
            if view.waiting.procs[row] > free:
                break
            free -= view.waiting.procs[row]
            chosen.append(int(view.waiting.job[row]))
        return Start(tuple(chosen), why="in order")
'''


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("submit,run,procs,user\n" + ROWS)
    return Path("a.csv")


def test_values_of_numpy_paths_and_tuples_are_accepted(log):
    fields = {"cluster.processors": np.int64(4), "load": np.array([0.5, 1.0])}
    results = windlass.run(log, ("fcfs", "easy"), fields=fields, check=False)
    assert len(results.table()) == 4
    schedule = windlass.simulate(log, processors=np.int64(4))
    tree = {"workload": {"trace": log}, "cluster": {"processors": (4,)}, "policies": {"order": ("easy",)}}
    assert windlass.run(tree, check=False).jobs()["start_s"].equals(schedule["start_s"])


def test_a_policy_that_is_edited_between_two_runs_is_the_new_one(log):
    reverse = "range(len(view.waiting.procs) - 1, -1, -1)"
    starts = []
    for order in ("range(len(view.waiting.procs))", reverse):
        Path("mine.py").write_text(POLICY.replace("{order}", order))
        # The time of the file does not show the change.
        os.utime("mine.py", (1e9, 1e9))
        results = windlass.run(log, ["mine.py"], fields={"cluster.processors": 4}, check=False)
        starts.append(results.jobs()["start_s"].to_list())
    assert starts == [[0.0, 60.0, 90.0], [0.0, 90.0, 60.0]]


def test_a_sweep_over_logs_with_different_columns_is_saved(log):
    Path("b.csv").write_text("job_id,submit,run,procs\nx_1,0,60,4\nx_2,5,30,4\n")
    tree = {
        "workload": {"trace": ["a.csv", "b.csv"]},
        "cluster": {"processors": 4},
        "policies": {"order": "easy"},
    }
    results = windlass.run(tree, out="out", check=False)
    assert {"user", "job_id"} <= set(results.jobs().columns)
    assert len(pl.read_parquet("out/jobs.parquet")) == 5


def test_the_site_of_a_table_with_starts_is_the_most_that_jobs_held_at_once(log):
    Path("starts.csv").write_text("job,submit,start,end,procs\n1,0,0,60,4\n2,0,10,60,4\n3,0,70,80,4\n")
    trace = read_trace("starts.csv")
    assert (trace.processors, trace.peak) == (8, True)
    assert trace.notes[-1] == "the log does not state the number of processors; jobs held at most 8 at once"


def test_a_group_of_a_log_without_a_stated_size_is_no_part_of_its_recorded_schedule(log):
    Path("two.csv").write_text(
        "job,submit,start,end,procs,cluster\n1,0,0,60,4,a\n2,0,10,60,6,b\n3,5,60,80,4,a\n4,70,80,90,6,b\n"
    )
    trace = read_trace("two.csv")
    group = to_workload(trace, where="cluster = 'a'")
    assert (group.processors, group.logged_processors) == (10, 4)
    assert any("held at most 4 processors at once" in note for note in group.notes)
    assert to_workload(trace, 4, "cluster = 'a'").logged_processors == 4
    # A stretch of time ran on the whole site.
    stretch = to_workload(trace, where="job >= 2")
    assert (stretch.processors, stretch.logged_processors) == (10, 10)


def test_a_stretch_of_a_log_in_the_order_of_ends_is_one(log):
    """As accounting files are; a condition on the time selects neighbours in the order of submission."""
    Path("ends.csv").write_text(
        "job,submit,start,end,procs\n2,10,10,20,4\n3,20,20,60,4\n1,0,0,90,4\n4,70,90,100,4\n"
    )
    found = to_workload(read_trace("ends.csv"), where="submit < 15")
    assert (found.processors, found.logged_processors) == (8, 8)
    assert not any("held at most 4" in note for note in found.notes)


def test_a_group_without_recorded_starts_has_no_note_on_its_size(log):
    Path("some.csv").write_text(
        "job,submit,start,end,run,procs,user\n1,0,0,60,60,4,a\n2,5,,,60,4,b\n3,9,60,80,20,4,a\n"
    )
    found = to_workload(read_trace("some.csv"), where="user = 'b'")
    assert not any("None" in note for note in found.notes)


def test_a_sweep_of_one_policy_begins_with_its_change(log):
    Path("starts.csv").write_text("job,submit,start,end,procs\n1,0,0,60,4\n2,0,10,60,4\n3,0,70,80,4\n")
    fields = {"cluster.processors": [4, 8]}
    lines = windlass.run("starts.csv", ["easy"], fields=fields, check=False).sentences
    assert any(
        line.startswith("From processors=4 to processors=8, the mean wait changes") for line in lines
    ), lines
    assert any(
        line.startswith("processors=4: Compared with the recorded schedule, easy is ") for line in lines
    )
    lines = windlass.run("starts.csv", ["easy"], fields=fields, require="max_wait<=1s", check=False).sentences
    assert any("No variant meets all requirements" in line for line in lines), lines


def test_runs_of_a_log_with_text_identifiers_are_compared_by_them(log):
    rng = np.random.default_rng(1)
    procs = np.where(np.arange(200) % 40 == 0, 100, rng.integers(1, 32, 200))
    rows = [f"pod-{at},{50 * at},{rng.integers(60, 3000)},{procs[at]}" for at in range(200)]
    Path("pods.csv").write_text("job_id,submit,run,procs\n" + "\n".join(rows) + "\n")
    results = windlass.run("pods.csv", ["easy"], fields={"cluster.processors": [64, 128]}, check=False)
    assert any("5 jobs" in line and "refused" in line for line in results.sentences), results.sentences
    for size in (64, 128):
        windlass.run("pods.csv", ["easy"], fields={"cluster.processors": size}, out=f"r{size}", check=False)
    assert "did not run the same jobs" not in str(compare_runs(Path("r64"), Path("r128")))


def test_loads_of_several_sites_that_number_their_jobs_alike_are_compared(log):
    tree = {
        "world": "cluster",
        "seconds": 4000,
        "sites": {"x": {"processors": 8}, "y": {"processors": 8}},
        "loads": {"batch": {"rigid": {"lublin": {"jobs": 20}}, "at": "each"}},
        "seeds": [1, 2],
    }
    for name in ("fcfs", "easy"):
        windlass.run(tree | {"policies": {"order": name}}, out=name, check=False)
    assert "did not run the same jobs" not in str(compare_runs(Path("fcfs"), Path("easy")))


@pytest.mark.parametrize(
    ("first", "own"), [("0", True), ("1714564800000", False), ("1714564800000000", False)]
)
def test_tables_in_milliseconds_are_read_as_a_scheduler_s_log(log, first, own):
    Path("ms.csv").write_text(f"submit,run,cpus\n{first},60,4\n{first},60,4\n")
    assert is_demand_table("ms.csv") is own


def test_queues_whose_names_have_separators_are_left_out_of_priorities():
    jobs = JobTable.of(submit=np.arange(6.0), run=[1.0] * 6, procs=[1] * 6)
    queues = members_of(pl.Series(["gpu=a100", "cpu", "a,b", "big", "x y", "cpu"]))
    found = _queues(Workload(jobs, 4, of=Belongings(queue=queues), wait=np.arange(6.0)))
    assert sorted(pair.partition("=")[0] for pair in found.split()) == ["big", "cpu"]


def test_an_alternative_on_which_no_waiting_job_fits_has_no_starts(log):
    Path("idle.csv").write_text("job,submit,start,end,procs,user\n1,0,0,60,2,ann\n2,500,500,600,4,bob\n")
    easy = PolicySpec(name="easy")
    history = history_of(to_workload(read_trace("idle.csv")), easy, recorded=True)
    found = compare_alternatives(history, 500.0, easy, [Alternative(easy, 2)])
    assert found is not None

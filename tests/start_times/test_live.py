"""The history of a live Slurm: which jobs are in it, and predictions on a private one that are scored afterwards."""

import time

import numpy as np
import pytest

from tests.engines.slurm.private import private_slurm
from windlass.engines.slurm.log import EndedJob, read_log
from windlass.engines.slurm.models import JobRow, Phase
from windlass.experiment.start_times.live import live_history
from windlass.experiment.start_times.question import StartPredictor
from windlass.experiment.worlds.policy import PolicySpec
from windlass.model import InputError

NOW = 1000.0


def row(job, state="PENDING", **given):
    fields = {
        "reason": "Resources",
        "submit": 900.0,
        "start": 0.0,
        "end": 0.0,
        "limit": 60.0,
        "procs": 1,
        "nodes": "",
        "memory": 0,
        "name": "a",
        "comment": "",
        "user": "ann",
        "partition": "main",
        "held": False,
        "restarts": 0,
        "requeues": True,
        "many": False,
    }
    return JobRow(job=job, state=state, **{**fields, **given})


def ended(job, submit=0, start=10, end=50, **given):
    fields = {
        "procs": 1,
        "request": 60,
        "user": "bob",
        "partition": "main",
        "state": "COMPLETED",
        "name": "a",
    }
    return EndedJob(job=job, submit=submit, start=start, end=end, **{**fields, **given})


def test_finished_running_and_waiting_jobs_are_in_order_of_submission():
    running = row(3, "RUNNING", submit=100.0, start=950.0, procs=2, nodes="n1")
    found = live_history([ended(1, submit=500, start=510, end=560)], [row(4), running], 4, NOW)
    history = found.history
    assert [history.workload.name_of(each) for each in range(3)] == ["3", "1", "4"]
    assert history.start.tolist() == [950.0, 510.0, np.inf]
    assert history.end.tolist() == [np.inf, 560.0, np.inf]
    state = history.at(NOW)
    assert (state.running.tolist(), state.waiting.tolist()) == ([0], [2])
    assert history.workload.of.user.labels().to_list() == ["ann", "bob", "ann"]
    assert found.notes == ()


def test_jobs_that_idle_processors_do_not_start_are_left_out_and_counted():
    rows = [
        row(1, held=True),
        row(2, held=True, comment="windlass"),
        row(3, dependency="afterok:1"),
        row(4, procs=5),
        row(5, "COMPLETED", start=910.0, nodes="n1"),
        row(6, procs=4),
    ]
    found = live_history([], rows, 4, NOW)
    history = found.history
    assert [history.workload.name_of(each) for each in range(len(history))] == ["2", "6"]
    assert found.notes == (
        "1 waiting jobs are left out: they are held",
        "1 waiting jobs are left out: they wait for other jobs",
        "1 waiting jobs are left out: they need more processors than the site has",
    )


def test_times_that_contradict_each_other_are_put_in_order():
    # A requeued job has the time of its requeue as its submission; clocks of accounting and controller may differ.
    late = row(7, "RUNNING", submit=990.0, start=980.0, nodes="n1")
    history = live_history(
        [ended(1, submit=30, start=20, end=10)], [late, row(8, submit=NOW + 5)], 4, NOW
    ).history
    assert (history.start >= history.workload.jobs.submit).all()
    assert (history.end >= history.start).all()
    assert history.at(NOW).waiting.tolist() == [2]


def test_a_job_without_a_limit_may_run_for_a_year():
    history = live_history([ended(1, request=None)], [row(2, limit=np.inf)], 4, NOW).history
    assert history.workload.jobs.request.tolist() == [365 * 86_400.0] * 2


def test_a_job_that_is_live_again_is_not_counted_as_finished():
    history = live_history([ended(9)], [row(9)], 4, NOW).history
    assert history.start.tolist() == [np.inf]


def test_an_empty_slurm_is_rejected():
    with pytest.raises(InputError, match="Slurm has no finished, running or waiting job"):
        live_history([], [], 4, NOW)


@pytest.mark.live
@pytest.mark.slow
def test_fifty_waiting_jobs_are_predicted_then_scored():
    rng = np.random.default_rng(1)
    with private_slurm(nodes=2, cpus=2) as shell:
        for _ in range(40):
            shell.submit("true", ours=False)
        shell.until(lambda rows: all(each.phase is Phase.OVER for each in rows.values()))
        # One job holds each processor while the others are submitted.
        for _ in range(4):
            shell.submit("sleep 8", ours=False)
        jobs = [shell.submit(f"sleep {rng.integers(1, 4)}", ours=False) for _ in range(50)]
        now = time.time()
        found = live_history(read_log(shell.client).jobs, shell.client.jobs(), 4, now)
        table = StartPredictor(found.history, PolicySpec(name="fcfs")).waiting(now)
        predicted = dict(zip(table["job"].to_list(), table.iter_rows(named=True), strict=True))
        waiting = [job for job in jobs if str(job) in predicted]
        assert len(waiting) >= 40
        shell.until(lambda rows: all(rows[job].phase is Phase.OVER for job in jobs if job in rows))
        starts = {each.job: each.start for each in read_log(shell.client).jobs}
        waits = np.array([starts[job] - now for job in waiting])
        medians = np.array([predicted[str(job)]["median_s"] for job in waiting])
        # All jobs request a minute. Slurm's rule lets each run for it; the history says that jobs are shorter.
        planned = np.array([predicted[str(job)]["planned_s"] for job in waiting])
        print(f"{len(waiting)} jobs: mean error {np.abs(medians - waits).mean():.1f} s", end=", ")
        print(f"by Slurm's rule {np.abs(planned - waits).mean():.1f} s")
        assert np.abs(medians - waits).mean() < np.abs(planned - waits).mean()
        assert np.corrcoef(medians, waits)[0, 1] > 0.8

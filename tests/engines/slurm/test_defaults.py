"""Defaults of Slurm jobs, lines of a decision, and measured groups."""

import pytest

from tests.engines.slurm import test_quotas
from tests.engines.slurm.fake_commands import ANN, free, job, jobs
from tests.engines.slurm.test_quotas import two
from tests.engines.slurm.test_readings import folder
from windlass.engines.batch.sharing_backend import Pair
from windlass.engines.batch.system import Submitted
from windlass.engines.slurm import use as module
from windlass.engines.slurm.driver import _report
from windlass.engines.slurm.job_reader import read_jobs
from windlass.engines.slurm.watch import SlurmWatch
from windlass.order.site.view import Start
from windlass.share import Share, Sharing
from windlass.share.view import Back

bench = test_quotas.bench


@pytest.mark.parametrize("requeued", [False, True])
def test_a_held_job_is_withheld_by_default_only_if_it_was_requeued(requeued):
    watch = SlurmWatch(lambda row: False, lambda row: requeued)
    found = watch.update(read_jobs(jobs(job(7))), 1004.9, 1005.0)
    assert found.events == ([] if requeued else [Submitted(7, 1000.0, 3, 120.0, ANN)])
    assert found.withheld == ([7] if requeued else [])


def test_a_requeued_job_starts_again_with_the_shortest_rest():
    watch = SlurmWatch(lambda row: False, lambda row: False, returning=lambda row: True)

    def look(now, row):
        return watch.update(read_jobs(jobs(row)), now - 0.01, now).events

    back = {"restart_cnt": 1, "submit_time": 1010}
    look(1005.0, job(7))
    look(1011.0, job(7, **back))
    watch.released(7, 1012.0)
    look(1013.0, free(7, state_reason="Dependency", **back))
    look(1014.0, job(7, **back))
    assert look(1017.9, job(7, **back)) == []
    assert len(look(1018.0, job(7, **back))) == 1


def test_a_sharing_decision_is_reported_by_line_and_an_empty_start_is_not():
    lines = []
    answer = Sharing((Share(1, 2, 30, "idle"),), (Back(3, "slow"),))
    _report("share", None, answer, lines.append)
    assert lines == [
        "job 2 has 30 % of the cores that it shares with 1: idle",
        "job 3 is requeued: slow",
    ]
    _report("order", None, Start(()), lines.append)
    assert len(lines) == 2


@pytest.mark.parametrize("memory", [0, 1, 2])
@pytest.mark.parametrize("cpu", [1, 2])
def test_a_meter_reads_a_group_only_if_it_is_the_job_s_only_one(bench, monkeypatch, memory, cpu):
    found, made = two(bench), {}
    monkeypatch.setattr(module, "Meter", lambda members, clock, **groups: made.update(groups))
    folders = [folder(found, "memory", 7, name) for name in ("w1", "w2")[:memory]]
    counted = tuple(folder(found, "cpuacct", 7, name) for name in ("w1", "w2")[:cpu])
    # Groups of another job do not count.
    folder(found, "memory", 8)
    found.shares._meter(7, counted)
    assert made["memory_group"] == (folders[0] if memory == 1 else None)
    assert made["cpu_group"] == (counted[0] if cpu == 1 else None)
    assert made["throttled"]() == 0.0


def test_pairs_are_saved_once_however_often_quotas_are_closed(bench):
    found = two(bench)
    found.shares.set_quotas([Pair(7, 8, 30)])
    for _ in range(3):
        found.shares.close()
    assert found.kept == [(Pair(7, 8, 30),)] * 2
    assert found.groups.jobs() == []

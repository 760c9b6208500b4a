"""Readings of sharing Slurm jobs, and the settings of their groups: numbers computed by hand."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.engines.slurm import test_quotas
from tests.engines.slurm.fake_commands import job, node, nodes, over, running
from tests.engines.slurm.test_quotas import PAIR, two
from windlass.engines.batch.sharing_backend import Pair
from windlass.engines.linux.files import GroupError
from windlass.engines.linux.job_progress import JobProgress, report
from windlass.engines.slurm import use as module
from windlass.engines.slurm.client import AwayError
from windlass.share.usage import Reading

bench = test_quotas.bench


def folder(found, controller, number, name="w1"):
    made = found.kernel.root / controller / f"slurm_{name}" / "uid_0" / f"job_{number}"
    made.mkdir(parents=True, exist_ok=True)
    return made


def measured(found, monkeypatch, **usage):
    """Make every meter return these values; return the folders of the meters."""
    made = []
    known = {"cpu": 5.0, "peak": 100.0, "waited": 0.0, "throttled": 0.0} | usage

    def meter(number, folders):
        made.append((number, folders))
        return SimpleNamespace(sample=lambda: SimpleNamespace(**known))

    monkeypatch.setattr(found.shares, "_meter", meter)
    return made


@pytest.mark.parametrize(
    ("usage", "peak", "waited"),
    [
        ({}, 100.0, 0.0),
        ({"peak": math.nan}, 0.0, 0.0),
        # Per core, without the time that its own quota withheld.
        ({"waited": 9.0, "throttled": 3.0}, 100.0, 3.0),
        ({"waited": 3.0, "throttled": 9.0}, 100.0, 0.0),
    ],
)
def test_a_reading_is_measured_from_a_job_s_groups(bench, monkeypatch, usage, peak, waited):
    found = bench(running(7, comment="windlass share", cpus=2))
    measured(found, monkeypatch, **usage)
    folder(found, "cpuacct", 7)
    # Job 8 has no processes here.
    read = found.shares.readings([7, 8], 1105.0)
    assert list(read) == [7]
    assert (read[7].at, read[7].cpu, read[7].memory, read[7].waited) == (1105.0, 5.0, peak, waited)
    assert (read[7].stage, read[7].parallel) == (None, None)
    assert math.isnan(read[7].done)
    assert math.isnan(read[7].left)


def test_a_reading_has_the_tasks_that_the_job_reports(bench, monkeypatch, tmp_path):
    found = two(bench)
    measured(found, monkeypatch)
    folder(found, "cpuacct", 7)
    report(tmp_path / "said", JobProgress(2, 3, False, 30, 12))
    requested = []
    monkeypatch.setattr(module, "_progress_file", lambda pids: requested.append(pids) or tmp_path / "said")
    for _ in range(2):
        (read,) = found.shares.readings([7], 1105.0).values()
        assert (read.stage, read.parallel, read.done, read.left) == (2, False, 30, 12)
    # The file is searched until it is found.
    assert len(requested) == 1


def test_a_job_on_new_nodes_gets_a_new_meter(bench, monkeypatch):
    found = two(bench)
    made = measured(found, monkeypatch)
    first = folder(found, "cpuacct", 7)
    found.shares.readings([7], 1.0)
    found.shares.readings([7], 2.0)
    second = folder(found, "cpuacct", 7, "w2")
    found.shares.readings([7], 3.0)
    assert made == [(7, (first,)), (7, (first, second))]


@pytest.mark.parametrize("error", [GroupError("gone"), OSError("gone")])
def test_an_unreadable_job_is_left_out(bench, monkeypatch, error):
    found = two(bench)
    made = measured(found, monkeypatch)
    folder(found, "cpuacct", 7), folder(found, "cpuacct", 8)

    def meter(number, folders):
        made.append(number)
        if number == 7:
            raise error
        return SimpleNamespace(sample=lambda: SimpleNamespace(cpu=1.0, peak=1.0, waited=0.0, throttled=0.0))

    monkeypatch.setattr(found.shares, "_meter", meter)
    assert list(found.shares.readings([7, 8], 1.0)) == [8]


def test_the_progress_file_is_found_in_a_job_s_environment(monkeypatch, tmp_path):
    environments = {5: b"A=1\0B=2", 6: b"X=1\0WINDLASS_PROGRESS=/p/q\0C=3", 7: b"WINDLASS_PROGRESS=/r\0"}
    for pid, text in environments.items():
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "environ").write_bytes(text)
    real = module.Path
    monkeypatch.setattr(module, "Path", lambda text: real(str(text).replace("/proc", str(tmp_path))))
    assert str(module._progress_file({4, 5, 7, 6})) == "/p/q"
    assert module._progress_file({4, 5}) is None


def test_a_last_reading_uses_only_a_newer_progress_file(bench, tmp_path):
    found = two(bench)
    report(tmp_path / "said", JobProgress(2, 2, True, 30, 0))
    written = (tmp_path / "said").stat().st_mtime
    for at, done in ((written - 1.0, 30), (written, 5.0), (written + 1.0, 5.0)):
        found.shares._measured[7] = SimpleNamespace(progress=tmp_path / "said")
        before = Reading(at, 9.0, 100.0, 1, False, 5.0, 10.0, 3.0)
        assert found.shares.last_reading(7, before).done == done
        # An ended job is no longer measured.
        assert 7 not in found.shares._measured
    found.shares._measured[7] = SimpleNamespace(progress=tmp_path / "none")
    assert found.shares.last_reading(7, before) == before


def test_an_allocation_s_memory_is_its_request_or_its_part_of_the_smallest_node(bench):
    unequal = [
        node("w1", cpus=4) | {"real_memory": 400},
        node("w2", cpus=2) | {"real_memory": 100},
        node("w3", cpus=0),
    ]
    rows = (running(7, cpus=3, memory_per_node=100), running(8, cpus=3, memory_per_node=None))
    found = bench(*rows, sinfo=nodes(*unequal))
    assert (found.shares.memory(7), found.shares.memory(8)) == (200 << 20, 150 << 20)


def test_a_candidate_keeps_its_submitted_request(bench):
    year = 365.0 * 86400.0
    rows = (
        job(7, comment="windlass share restart", time_limit=None, name="blast", memory_per_cpu=5),
        job(8, comment="windlass share"),
        job(9, comment="windlass"),
    )
    found = bench(*rows)
    first = found.shares.candidate(7)
    assert (first.job, first.job_class, first.cores, first.memory) == (7, "blast", 3, 15 << 20)
    assert (first.request, first.restarts) == (year, True)
    second = found.shares.candidate(8)
    assert (second.request, second.restarts) == (120.0, False)
    assert found.shares.candidate(9) is None
    found.fake.answers["squeue"] = test_quotas.jobs(job(8, comment="windlass share", time_limit=99))
    found.now[0] += 10.0
    found.system.poll(0.0)
    # Its limit is longer after it was a guest, and job 7 is unknown.
    assert (found.shares.candidate(8), found.shares.candidate(7)) == (second, first)


@pytest.mark.parametrize(
    ("fields", "seconds", "limit"),
    [
        # It has run for 90 s of 120.
        ({}, 30.0, None),
        ({}, 30.5, "4"),
        ({}, 89.0, "4"),
        ({}, 91.0, "5"),
        # It was suspended for 40 of these.
        ({"suspend_time": 1060, "pre_sus_time": 10}, 70.0, None),
        ({"suspend_time": 1060, "pre_sus_time": 10}, 71.0, "4"),
        ({"time_limit": None}, 9e9, None),
        ({"start_time": 0}, 900.0, None),
    ],
)
def test_a_limit_allows_for_a_guest_s_reduced_pace(bench, fields, seconds, limit):
    found = bench(running(7, **PAIR), running(8, **(PAIR | fields)))
    found.shares.allow(8, seconds)
    wanted = [] if limit is None else [("update", "JobId=8", f"TimeLimit={limit}")]
    assert found.fake.commands_with("update") == wanted


def test_a_failed_limit_is_reported_and_an_unreachable_slurm_raises(bench):
    found = two(bench, scontrol_update=(1, "", "Access/permission denied"))
    found.shares.allow(8, 900.0)
    assert found.lines == [
        "job 8 may reach its time limit because of its quota: job 8: TimeLimit=18: Access/permission denied"
    ]
    waits = bench(job(8, **PAIR), scontrol_update=(1, "", "x"))
    waits.shares.allow(8, 900.0)
    assert waits.lines == []
    away = two(bench, scontrol_update=(1, "", "Unable to contact slurm controller"))
    away.shares._client = replace(away.shares._client, patience=0.0)
    with pytest.raises(AwayError):
        away.shares.allow(8, 900.0)


@pytest.mark.parametrize(
    ("quota", "limit", "weights"),
    [(30, "60000", (0.7 * 4, 0.3 * 2)), (90, "180000", (0.1 * 4, 0.9 * 2)), (0, None, (4.0, 0.01))],
)
def test_a_quota_is_a_limit_and_a_weight_by_the_cores_of_each(bench, monkeypatch, quota, limit, weights):
    rows = (running(7, comment="windlass share", cpus=4), running(8, comment="windlass share", cpus=2))
    found, weighed = bench(*rows, cpus=4), {}
    weigh = type(found.groups).weigh

    def weighs(groups, number, weight):
        weighed[number] = weight
        weigh(groups, number, weight)

    monkeypatch.setattr(type(found.groups), "weigh", weighs)
    found.shares.set_quotas([Pair(7, 8, quota)])
    assert (weighed[7], weighed[8]) == pytest.approx(weights)
    assert found.value("cpu", 7, "cpu.cfs_quota_us") == "-1"
    if limit is not None:
        assert found.value("cpu", 8, "cpu.cfs_quota_us") == limit


def test_unchanged_settings_are_not_rewritten_but_processes_are_moved_each_time(bench, monkeypatch):
    found, done = two(bench), []

    def note(name, real):
        def noted(groups, number, *given):
            done.append((name, number))
            return real(groups, number, *given)

        monkeypatch.setattr(type(found.groups), name, noted)

    for name in ("limit", "weigh", "take"):
        note(name, getattr(type(found.groups), name))
    found.shares.set_quotas([Pair(7, 8, 30)])
    assert sorted(done) == [(name, number) for name in ("limit", "take", "weigh") for number in (7, 8)]
    done.clear()
    found.shares.set_quotas([Pair(7, 8, 30)])
    assert done == [("take", 7), ("take", 8)]
    assert found.kept == [(Pair(7, 8, 30),)]
    assert len([each for each in found.fake.recorded if each[1:3] == ("show", "job")]) == 1


@pytest.mark.parametrize(("cores", "kept"), [("0-3", False), ("0-2", True)])
def test_a_host_with_the_whole_machine_is_not_pinned(bench, cores, kept):
    found = two(bench, scontrol_show_job=f"JobId=7\n   Nodes=w1 CPU_IDs={cores} Mem=0\n")
    found.shares.set_quotas([Pair(7, 8, 30)])
    assert (found.kernel.root / "cpuset" / "mine").exists() is kept


@pytest.mark.parametrize(
    ("rows", "pins"),
    [
        ([("w1", 4, "here")], True),
        ([("w1", 5, "here")], False),
        ([("w1", 2, "here"), ("w2", 2, "here")], False),
        ([("w1", 2, "there"), ("w2", 2, "here")], True),
        ([("w1", 2, "there")], False),
    ],
)
def test_jobs_are_pinned_only_if_this_machine_is_one_matching_node(bench, rows, pins):
    fake = nodes(*(node(name, cpus=cpus) | {"hostname": host} for name, cpus, host in rows))
    assert two(bench, sinfo=fake).shares._pins is pins


def test_a_pair_is_together_if_the_guest_s_nodes_are_the_host_s(bench):
    names = {"w[1-2]": "w1\nw2\n", "w[2-3]": "w2\nw3\n"}
    hosts = {"scontrol_show_hostnames": lambda command: names.get(command[-1], command[-1])}
    for host, guest, together in (
        ("w[1-2]", "w2", True),
        ("w2", "w[1-2]", False),
        ("w[1-2]", "w[2-3]", False),
        ("w1", "w1", True),
    ):
        found = bench(running(7, nodes=host, **PAIR), running(8, nodes=guest, **PAIR), **hosts)
        assert found.shares.together(7, 8) is together
    # For a job that Slurm has forgotten, nothing is known.
    assert bench(running(7, **PAIR)).shares.together(7, 8)
    assert bench(over(7), running(8, nodes="w2", **PAIR)).shares.together(6, 8)


def test_processes_of_a_job_are_those_of_all_its_groups(bench):
    found = two(bench)
    for name, pids in (("w1", "5\n6\n"), ("w2", "9\n")):
        (folder(found, "cpuacct", 7, name) / "cgroup.procs").write_text(pids)
    assert found.shares._members(7) == {5, 6, 9}
    assert found.shares._members(8) == set()

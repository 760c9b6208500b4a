"""ASAx on Slurm: which jobs are run, and what each row and picture shows."""

import contextlib
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tests.reproductions.keyed import axes, mean_and_half
from tests.reproductions.test_asax_runs import mean_text
from windlass.engines.slurm.entries import Began, Taking
from windlass.model import BatchError
from windlass_reproductions.asax import on_slurm, slurm_results


def mix(makespan, wait, cpu, ran):
    programs = ("montage", "blast", "stats", "synthetic")
    return slurm_results.MixRun(
        makespan,
        wait,
        cpu,
        np.array(ran),
        np.array([True, False, False, True]),
        programs,
        tuple(f"checksum {each}" for each in programs),
    )


def test_runs_on_slurm_are_compared_with_easy():
    mixes = {
        "EASY": [mix(100.0, 10.0, 50.0, [1.0, 2.0, 4.0, 8.0]), mix(110.0, 12.0, 52.0, [1.0, 2.0, 4.0, 8.0])],
        "static": [mix(80.0, 5.0, 70.0, [2.0, 2.0, 4.0, 8.0]), mix(99.0, 4.0, 78.0, [1.0, 4.0, 4.0, 16.0])],
    }
    rows = slurm_results.rows_of(mixes)
    assert [row.what for row in rows] == ["EASY: 2 runs of 4 jobs", "static: 2 runs of 4 jobs"]
    assert rows[1].ours == (
        f"makespan {mean_text([80.0, 99.0])} s; wait {mean_text([5.0, 4.0])} s; CPU {mean_text([70.0, 78.0])} %; "
        f"slowdown {mean_text([1.25, 1.5])}"
    )
    drawn = slurm_results.picture(mixes)
    (line,) = drawn.lines
    assert (axes(drawn), drawn.categories) == (("makespan", "", "s"), ("EASY", "static"))
    assert (list(line.x), list(line.y)) == ([0, 1], [105.0, 89.5])
    assert list(line.half_width) == pytest.approx([mean_and_half(each)[1] for each in ([100, 110], [80, 99])])
    lone = slurm_results.picture({name: each[:1] for name, each in mixes.items()})
    assert list(lone.lines[0].half_width) == [0.0, 0.0]
    mixes |= {"ASAx": mixes["static"], "pairs": mixes["static"]}
    verdicts = slurm_results.verdicts(mixes)
    assert [row.paper for row in verdicts[5:8]] == ["up to 12 % less", "higher", "3 to 9 %"]
    change = 100 * (np.array([0.8, 0.9]) - 1)
    mean, half = mean_and_half(change)
    assert verdicts[1].ours == f"{mean:+.1f} ± {half:.1f} %"
    assert verdicts[2].ours == f"{mean_text([1.4, 1.5])} times"
    assert verdicts[3].judged.parts[0].high == 1.1
    # One host took 2 s instead of 1 s, which is within the second of rounding; another one 16 s instead of 8 s.
    assert verdicts[4].ours == "3 of 4; slowdown 1.50 in the mean, 2.00 at most"
    assert verdicts[4].judged.parts[0].found.mean == 0.75


@pytest.mark.parametrize("quick", [True, False])
def test_each_repeat_on_slurm_starts_with_the_next_policy(monkeypatch, quick):
    calls, progress = [], []
    monkeypatch.setattr(on_slurm, "pace", lambda program: 1.0 + on_slurm.PROGRAMS.index(program))
    monkeypatch.setattr(on_slurm, "private_slurm", lambda: contextlib.nullcontext("cluster"))
    monkeypatch.setattr(
        on_slurm, "SHARE", SimpleNamespace(make=lambda name, rng, **given: (name, rng.random()))
    )

    def run_mix(cluster, share, rng, times, seconds, learner):
        calls.append((cluster, share, rng.random(), times, seconds, learner))
        return mix(1.0, 1.0, 1.0, [1.0] * 4)

    monkeypatch.setattr(on_slurm, "run_mix", run_mix)
    result = on_slurm.AsaxOnSlurm().reproduce(quick=quick, notify=lambda *step: progress.append(step))
    times, repeats, long = (1, 1, 6.0) if quick else (3, 3, 12.0)
    names = ["EASY", "static", "ASAx", "pairs"]
    seconds = {
        program: round(long / pace, 1)
        for program, pace in zip(("montage", "blast", "stats", "synthetic"), (1, 2, 3, 4), strict=True)
    }
    expected, steps = [], [("pace of this machine", 0.0)]
    for repeat in range(repeats):
        for turn in range(4):
            number = (turn + repeat) % 4
            drawn = np.random.default_rng([repeat, 17]).random()
            share = {0: None, 1: ("static", drawn), 2: ("asax", drawn), 3: ("pairs", drawn)}[number]
            expected.append(
                ("cluster", share, np.random.default_rng([repeat, 13]).random(), times, seconds, number)
            )
            steps.append(
                (f"repeat {repeat + 1}, {names[number]}", pytest.approx((repeat + turn / 4) / repeats))
            )
    assert calls == expected
    assert progress == [*steps, ("done", 1.0)]
    assert result.rows[0].ours == "montage 1.00, blast 2.00, stats 3.00, synthetic 4.00"
    assert f"each job has {long:g} s" in result.rows[0].what
    assert len(result.rows) == 1 + 4 + 13


def test_the_pace_is_measured_on_one_core(monkeypatch):
    clock = iter([10.0, 13.0])
    monkeypatch.setattr(on_slurm.time, "perf_counter", lambda: next(clock))
    calls = []

    def run(command, **given):
        calls.append(command)
        return SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(on_slurm.subprocess, "run", run)
    assert on_slurm.pace("montage") == 0.5
    (command,) = calls
    assert command[0] == sys.executable
    assert command[1].endswith("examples/workflows/montage.py")
    assert command[2:] == ["--seconds", "6", "--cores", "1", "--memory", "200MB"]
    clock = iter([10.0, 13.0])
    monkeypatch.setattr(
        on_slurm.subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=1, stderr=" broken ")
    )
    with pytest.raises(BatchError, match="montage failed: broken"):
        on_slurm.pace("montage")


@pytest.mark.parametrize("late", [False, True])
def test_a_mix_is_measured_from_its_first_submission_to_its_last_end(monkeypatch, tmp_path, late):
    calls, used = [], iter([100.0, 130.0])
    monkeypatch.setattr(on_slurm, "_submit", lambda *given, minutes: calls.append((*given[2:], minutes)))
    monkeypatch.setattr(on_slurm, "_cpu_seconds", lambda: next(used))
    monkeypatch.setattr(on_slurm, "Client", lambda commands: "client")
    monkeypatch.setattr(on_slurm, "Commands", lambda conf: conf)
    monkeypatch.setattr(on_slurm, "ORDER", SimpleNamespace(make=lambda name, rng: name))
    monkeypatch.setattr(on_slurm, "_checksum", lambda file: file.name)
    drivings = []
    done = SimpleNamespace(
        job=np.arange(8),
        submit=np.arange(8.0) + 2,
        start=np.arange(8.0) + 4,
        end=np.append(np.arange(7.0) + 10, np.inf if late else 22.0),
    )

    def drive_slurm(client, driving, report, observer):
        drivings.append(driving)
        # Job 2 is a guest of job 1, and then takes in job 3.
        shares = [(2, 1), (3, 2)]
        observer.appended([Taking(5.0, job, host, 40, 60.0, 50.0, 0.0, 0) for job, host in shares])
        observer.appended([Began(6.0, 2)])
        return done

    monkeypatch.setattr(on_slurm, "drive_slurm", drive_slurm)
    cluster = SimpleNamespace(folder=tmp_path, conf="conf")
    seconds = {program: float(place) for place, program in enumerate(on_slurm.PROGRAMS)}
    share = SimpleNamespace(name="asax")
    if late:
        with pytest.raises(BatchError, match=r"jobs \[7\] have no recorded end"):
            on_slurm.run_mix(cluster, share, np.random.default_rng(1), 2, seconds, 3)
        return
    found_mix = on_slurm.run_mix(cluster, share, np.random.default_rng(1), 2, seconds, 3)
    rng = np.random.default_rng(1)
    programs = [str(name) for name in rng.permutation(on_slurm.PROGRAMS * 2)]
    assert calls == [(at, name, seconds[name], int(rng.integers(1, 4))) for at, name in enumerate(programs)]
    assert (found_mix.makespan, found_mix.wait) == (20.0, 2.0)
    assert found_mix.cpu == pytest.approx(100.0 * 30.0 / (2 * 20.0))
    assert found_mix.ran.tolist() == [6.0] * 7 + [11.0]
    assert np.flatnonzero(found_mix.hosted).tolist() == [1]
    assert (found_mix.program, found_mix.checksums) == (
        tuple(programs),
        tuple(f"{at}.out" for at in range(8)),
    )
    (driving,) = drivings
    assert driving.policies == {"order": "easy", "share": share}
    assert driving.journal == tmp_path / "asax.3"
    assert (driving.options.until_idle, driving.checkpoint) == (True, 2.0)


def test_jobs_of_the_mix_are_submitted_held_and_may_share_and_restart(monkeypatch, tmp_path):
    calls = []

    def run(command, **given):
        calls.append(command)
        return SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(on_slurm.subprocess, "run", run)
    monkeypatch.setattr(on_slurm, "environment", lambda folder: {})
    on_slurm._submit(SimpleNamespace(folder=tmp_path), tmp_path, 5, "blast", 4.0, minutes=2)
    (command,) = calls
    assert command[:-1] == [
        "sbatch",
        "-H",
        "--comment=windlass share restart",
        "--job-name=blast",
        "--ntasks=2",
        "--mem=500M",
        "--time=2",
        f"--output={tmp_path / '5.out'}",
    ]
    assert command[-1].startswith(f"--wrap=export WINDLASS_PROGRESS={tmp_path / '5.progress'}; exec ")
    assert command[-1].endswith("--seconds 4 --cores 2 --memory 200MB")
    monkeypatch.setattr(
        on_slurm.subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=1, stderr="no ")
    )
    with pytest.raises(BatchError, match="sbatch failed: no"):
        on_slurm._submit(SimpleNamespace(folder=tmp_path), tmp_path, 5, "blast", 4.0, minutes=2)


def test_the_last_checksum_in_a_job_s_output_is_used(tmp_path):
    file = tmp_path / "7.out"
    assert on_slurm._checksum(file) == "none: 7.out"
    file.write_text("checksum 1\nchecksum 2\ndone\n")
    assert on_slurm._checksum(file) == "checksum 2"
    file.write_text("done\n")
    assert on_slurm._checksum(file) == "none: 7.out"


def test_the_private_slurm_is_shut_down_afterwards(monkeypatch, tmp_path):
    done = []
    monkeypatch.setattr(on_slurm.tempfile, "mkdtemp", lambda prefix: str(tmp_path / "own"))
    monkeypatch.setattr(on_slurm, "up", lambda *given: done.append(given) or ("cluster", 0))
    monkeypatch.setattr(on_slurm, "down", lambda folder: done.append(folder))
    with on_slurm.private_slurm() as cluster:
        assert cluster == "cluster"
    assert done == [(tmp_path / "own" / "slurm", 1, 2), tmp_path / "own" / "slurm"]

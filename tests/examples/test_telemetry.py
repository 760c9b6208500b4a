"""The example script that loads and records a machine stops its processes and writes small files."""

from __future__ import annotations

import importlib.util
import itertools
import os
import random
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "telemetry" / "record.py"


@pytest.fixture(scope="module")
def record():
    # The script imports the module next to it.
    sys.path.insert(0, str(SCRIPT.parent))
    spec = importlib.util.spec_from_file_location("windlass_example_record", SCRIPT)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name], sys.modules["service"]
    sys.path.remove(str(SCRIPT.parent))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_all_started_processes_and_cgroups_are_removed(record, tmp_path):
    started, ever = record.Started(), []
    begin = started.start

    def noted(*words):
        ever.append(begin(*words))
        return ever[-1]

    started.start = noted
    pattern = record.Pattern(0.4, (0.2, 30.0), (0.0, 0.1), 3, 0.5, 0.5, (0.1, 0.3))
    record.load(pattern, 3.0, random.Random(1), tmp_path, 1 << 20, 1 << 20, started)
    assert len(ever) > 3
    assert not any(alive(pid) for pid in ever)
    groups = Path("/sys/fs/cgroup")
    assert not list(groups.glob(f"*/windlass-record-{os.getpid()}"))
    assert not list(groups.glob(f"windlass-record-{os.getpid()}"))


def test_bursts_follow_the_seed_and_the_pattern(record):
    def drawn(name, seed):
        rng = random.Random(seed)
        return [record.Burst(record.PATTERNS[name], rng, 2).starts for _ in range(200)]

    assert drawn("tune", 1) == drawn("tune", 1)
    assert drawn("tune", 1) != drawn("tune", 2)
    for name, pattern in record.PATTERNS.items():
        bursts = drawn(name, 3)
        announced = np.mean([starts[0][1] == "prepare" for starts in bursts])
        assert announced == pytest.approx(pattern.announced, abs=0.12)
        for starts in bursts:
            times = [start for start, kind, _ in starts if kind == "burn"]
            assert times == sorted(times)
            assert 1 <= len(times) <= pattern.hogs


def test_a_recording_is_stored_as_float32_with_exact_times(record, tmp_path):
    path = tmp_path / "run.parquet"
    at = 1.7e9 + np.arange(100) + 0.25
    pl.DataFrame({"at": at, "busy": np.random.default_rng(1).random(100)}).write_parquet(path)
    record.small(path)
    table = pl.read_parquet(path)
    assert table["at"].to_list() == at.tolist()
    assert table["busy"].dtype == pl.Float32


def test_a_surge_rises_stays_and_falls(record):
    surge = record.service.Surge(start=10.0, rise=2.0, top=3.0, height=4.0)
    times = (9.9, 10.0, 11.0, 12.0, 15.0, 16.0, 17.0, 17.1)
    assert [surge.at(now) for now in times] == [0.0, 0.0, 2.0, 4.0, 4.0, 2.0, 0.0, 0.0]


def test_surges_and_batch_jobs_follow_the_seed(record):
    service = record.service
    one, same, other = (service.surges(random.Random(seed), 600.0, 2) for seed in ("a", "a", "b"))
    assert one == same != other
    # A surge starts at least ten seconds after the one before.
    assert all(after.start - before.start >= 10.0 for before, after in itertools.pairwise(one))
    assert all(0.8 <= each.height <= 4.0 and each.start < 600.0 for each in one)
    jobs = list(service.batch_jobs(random.Random("a"), 600.0))
    assert all(0.0 <= start < 600.0 and 1.0 <= length <= 6.0 for start, length in jobs)


def test_requests_of_a_process_are_its_share_of_the_load(record, monkeypatch):
    # In virtual time: a request takes no time, so that all of them are answered.
    service, clock, computed = record.service, [100.0], []
    monkeypatch.setattr(service.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(service.time, "sleep", lambda seconds: clock.__setitem__(0, clock[0] + seconds))
    monkeypatch.setattr(service, "surges", lambda rng, seconds, cores: [])
    service.answer("seed", 3, 2000.0, 2, 100.0, computed.append)
    # A quarter of two cores, over eight processes.
    assert sum(computed) == pytest.approx(0.25 * 2 * 2000.0 / service.PROCESSES, rel=0.1)

"""The example script that loads and records a machine stops its processes and writes small files."""

from __future__ import annotations

import importlib.util
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
    spec = importlib.util.spec_from_file_location("windlass_example_record", SCRIPT)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


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

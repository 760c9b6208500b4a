"""Logs of resource vectors, counts by time, and spot capacity."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.experiment.workloads.bins import jobs_of_bins
from windlass.io.traces.bins import Bins, read_bins
from windlass.io.traces.demands import read_demands
from windlass.io.traces.spot import read_spot
from windlass.model import InputError

TRACES = Path(__file__).parents[3] / "shared" / "traces"
PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time\n"
COUNTS = "time,submit_gpu_job,start_gpu_job,submit_gpu_num,end_gpu_num\n"


def written(folder, text: str, name: str = "log.csv"):
    path = folder / name
    path.write_text(text)
    return path


def test_a_table_is_sorted_and_keeps_its_values(tmp_path):
    text = "job,submit,run,gpus,cores,memory,walltime\n7,9,5,1,2.5,1e9,60\n3,4,6,0,1,0,70\n"
    jobs = read_demands(written(tmp_path, text)).jobs
    assert jobs.job.tolist() == [3, 7]
    assert jobs.resources.tolist() == [[0, 1, 0], [1, 2.5, 1e9]]
    assert (jobs.submit.tolist(), jobs.run.tolist(), jobs.walltime.tolist()) == ([4, 9], [6, 5], [70, 60])


def test_pods_have_fractional_gpus_and_unscheduled_ones_are_dropped(tmp_path):
    rows = "a,500,2,1,460,10,70,20\nb,1000,1,2,1000,5,9,\nc,2000,0,8,1000,7,8,8\n"
    found = read_demands(written(tmp_path, PODS + rows))
    assert found.notes == ("1 pods were never scheduled, and are left out",)
    assert found.jobs.job.tolist() == [3, 1]
    assert found.jobs.resources.tolist() == [[8.0, 2.0, 0.0], [0.46, 0.5, 2.0 * 2**20]]
    assert found.jobs.run.tolist() == [0.0, 50.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be read as CSV"),
        ("submit,gpus\n1,2\n", "no column run"),
        ("submit,run,gpus\n", "no jobs"),
        ("submit,run,gpus\n1,2,1\n1,x,1\n", "line 3: run is 'x', expected a number of 0 or more"),
        ("submit,run,gpus\n1,-2,1\n", "line 2: run is '-2'"),
        ("submit,run,gpus\n1,2,\n", "line 2: gpus is empty"),
        ("submit,run,gpus\n1,2,0\n", "job 1 requests nothing"),
        ("submit,run,gpus\n1,2,inf\n", "line 2: gpus is 'inf'"),
        (PODS.replace("num_gpu,", ""), "no jobs"),
        (PODS.replace("num_gpu,", "") + "a,1,1,1,1,1,1\n", "column num_gpu is missing"),
        (PODS + "a,1,1,1,1,1,1,\n", "none of its pods was scheduled"),
        (PODS + "a,1,1,1,1,1,1,\nb,y,1,1,1,1,1,1\n", "line 3: cpu_milli is 'y'"),
    ],
)
def test_bad_tables_are_named(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_demands(written(tmp_path, text))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("2020-04-01 00:00:00,1,1,1,1\n", "has 1 bins"),
        ("2020-04-01 00:00:00,1,1,1,1\nsoon,1,1,1,1\n", "line 3: time is 'soon'"),
        ("2020-04-01 00:00:00,1,1,1,1\n2020-04-01 00:00:00,1,1,1,1\n", "line 3: 0 s after"),
        (
            "2020-04-01 00:00:00,1,1,1,1\n2020-04-01 00:10:00,1,1,1,1\n2020-04-01 00:30:00,1,1,1,1\n",
            "line 4: 1200 s after",
        ),
        ("2020-04-01 00:00:00,1,1,1,1\n2020-04-01 00:10:00,1,1,0.5,1\n", "line 3: submit_gpu_num is 0.5"),
        (
            "2020-04-01 00:00:00,2,1,1,1\n2020-04-01 00:10:00,1,1,1,1\n",
            "bin 0 has 2 jobs that request 1 GPUs",
        ),
    ],
)
def test_bad_counts_are_named(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        read_bins(written(tmp_path, COUNTS + rows))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1: not JSON"),
        ("[]", "metadata.gap_seconds is None"),
        ('{"metadata": {"gap_seconds": 0}, "data": [1]}', "gap_seconds is 0"),
        ('{"metadata": {"gap_seconds": 5}, "data": []}', "data is list"),
        ('{"metadata": {"gap_seconds": 5}, "data": [1, -1]}', r"data\[1\] is -1"),
        ('{"metadata": {"gap_seconds": 5}, "data": [1, true]}', r"data\[1\] is True"),
    ],
)
def test_bad_spot_traces_are_named(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_spot(written(tmp_path, text, "spot.json"))


def within_counts(bins: Bins, jobs) -> None:
    """Submits are those of the counts in each bin; GPUs that have ended, but for less than a job's."""
    before = jobs.submit == 0.0
    count, seconds = len(bins.submitted), bins.seconds
    fresh = jobs.submit[~before]
    place = np.minimum((fresh // seconds).astype(int), count - 1)
    gpus = jobs.resources[:, 0]
    assert np.array_equal(np.bincount(place, minlength=count), bins.submitted)
    assert np.array_equal(np.bincount(place, gpus[~before], count), bins.requested)
    end = jobs.submit + jobs.run
    for number in range(count):
        over = float(gpus[end < (number + 1) * seconds - 1e-6].sum())
        owed = int(bins.ended[: number + 1].sum())
        assert over <= owed


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), st.integers(0, 12)), min_size=2, max_size=15),
    st.integers(0, 99),
)
def test_generated_jobs_match_the_counts(rows, seed):
    submitted = np.array([jobs for jobs, _, _ in rows])
    requested = np.array([jobs + more * (jobs > 0) for jobs, more, _ in rows])
    ended = np.array([end for _, _, end in rows])
    bins = Bins(600.0, submitted, submitted, requested, ended)
    if not submitted.sum() and not ended.sum():
        with pytest.raises(InputError, match="no job is submitted"):
            jobs_of_bins(bins, np.random.default_rng(seed))
        return
    within_counts(bins, jobs_of_bins(bins, np.random.default_rng(seed)))


@pytest.mark.slow
def test_jobs_from_real_counts_match_the_gpus_in_use():
    path = TRACES / "elastic" / "helios_venus.csv"
    if not path.is_file():
        pytest.skip("shared/traces/elastic is not here")
    read = read_bins(path)
    assert len(jobs_of_bins(read, np.random.default_rng(1))) > 99_000
    # Run times count from the start: without waiting, jobs end when the counts say.
    bins = Bins(read.seconds, read.submitted, read.submitted, read.requested, read.ended)
    jobs = jobs_of_bins(bins, np.random.default_rng(1))
    over = np.sort(jobs.submit + jobs.run)
    gpus = jobs.resources[np.argsort(jobs.submit + jobs.run, kind="stable"), 0]
    ended = np.concatenate(([0.0], np.cumsum(gpus)))
    edges = (np.arange(len(bins.ended)) + 1) * bins.seconds
    found = ended[np.searchsorted(over, edges - 1e-6)]
    owed = np.cumsum(bins.ended)
    assert (found <= owed).all()
    # Off by less than the jobs of one instance, on average.
    assert (owed - found).mean() < 8.0


def test_real_tables_are_read():
    folder = TRACES / "gpu"
    if not folder.is_dir():
        pytest.skip("shared/traces/gpu is not here")
    philly = read_demands(folder / "philly_by_vc.csv", cores_per_gpu=5).jobs
    assert len(philly) == 15_264
    assert (philly.resources[:, 1] == 5 * philly.resources[:, 0]).all()
    pods = read_demands(folder / "openb_pod_list_default.csv")
    assert len(pods.jobs) + int(pods.notes[0].split()[0].replace(",", "")) == 8152

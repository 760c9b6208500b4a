"""Jobs reconstructed from counts per time bin: sizes, starts, ends, and jobs that ran before the first bin."""

import numpy as np
import pytest
from scipy import stats

from windlass.experiment.workloads.bins import jobs_of_bins
from windlass.io.traces.bins import Bins
from windlass.model import InputError


def made(submitted, started, requested, ended, seed=1, seconds=600.0, **options):
    counts = (np.array(each, np.int64) for each in (submitted, started, requested, ended))
    return jobs_of_bins(Bins(seconds, *counts), np.random.default_rng(seed), **options)


def follows(sample, law):
    return stats.kstest(sample, law.cdf).pvalue > 1e-3


def test_a_job_runs_from_its_start_bin_to_its_end_bin():
    found = [made([1, 0, 0], [0, 1, 0], [4, 0, 0], [0, 0, 4], seed) for seed in range(300)]
    assert all(jobs.resources.tolist() == [[4.0, 0.0, 0.0]] for jobs in found)
    assert follows([jobs.submit[0] for jobs in found], stats.uniform(0, 600))
    # Both times are uniform in their bins, so their difference has a triangular distribution.
    assert follows([jobs.run[0] for jobs in found], stats.triang(0.5, 0, 1200))


def test_jobs_without_an_end_start_on_arrival_and_run_to_the_end():
    jobs = made([3, 2], [3, 2], [3, 2], [0, 0])
    assert (jobs.submit + jobs.run).tolist() == pytest.approx([1200.0] * 5)
    assert (jobs.submit[:3] < 600.0).all()
    assert (jobs.submit[3:] >= 600.0).all()
    # A job that never starts by the counts starts on arrival.
    late = made([2, 0], [0, 0], [2, 0], [0, 0])
    assert (late.submit + late.run).tolist() == pytest.approx([1200.0] * 2)


def test_jobs_start_in_order_of_arrival():
    runs = []
    for seed in range(100):
        jobs = made([2, 0, 0], [1, 0, 1], [2, 0, 0], [0, 0, 0], seed)
        assert jobs.submit[0] + jobs.run[0] == pytest.approx(1800.0)
        runs.append(jobs.run[1])
    assert follows(runs, stats.uniform(0, 600))


def test_sizes_are_doubled_at_random_and_one_job_gets_the_remainder():
    pairs, irregular_counts = [], []
    for seed in range(200):
        sizes = made([2, 0], [2, 0], [5, 0], [0, 0], seed).resources[:, 0]
        assert sizes.sum() == 5
        pairs.append(tuple(sorted(sizes.tolist())))
        sizes = made([5, 0], [5, 0], [24, 0], [0, 0], seed).resources[:, 0]
        assert sizes.sum() == 24
        irregular_counts.append(sum(size not in (1, 2, 4, 8, 16) for size in sizes.tolist()))
    # Doubling from 1 + 1 gives 2 + 1, then 2 + 2 or 4 + 1; the remainder goes to one of the jobs.
    assert set(pairs) == {(2.0, 3.0), (1.0, 4.0)}
    assert max(irregular_counts) <= 1
    alone = made([1, 1], [1, 1], [7, 1], [0, 0]).resources[:, 0]
    assert alone.tolist() == [7.0, 1.0]


def test_the_number_of_jobs_before_the_first_bin_is_minimal():
    jobs = made([0, 0], [0, 0], [0, 0], [3, 0])
    assert (jobs.submit.tolist(), jobs.resources[:, 0].tolist()) == ([0.0], [3.0])
    assert 0.0 < jobs.run[0] <= 600.0
    # Two more GPUs end than were submitted; jobs have two GPUs each on average.
    jobs = made([2, 0], [2, 0], [4, 0], [6, 0])
    assert (jobs.submit == 0.0).sum() == 1
    assert jobs.resources[0, 0] == 2.0
    assert (jobs.submit + jobs.run <= 600.0).all()
    many = made([8, 0], [8, 0], [8, 0], [0, 12])
    assert (many.submit == 0.0).sum() == 4
    # The only known job requests one GPU, so each earlier job has one.
    assert (made([1, 0], [1, 0], [1, 0], [0, 5]).submit == 0.0).sum() == 4
    enough = made([2, 0], [2, 0], [4, 0], [0, 4])
    assert (enough.submit > 0.0).all()
    with pytest.raises(InputError, match="no job is submitted"):
        made([0, 0], [0, 0], [0, 0], [0, 0])


@pytest.mark.parametrize("seed", range(30))
def test_ended_gpus_match_the_counts_up_to_the_smallest_running_job(seed):
    rng = np.random.default_rng([seed, 1])
    submitted = rng.integers(0, 6, 12)
    requested = submitted + (submitted > 0) * rng.integers(0, 12, 12)
    ended = rng.integers(0, 8, 12)
    jobs = made(submitted, submitted, requested, ended, seed)
    gpus, end = jobs.resources[:, 0], jobs.submit + jobs.run
    for number in range(12):
        closes = 600.0 * (number + 1)
        ended_gpus = gpus[end <= closes - 1e-6].sum() if number < 11 else None
        runs = gpus[(jobs.submit < closes) & (end > closes - 1e-6)]
        if ended_gpus is not None and len(runs):
            assert 0 <= ended[: number + 1].sum() - ended_gpus < runs.min()


def test_jobs_request_cores_and_memory_per_gpu():
    jobs = made([1, 1], [1, 1], [2, 3], [0, 0], cores_per_gpu=4.0, memory_per_gpu=5.0)
    assert jobs.resources.tolist() == [[2.0, 8.0, 10.0], [3.0, 12.0, 15.0]]
    plain = made([1, 1], [1, 1], [2, 3], [0, 0])
    assert plain.resources.tolist() == [[2.0, 0.0, 0.0], [3.0, 0.0, 0.0]]


def test_a_job_may_start_and_end_in_one_bin():
    found = [made([1, 0], [1, 0], [1, 0], [1, 0], seed) for seed in range(300)]
    ends = [jobs.submit[0] + jobs.run[0] for jobs in found]
    assert min(jobs.run[0] for jobs in found) > 0.0
    assert max(ends) <= 600.0
    # The end is uniform between the start and the end of the bin.
    shares = [jobs.run[0] / (600.0 - jobs.submit[0]) for jobs in found]
    assert follows(shares, stats.uniform())


def test_bins_may_be_shorter_than_a_second():
    jobs = made([2, 1], [2, 1], [2, 1], [0, 0], seconds=0.25)
    assert jobs.submit.max() < 0.5
    assert (jobs.submit + jobs.run).tolist() == pytest.approx([0.5] * 3)
    assert jobs.run.min() > 0.0

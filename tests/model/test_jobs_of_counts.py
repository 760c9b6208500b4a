"""Jobs made of counts by time: their sizes, when they start and end, and those that ran before."""

import numpy as np
import pytest
from scipy import stats

from windlass.experiment.workloads.bins import jobs_of_bins
from windlass.io.traces.bins import Bins
from windlass.model import InputError


def made(submitted, started, asked, ended, seed=1, seconds=600.0, **besides):
    counts = (np.array(each, np.int64) for each in (submitted, started, asked, ended))
    return jobs_of_bins(Bins(seconds, *counts), np.random.default_rng(seed), **besides)


def follows(sample, law):
    return stats.kstest(sample, law.cdf).pvalue > 1e-3


def test_a_job_runs_from_the_bin_that_it_starts_in_to_the_one_that_it_ends_in():
    found = [made([1, 0, 0], [0, 1, 0], [4, 0, 0], [0, 0, 4], seed) for seed in range(300)]
    assert all(jobs.resources.tolist() == [[4.0, 0.0, 0.0]] for jobs in found)
    assert follows([jobs.submit[0] for jobs in found], stats.uniform(0, 600))
    # Both instants are even in their bins: the difference is a triangle.
    assert follows([jobs.run[0] for jobs in found], stats.triang(0.5, 0, 1200))


def test_jobs_that_do_not_end_run_up_to_the_end_and_start_when_they_come():
    jobs = made([3, 2], [3, 2], [3, 2], [0, 0])
    assert (jobs.submit + jobs.run).tolist() == pytest.approx([1200.0] * 5)
    assert (jobs.submit[:3] < 600.0).all()
    assert (jobs.submit[3:] >= 600.0).all()
    # One that never starts by the counts starts when it comes.
    late = made([2, 0], [0, 0], [2, 0], [0, 0])
    assert (late.submit + late.run).tolist() == pytest.approx([1200.0] * 2)


def test_jobs_start_in_the_order_in_which_they_come():
    runs = []
    for seed in range(100):
        jobs = made([2, 0, 0], [1, 0, 1], [2, 0, 0], [0, 0, 0], seed)
        assert jobs.submit[0] + jobs.run[0] == pytest.approx(1800.0)
        runs.append(jobs.run[1])
    assert follows(runs, stats.uniform(0, 600))


def test_sizes_are_doubled_at_random_and_one_has_what_is_left():
    pairs, many = [], []
    for seed in range(200):
        sizes = made([2, 0], [2, 0], [5, 0], [0, 0], seed).resources[:, 0]
        assert sizes.sum() == 5
        pairs.append(tuple(sorted(sizes.tolist())))
        sizes = made([5, 0], [5, 0], [24, 0], [0, 0], seed).resources[:, 0]
        assert sizes.sum() == 24
        many.append(sum(size not in (1, 2, 4, 8, 16) for size in sizes.tolist()))
    # From one each: 2 + 1, then 2 + 2 or 4 + 1; what is left over goes to one of the first.
    assert set(pairs) == {(2.0, 3.0), (1.0, 4.0)}
    assert max(many) <= 1
    alone = made([1, 1], [1, 1], [7, 1], [0, 0]).resources[:, 0]
    assert alone.tolist() == [7.0, 1.0]


def test_jobs_that_ran_before_are_as_few_as_the_counts_allow():
    jobs = made([0, 0], [0, 0], [0, 0], [3, 0])
    assert (jobs.submit.tolist(), jobs.resources[:, 0].tolist()) == ([0.0], [3.0])
    assert 0.0 < jobs.run[0] <= 600.0
    # Two GPUs end that no job of the counts has; jobs have two each on average.
    jobs = made([2, 0], [2, 0], [4, 0], [6, 0])
    assert (jobs.submit == 0.0).sum() == 1
    assert jobs.resources[0, 0] == 2.0
    assert (jobs.submit + jobs.run <= 600.0).all()
    many = made([8, 0], [8, 0], [8, 0], [0, 12])
    assert (many.submit == 0.0).sum() == 4
    # As many as the only job that is known to ask for one says.
    assert (made([1, 0], [1, 0], [1, 0], [0, 5]).submit == 0.0).sum() == 4
    enough = made([2, 0], [2, 0], [4, 0], [0, 4])
    assert (enough.submit > 0.0).all()
    with pytest.raises(InputError, match="no job is submitted"):
        made([0, 0], [0, 0], [0, 0], [0, 0])


@pytest.mark.parametrize("seed", range(30))
def test_as_many_gpus_have_ended_as_the_counts_say_but_for_less_than_the_smallest_job(seed):
    rng = np.random.default_rng([seed, 1])
    submitted = rng.integers(0, 6, 12)
    asked = submitted + (submitted > 0) * rng.integers(0, 12, 12)
    ended = rng.integers(0, 8, 12)
    jobs = made(submitted, submitted, asked, ended, seed)
    gpus, end = jobs.resources[:, 0], jobs.submit + jobs.run
    for number in range(12):
        closes = 600.0 * (number + 1)
        over = gpus[end <= closes - 1e-6].sum() if number < 11 else None
        runs = gpus[(jobs.submit < closes) & (end > closes - 1e-6)]
        if over is not None and len(runs):
            assert 0 <= ended[: number + 1].sum() - over < runs.min()


def test_jobs_ask_for_more_beside_their_gpus():
    jobs = made([1, 1], [1, 1], [2, 3], [0, 0], cores_per_gpu=4.0, memory_per_gpu=5.0)
    assert jobs.resources.tolist() == [[2.0, 8.0, 10.0], [3.0, 12.0, 15.0]]
    plain = made([1, 1], [1, 1], [2, 3], [0, 0])
    assert plain.resources.tolist() == [[2.0, 0.0, 0.0], [3.0, 0.0, 0.0]]


def test_a_job_may_start_and_end_in_one_bin():
    found = [made([1, 0], [1, 0], [1, 0], [1, 0], seed) for seed in range(300)]
    ends = [jobs.submit[0] + jobs.run[0] for jobs in found]
    assert min(jobs.run[0] for jobs in found) > 0.0
    assert max(ends) <= 600.0
    # The end is even between the start and the end of the bin.
    shares = [jobs.run[0] / (600.0 - jobs.submit[0]) for jobs in found]
    assert follows(shares, stats.uniform())


def test_bins_may_be_shorter_than_a_second():
    jobs = made([2, 1], [2, 1], [2, 1], [0, 0], seconds=0.25)
    assert jobs.submit.max() < 0.5
    assert (jobs.submit + jobs.run).tolist() == pytest.approx([0.5] * 3)
    assert jobs.run.min() > 0.0

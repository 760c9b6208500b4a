"""Synthetic arrivals, sizes and times follow their documented distributions."""

import numpy as np
import pytest
from scipy import stats

from windlass.experiment.workloads.arrivals import Bursty, arrival_times
from windlass.experiment.workloads.estimates import guess
from windlass.experiment.workloads.measured import LEFT_OUT_FACTORS, OVERESTIMATES, Quantiles
from windlass.experiment.workloads.seconds import LONGEST_TASK_S, MEAN_TASK_S, PARETO_SHAPE, draw_seconds
from windlass.experiment.workloads.service import Pareto, mean_size, task_sizes
from windlass.experiment.workloads.sizes import LAWS, draw_sizes
from windlass.experiment.workloads.spread import spread
from windlass.experiment.workloads.tasks import draw_tasks
from windlass.model import InputError


def rng(seed=1):
    return np.random.default_rng(seed)


def follows(sample, law):
    """Return True if a Kolmogorov–Smirnov test does not reject the distribution (p > 0.001)."""
    return stats.kstest(sample, law.cdf).pvalue > 1e-3


def test_poisson_arrivals_have_exponential_gaps():
    times = arrival_times("poisson", 4.0, 20_000, rng())
    assert follows(np.diff(times, prepend=0.0), stats.expon(scale=0.25))


def test_given_arrival_times_are_replayed():
    assert arrival_times([0.0, 2.0, 2.0], 9.0, 3, rng()).tolist() == [0.0, 2.0, 2.0]
    for bad in ([-1.0, 0.0, 1.0], [0.0, 2.0, 1.0]):
        with pytest.raises(InputError, match="do not decrease"):
            arrival_times(bad, 9.0, 3, rng())
    with pytest.raises(InputError, match="arrivals has shape"):
        arrival_times([0.0], 9.0, 3, rng())
    with pytest.raises(InputError, match="value 1 is not a finite number"):
        arrival_times([0.0, np.nan, 2.0], 9.0, 3, rng())
    with pytest.raises(InputError, match="arrivals is 'steady'"):
        arrival_times("steady", 9.0, 3, rng())


@pytest.mark.parametrize(("ratio", "share"), [(5.0, 0.1), (20.0, 0.4)])
def test_bursty_arrivals_are_a_poisson_process_of_two_rates(ratio, share):
    """The mean rate, and the variance over the mean of counts in long windows, in closed form."""
    rate, cycle, count = 2.0, 40.0, 400_000
    times = Bursty(ratio, share, cycle).times(rate, count, rng())
    assert times[-1] == pytest.approx(count / rate, rel=0.02)
    calm = rate / (1 - share + share * ratio)
    burst = calm * ratio
    length = cycle / rate
    leave_calm, leave_burst = 1 / (length * (1 - share)), 1 / (length * share)
    both = leave_calm + leave_burst
    spread_out = (burst - calm) ** 2 * leave_calm * leave_burst
    dispersion = 1 + 2 * spread_out / (both**2 * (calm * leave_burst + burst * leave_calm))
    window = 40 * length
    counts = np.histogram(times, np.arange(0.0, times[-1], window))[0]
    assert counts.var() / counts.mean() == pytest.approx(dispersion, rel=0.25)
    # In windows much shorter than a burst, counts are those of a mixture of two Poisson laws.
    short = 0.02 * length * share
    counts = np.histogram(times, short * np.arange(100_000))[0]
    empty = (1 - share) * np.exp(-calm * short) + share * np.exp(-burst * short)
    assert (counts == 0).mean() == pytest.approx(empty, abs=0.02)


def test_bursts_are_by_default_five_times_the_calm_for_a_tenth_of_the_time():
    assert Bursty() == Bursty(ratio=5.0, share=0.1, cycle=1000.0)
    one = arrival_times(Bursty(ratio=1.0), 3.0, 20_000, rng())
    assert follows(np.diff(one, prepend=0.0), stats.expon(scale=1 / 3))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"ratio": 0.99}, "ratio is 0.99, expected at least 1"),
        ({"ratio": np.inf}, "ratio is inf"),
        ({"share": 0.0}, "share is 0.0, expected above 0 and below 1"),
        ({"share": 1.0}, "share is 1.0"),
        ({"cycle": 0.0}, "cycle is 0.0, expected above 0"),
        ({"cycle": np.inf}, "cycle is inf"),
    ],
)
def test_bursts_out_of_bounds_are_rejected(changed, message):
    with pytest.raises(InputError, match=message):
        Bursty(**changed)


def test_task_sizes_follow_their_distribution():
    assert follows(task_sizes("exponential", 20_000, rng()), stats.expon())
    assert task_sizes("fixed", 3, rng()).tolist() == [1.0, 1.0, 1.0]
    law = Pareto(shape=3.0, mean=6.0)
    found = task_sizes(law, 20_000, rng())
    assert follows(found, stats.pareto(3.0, scale=4.0))
    assert found.min() >= 4.0
    assert Pareto() == Pareto(shape=2.5, mean=1.0)
    assert task_sizes([2.0, 0.5], 2, rng()).tolist() == [2.0, 0.5]
    assert mean_size(law, found) == 6.0
    assert mean_size("fixed", found) == 1.0
    assert mean_size([2.0, 0.5], np.array([2.0, 0.5])) == 1.25


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Pareto(shape=1.0), "shape is 1.0, expected above 1"),
        (lambda: Pareto(shape=np.inf), "shape is inf"),
        (lambda: Pareto(mean=0.0), "mean is 0.0, expected above 0"),
        (lambda: Pareto(mean=np.inf), "mean is inf"),
        (lambda: task_sizes("uniform", 2, rng()), "service is 'uniform'"),
        (lambda: task_sizes([1.0, 0.0], 2, rng()), "task 1 has size 0.0, expected above 0"),
        (lambda: task_sizes([1.0], 2, rng()), "service has shape"),
    ],
)
def test_task_sizes_out_of_bounds_are_rejected(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("service", "mean"), [("exponential", 1.0), ("fixed", 1.0), (Pareto(shape=4.0, mean=2.0), 2.0)]
)
@pytest.mark.parametrize("per_job", [1, 4])
def test_tasks_arrive_at_the_given_load(service, mean, per_job):
    drawn = draw_tasks(40_000, 0.75, "poisson", service, tasks_per_job=per_job, capacity=12.0, seed=3)
    jobs = drawn.submit[::per_job]
    assert (drawn.submit.reshape(-1, per_job) == jobs[:, None]).all()
    assert follows(np.diff(jobs, prepend=0.0), stats.expon(scale=mean * per_job / (0.75 * 12.0)))
    assert len(drawn.work) == 40_000


def test_arrivals_and_sizes_have_independent_random_streams():
    one = draw_tasks(100, 0.5, "poisson", "exponential", tasks_per_job=1, capacity=1.0, seed=3)
    other = draw_tasks(100, 0.5, "poisson", "fixed", tasks_per_job=1, capacity=1.0, seed=3)
    third = draw_tasks(100, 0.5, "poisson", "exponential", tasks_per_job=1, capacity=1.0, seed=4)
    assert (one.submit == other.submit).all()
    assert (one.submit != third.submit).all()
    keys = [each.spawn_key for each in (one.policy, one.schedulers)]
    assert keys[0] != keys[1]
    # Arrivals and sizes of one seed are not correlated either.
    assert abs(np.corrcoef(np.diff(one.submit), one.work[1:])[0, 1]) < 0.3


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tasks": 7}, "tasks is 7, expected a multiple of tasks_per_job, 2"),
        ({"load": None}, "load is None, expected a number above 0 unless arrivals are times"),
        ({"load": 0.0}, "load is 0.0, expected a finite number above 0"),
        ({"arrivals": [0.0, 1.0, 2.0]}, "load is 0.5, expected None if arrival times are given"),
    ],
)
def test_task_settings_out_of_bounds_are_rejected(changed, message):
    given = {"tasks": 6, "load": 0.5, "arrivals": "poisson", "service": "fixed", **changed}
    with pytest.raises(InputError, match=message):
        draw_tasks(*given.values(), tasks_per_job=2, capacity=1.0, seed=1)


def test_task_times_follow_a_truncated_pareto_distribution():
    """The shortest and the longest time determine the distribution, whose mean is the given one."""
    for mean, longest in ((MEAN_TASK_S, LONGEST_TASK_S), (1.0, 50.0)):
        found = draw_seconds(40_000, rng(), mean, longest)
        shortest = found.min()
        whole = 1 - (shortest / longest) ** 1.259

        class Cut:
            @staticmethod
            def cdf(at, shortest=shortest, whole=whole):
                return (1 - (shortest / at) ** 1.259) / whole

        assert follows(found, Cut)
        assert found.mean() == pytest.approx(mean, rel=0.03)
        assert found.max() <= longest
    assert (PARETO_SHAPE, MEAN_TASK_S, LONGEST_TASK_S) == (1.259, 2.0, 20.0)
    assert (draw_seconds(9, rng()) == draw_seconds(9, rng(), 2.0, 20.0)).all()
    for mean, longest in ((2.0, 2.0), (0.0, 9.0)):
        with pytest.raises(InputError, match="expected more than the mean"):
            draw_seconds(9, rng(), mean, longest)


#: Table 3.2 of the thesis: the mean, and the shares of small and of medium jobs.
CLASSES = {"facebook": (364.6, 0.89, 0.08), "google": (86.9, 0.96, 0.02)}


@pytest.mark.parametrize("law", CLASSES)
def test_job_sizes_have_the_classes_and_the_mean_of_their_distribution(law):
    sizes = draw_sizes(law, 200_000, rng())
    mean, small, medium = CLASSES[law]
    assert (LAWS[law].mean, LAWS[law].small, LAWS[law].medium) == (mean, small, medium)
    assert sizes.min() == 1
    assert sizes.max() <= LAWS[law].largest
    assert (sizes <= 150).mean() == pytest.approx(small, abs=0.003)
    assert ((sizes > 150) & (sizes <= 500)).mean() == pytest.approx(medium, abs=0.003)
    assert sizes.mean() == pytest.approx(mean, rel=0.03)
    for low, high in ((1, 151), (151, 501), (501, LAWS[law].largest)):
        inside = sizes[(sizes >= low) & (sizes < high)]
        # Log-uniform: half of the jobs are below the geometric mean of the bounds.
        assert (inside < np.sqrt(low * high)).mean() == pytest.approx(0.5, abs=0.06)


def test_exponential_sizes_are_whole_numbers_with_their_mean():
    sizes = draw_sizes("exponential", 100_000, rng())
    assert sizes.min() == 1
    assert follows(sizes - rng(2).random(len(sizes)), stats.expon(scale=800.0))
    with pytest.raises(
        InputError, match=r"unknown law 'zipf', expected one of facebook, google, exponential"
    ):
        draw_sizes("zipf", 1, rng())


@pytest.mark.parametrize(("skew", "exponent"), [("uniform", 0.0), (0.0, 0.0), (2.0, 2.0), ("one-site", 60.0)])
def test_tasks_are_spread_over_sites_by_zipfs_law(skew, exponent):
    sizes = np.full(300, 1000)
    found = spread(sizes, 4, skew, rng())
    assert (found.sum(axis=1) == 1000).all()
    share = np.arange(1.0, 5.0) ** -exponent
    ranked = np.sort(found, axis=1)[:, ::-1].mean(axis=0)
    assert ranked == pytest.approx(1000 * share / share.sum(), abs=20)
    # The site with the most tasks is drawn for each job.
    assert found.sum(axis=0) == pytest.approx(np.full(4, 75_000), rel=0.2)


def test_a_guess_is_off_by_at_most_its_inaccuracy():
    truth = np.full(20_000, 8.0)
    found = guess(truth, 0.25, rng())
    assert follows(found, stats.uniform(2.0, 12.0))
    assert (guess(truth, 1.0, rng()) == truth).all()


@pytest.mark.parametrize("values", [(1.0, 2.0, 4.0, 10.0), OVERESTIMATES.values, LEFT_OUT_FACTORS.values])
def test_a_measured_distribution_has_its_quantiles(values):
    found = Quantiles(values).draw(40_000, rng())
    assert found.min() >= values[0]
    assert found.max() <= values[-1]
    steps = np.linspace(0.0, 1.0, len(values))
    assert list(values) == sorted(values)
    # Half of the values between two quantiles are below their middle.
    for low, high, step in zip(values, values[1:], steps, strict=False):
        below = (found <= (low + high) / 2).mean()
        assert below == pytest.approx(step + 0.5 / (len(values) - 1), abs=0.01)

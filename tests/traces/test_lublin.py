"""The Lublin-Feitelson model: its closed-form distributions, and its arrivals against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import gamma

from windlass.experiment.workloads import lublin
from windlass.experiment.workloads.lublin.day import Day, draw_points
from windlass.experiment.workloads.lublin.kinds import BATCH, COMBINED, INTERACTIVE, JobKind
from windlass.experiment.workloads.lublin.model import draw_requests, draw_runs, draw_sizes
from windlass.model import InputError

KINDS = {"combined": COMBINED, "batch": BATCH, "interactive": INTERACTIVE}
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
MANY = 100_000


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def within_chance(found: float, expected: float, n: int) -> bool:
    """Whether a share of n is within five standard deviations of what is expected."""
    return abs(found - expected) <= 5 * np.sqrt(expected * (1 - expected) / n)


def stages_below(kind: JobKind, log_size: float) -> float:
    """The distribution function of the two-stage uniform log2 of sizes."""
    first = np.clip((log_size - kind.low) / (kind.middle - kind.low), 0, 1)
    second = np.clip((log_size - kind.middle) / (kind.high - kind.middle), 0, 1)
    return float(kind.first_stage * first + (1 - kind.first_stage) * second)


@kinds
def test_sizes_follow_the_distribution(kind: JobKind) -> None:
    sizes = draw_sizes(kind.sized(128), MANY, 128, rng())
    power = kind.power_of_two
    other = 1 - kind.serial - power
    for size in range(1, 129):
        share = other * (stages_below(kind, np.log2(size + 0.5)) - stages_below(kind, np.log2(size - 0.5)))
        exponent = np.log2(size)
        if exponent % 1 == 0:
            share += power * (stages_below(kind, exponent + 0.5) - stages_below(kind, exponent - 0.5))
        share += kind.serial * (size == 1)
        assert within_chance(float((sizes == size).mean()), share, MANY), size


@pytest.mark.parametrize("processors", [1, 2, 3, 5, 24, 100, 1000, 100_000])
@pytest.mark.parametrize("two_kinds", [False, True])
def test_no_job_is_larger_than_the_system(processors: int, two_kinds: bool) -> None:
    jobs = lublin(3000, processors, rng(), kinds=two_kinds)
    assert jobs.procs.min() == 1
    assert processors * 0.5 < jobs.procs.max() <= processors or two_kinds


def test_powers_of_two_are_kept_on_other_system_sizes() -> None:
    sizes = draw_sizes(COMBINED.sized(100), MANY, 100, rng())
    share = (np.log2(sizes) % 1 == 0).mean()
    assert share > COMBINED.serial + COMBINED.power_of_two - 0.01


@kinds
@pytest.mark.parametrize("procs", [1, 16, 128, 1000])
def test_run_times_follow_a_hyper_gamma_by_size(kind: JobKind, procs: int) -> None:
    logs = np.log(draw_runs(kind, np.full(MANY, procs), rng()))
    share = float(np.clip(kind.slope * procs + kind.intercept, 0, 1))
    first, second = gamma(kind.shape_1, scale=kind.scale_1), gamma(kind.shape_2, scale=kind.scale_2)
    all_kept = share * first.cdf(12) + (1 - share) * second.cdf(12)
    for level in np.linspace(2, 12, 21):
        below = (share * first.cdf(level) + (1 - share) * second.cdf(level)) / all_kept
        assert within_chance(float((logs <= level).mean()), below, MANY), level
    expected = (share * first.expect(ub=12) + (1 - share) * second.expect(ub=12)) / all_kept
    assert logs.mean() == pytest.approx(expected, abs=5 * logs.std() / np.sqrt(MANY))


@kinds
def test_gaps_follow_the_distribution(kind: JobKind) -> None:
    gaps = np.diff(draw_points(kind, MANY, rng()), prepend=0.0) * 1800
    drawn = gamma(kind.gap_shape * kind.rush_to_all, scale=kind.gap_scale)
    assert gaps.max() <= np.exp(13) * (1 + 1e-9)
    for level in (2, 4, 5, 6, 8, 12):
        assert within_chance(float((gaps <= np.exp(level)).mean()), drawn.cdf(level) / drawn.cdf(13), MANY)


@kinds
def test_the_day_has_the_weights_of_the_model(kind: JobKind) -> None:
    weights = Day.of(kind).weights
    assert weights.mean() == pytest.approx(1)
    shares = {
        (i - 1) % 48: np.diff(gamma.cdf([i - 0.5, i + 0.5], kind.day_shape, scale=kind.day_scale))[0]
        for i in range(11, 59)
    }
    assert weights == pytest.approx([48 * shares[b] / sum(shares.values()) for b in range(48)])


def test_arrivals_follow_the_daily_cycle() -> None:
    jobs = lublin(4 * MANY, 128, rng())
    # Some gaps last for days and draw many jobs to one hour: the counts vary more than independent ones.
    counts = np.bincount((jobs.submit % 86400 // 1800).astype(int), minlength=48)
    assert counts / counts.mean() == pytest.approx(Day.of(COMBINED).weights, abs=0.15)
    assert counts[26:32].mean() > 5 * counts[6:12].mean()


def bucket_by_bucket(weights: NDArray[np.float64], gaps: NDArray[np.float64]) -> list[float]:
    """A plain arrival process: consume each gap half hour by half hour."""
    times = []
    bucket, began, points = 0, 0.0, 0.0
    for gap in gaps:
        points += gap
        while points > weights[bucket]:
            points -= weights[bucket]
            bucket = (bucket + 1) % 48
            began += 1800.0
        times.append(began + points / weights[bucket] * 1800.0)
    return times


@kinds
def test_arrivals_agree_with_a_plain_loop(kind: JobKind) -> None:
    points = draw_points(kind, 3000, rng())
    day = Day.of(kind)
    assert day.times(points) == pytest.approx(
        bucket_by_bucket(day.weights, np.diff(points, prepend=0.0)), rel=1e-9
    )


@given(st.lists(st.floats(0, 200), min_size=1, max_size=30))
def test_any_gaps_agree_with_a_plain_loop(gaps: list[float]) -> None:
    day = Day.of(BATCH)
    times = day.times(np.cumsum(gaps))
    assert times == pytest.approx(bucket_by_bucket(day.weights, np.array(gaps)), rel=1e-9, abs=1e-6)
    assert (np.diff(times) >= -1e-9).all()


@pytest.mark.parametrize("load", [0.1, 0.7, 3.0])
@pytest.mark.parametrize("two_kinds", [False, True])
def test_the_offered_load_equals_the_requested_load(load: float, two_kinds: bool) -> None:
    jobs = lublin(5000, 100, rng(), load=load, kinds=two_kinds)
    fleet = float(jobs.run @ jobs.procs)
    assert fleet / (100 * np.ptp(jobs.submit)) == pytest.approx(load, rel=1e-6)


def test_a_load_changes_nothing_but_arrivals() -> None:
    plain, loaded = lublin(2000, 128, rng()), lublin(2000, 128, rng(), load=0.9)
    assert (plain.run == loaded.run).all()
    assert (plain.procs == loaded.procs).all()
    assert (plain.request == loaded.request).all()


def test_two_kinds_arrive_in_two_streams() -> None:
    jobs = lublin(MANY, 128, rng(), kinds=True)
    streams = [Day.of(kind).times(draw_points(kind, MANY, rng(7))) for kind in (BATCH, INTERACTIVE)]
    rates = np.array([MANY / stream[-1] for stream in streams])
    assert MANY / jobs.submit[-1] == pytest.approx(rates.sum(), rel=0.03)
    serial = (rates @ [BATCH.serial, INTERACTIVE.serial]) / rates.sum()
    assert (jobs.procs == 1).mean() == pytest.approx(serial, abs=0.01)


@pytest.mark.parametrize("two_kinds", [False, True])
def test_the_same_seed_gives_the_same_jobs(two_kinds: bool) -> None:
    once, again, other = (lublin(2000, 128, rng(seed), kinds=two_kinds, load=0.8) for seed in (3, 3, 4))
    for column in ("job", "submit", "run", "procs", "request"):
        assert getattr(once, column).tobytes() == getattr(again, column).tobytes()
    assert once.run.tobytes() != other.run.tobytes()
    assert once.job.tolist() == list(range(1, 2001))


def test_requests_are_round_and_never_too_short() -> None:
    run = np.exp(rng().uniform(0, 13, 10_000))
    request = draw_requests(run, 5.0, rng(2))
    assert (request >= run).all()
    assert (request[run * 5 <= 60] == 60).all()
    minutes = {1, 5, 10, 30, *(60 * hours for hours in (1, 2, 4, 8, 12, 18, 24, 48, 72))}
    assert set(request[request <= 72 * 3600] / 60) == minutes
    assert (request[request > 72 * 3600] % 86400 == 0).all()
    assert draw_requests(run, 1.0, rng()).tolist() == run.tolist()


@pytest.mark.parametrize(
    ("jobs", "processors", "load", "overestimate", "message"),
    [
        (0, 8, None, 5.0, "jobs is 0, expected at least 1"),
        (5, 0, None, 5.0, "processors is 0, expected at least 1"),
        (5, 8, 0.0, 5.0, "load is 0.0, expected a number above 0"),
        (5, 8, float("nan"), 5.0, "load is nan, expected a number above 0"),
        (1, 8, 0.5, 5.0, "jobs is 1, expected at least 2 to reach a load"),
        (5, 8, 1e-30, 5.0, "the load needs jobs over .* s, too far from the generated span"),
        (5, 8, None, 0.5, "overestimate is 0.5, expected a number of 1 or more"),
    ],
)
def test_parameters_out_of_range_are_rejected(
    jobs: int, processors: int, load: float | None, overestimate: float, message: str
) -> None:
    with pytest.raises(InputError, match=f"^lublin: {message}$"):
        lublin(jobs, processors, rng(), load=load, overestimate=overestimate)

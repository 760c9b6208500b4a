"""Verdicts turn when what they judge is turned, and are none where nobody can tell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import ttest_1samp

from windlass.metrics.sharing import SharingMetrics
from windlass.papers.asax import on_slurm, tables
from windlass.papers.asax.mix import CORES
from windlass.papers.asax.runs import ASAX, EASY, PAIRS, STATIC, Found
from windlass.papers.tetrium import classes
from windlass.papers.verdicts import UNTOLD, everywhere, interval, is_at_least, is_at_most, is_lower

SEEDS = arrays(np.float64, st.integers(2, 12), elements=st.floats(0.1, 10.0).map(lambda x: round(x, 3)))


@given(SEEDS, st.randoms(use_true_random=False))
def test_lower_is_the_two_sided_test_of_paired_differences(base, random):
    other = np.array([each * random.choice([0.5, 0.9, 1.0, 1.1, 2.0]) for each in base])
    difference = other - base
    if np.ptp(difference) == 0.0:
        return
    sure = ttest_1samp(difference, 0.0).pvalue < 0.05
    expected = bool(difference.mean() < 0) if sure else None
    if abs(ttest_1samp(difference, 0.0).pvalue - 0.05) > 1e-6:
        assert is_lower(other, base) is expected


@given(SEEDS)
def test_exchanged_inputs_turn_a_verdict(base):
    less = 0.5 * base - 0.01 * np.arange(len(base))
    assert is_lower(less, base) in (True, None)
    if is_lower(less, base):
        assert is_lower(base, less) is False
    assert is_at_most(base, base, 1.1) in (True, None)
    if is_at_most(base, base, 1.1):
        assert is_at_least(base, base, 1.1) is False
        assert is_at_most(1.3 * base, base, 1.1) is not True


def test_one_seed_tells_nothing():
    one = np.array([1.0])
    assert interval(one).half == np.inf
    assert is_lower(0.1 * one, one) is None
    assert is_at_most(one, one, 5.0) is None
    assert everywhere([None]) is None


def test_of_one_seed_no_interval_is_printed():
    gains = np.array([[41.6, np.nan], [np.nan, np.nan], [40.0, 42.0]])
    assert classes._by_class(["few", "some", "many"], gains) == "few: 42; some: no jobs; many: 41 ± 13"
    assert on_slurm._percent(np.array([1.1])) == "+10.0"
    lone = _found(np.random.default_rng(7), 0.5, 1.0, 1.0, 1.0, seeds=1)
    assert tables._gain(lone, lone, "mean_wait_s") == "+0.0 %"
    assert str(interval(np.array([2.0]))) == "2"


def _found(rng, wait, run, used, stretch, seeds=5):
    noise = 1.0 + 0.01 * rng.random((seeds, 4))
    metrics = []
    for row in noise:
        fields = dict.fromkeys(SharingMetrics.__dataclass_fields__, 1.0)
        fields |= {
            "mean_wait_s": wait * row[0],
            "mean_response_s": wait * row[0],
            "mean_run_s": run * row[1],
            "cpu_utilisation": used * row[2],
            "mean_stretch": stretch * row[3],
            "mean_host_stretch": stretch * row[3],
        }
        metrics.append(SharingMetrics(**fields))
    return Found(tuple(metrics), ({},) * seeds, np.ones(seeds))


@pytest.mark.parametrize("better", [True, False])
def test_every_verdict_of_the_tables_can_be_yes_and_no(better):
    rng = np.random.default_rng(5)
    one = _found(rng, *((0.5, 1.0, 2.0, 1.0) if better else (2.0, 1.5, 1.0, 3.0)))
    sizes = {
        EASY.shown: _found(rng, 1.0, 1.0, 1.0, 1.0),
        STATIC.shown: _found(rng, 1.0, 1.0, 1.0, 2.0),
        ASAX.shown: one,
        PAIRS.shown: one,
    }
    rows = tables.verdicts(dict.fromkeys(CORES, sizes))
    assert {row.holds for row in rows} == {better}


def test_alike_policies_cannot_be_told_apart():
    rng = np.random.default_rng(6)
    sizes = {name.shown: _found(rng, 1.0, 1.1, 1.5, 1.0) for name in (EASY, STATIC, ASAX, PAIRS)}
    rows = [row for row in tables.verdicts(dict.fromkeys(CORES, sizes)) if "wait" in row.what]
    assert {row.holds for row in rows} == {None}
    assert {row.note for row in rows} == {UNTOLD}


def _mixes(makespan, cpu, ran):
    rng = np.random.default_rng(8)
    program = on_slurm._PROGRAMS
    return [
        on_slurm.MixRun(
            makespan * (1 + 0.01 * rng.random()),
            1.0,
            cpu * (1 + 0.01 * rng.random()),
            ran * np.ones(4),
            program,
            tuple(f"checksum of {name}" for name in program),
        )
        for _ in range(3)
    ]


@pytest.mark.parametrize("better", [True, False])
def test_every_verdict_on_slurm_can_be_yes_and_no(better):
    found = {
        name: _mixes(*((50.0, 80.0, 1.0) if better else (200.0, 20.0, 1.5))) for name in on_slurm._POLICIES
    }
    found["EASY"] = _mixes(100.0, 50.0, 1.0)
    sums, *rows = on_slurm._verdicts(found)
    assert sums.holds is True
    assert {row.holds for row in rows} == {better}


def test_a_job_that_printed_something_else_is_seen():
    found = {name: _mixes(100.0, 50.0, 1.0) for name in on_slurm._POLICIES}
    found["pairs"][1] = on_slurm.MixRun(
        1.0, 1.0, 1.0, np.ones(4), on_slurm._PROGRAMS, ("checksum wrong", *found["pairs"][1].checksums[1:])
    )
    assert on_slurm._verdicts(found)[0].holds is False

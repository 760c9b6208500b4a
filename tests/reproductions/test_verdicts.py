"""Verdicts change with their inputs, and are None where the inputs leave a claim undecided."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import ttest_1samp

from tests.reproductions.turning import rows_with_fixed_verdicts
from windlass.results.metrics.sharing import SharingMetrics
from windlass_reproductions.asax import ablation, on_slurm, slurm_results, tables
from windlass_reproductions.asax.mix import CORES
from windlass_reproductions.asax.runs import (
    ASAX,
    EASY,
    EXP4_IX,
    FROZEN,
    PAIRS,
    PROGRESS,
    PROGRESS_FROZEN,
    STATIC,
    Found,
)
from windlass_reproductions.asax.theorem import theorem, theorem_row
from windlass_reproductions.criteria import below, over
from windlass_reproductions.tetrium import classes
from windlass_reproductions.verdicts import UNDECIDED, everywhere, interval

SEEDS = arrays(np.float64, st.integers(2, 12), elements=st.floats(0.1, 10.0).map(lambda x: round(x, 3)))


def is_lower(ours, theirs):
    return below([over(ours - theirs)], rule="").holds


@given(SEEDS, st.randoms(use_true_random=False))
def test_lower_agrees_with_a_two_sided_paired_t_test(base, random):
    other = np.array([each * random.choice([0.5, 0.9, 1.0, 1.1, 2.0]) for each in base])
    difference = other - base
    if np.ptp(difference) == 0.0:
        return
    sure = ttest_1samp(difference, 0.0).pvalue < 0.05
    expected = bool(difference.mean() < 0) if sure else None
    if abs(ttest_1samp(difference, 0.0).pvalue - 0.05) > 1e-6:
        assert is_lower(other, base) is expected


@given(SEEDS)
def test_exchanging_the_inputs_inverts_the_verdict(base):
    less = 0.5 * base - 0.01 * np.arange(len(base))
    assert is_lower(less, base) in (True, None)
    if is_lower(less, base):
        assert is_lower(base, less) is False


@given(SEEDS)
def test_an_interval_is_student_s_95_percent_interval(values):
    found, expected = interval(values), ttest_1samp(values, 0.0).confidence_interval(0.95)
    np.testing.assert_allclose([found.low, found.high], expected, rtol=1e-6, atol=1e-9)


def test_one_seed_leaves_a_comparison_undecided():
    one = np.array([1.0])
    assert interval(one).half == np.inf
    assert is_lower(0.1 * one, one) is None
    assert everywhere([None]) is None


def test_no_interval_is_printed_for_one_seed():
    gains = np.array([[41.6, np.nan], [np.nan, np.nan], [40.0, 42.0]])
    assert classes._by_class(["few", "some", "many"], gains) == "few: 42; some: no jobs; many: 41 ± 13"
    assert slurm_results._percent(np.array([1.1])) == "+10.0"
    lone = _results(np.random.default_rng(7), 0.5, 1.0, 1.0, 1.0, seeds=1)
    assert tables._gain(lone, lone, "mean_wait_s") == "+0.0 %"
    assert str(interval(np.array([2.0]))) == "2"
    assert str(over([np.nan])) == "–"


def _results(rng, wait, run, used, stretch, seeds=5):
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
def test_every_verdict_of_the_tables_can_hold_and_fail(better):
    rng = np.random.default_rng(5)
    one = _results(rng, *((0.5, 1.0, 2.0, 1.0) if better else (2.0, 1.5, 1.0, 3.0)))
    sizes = {
        EASY.shown: _results(rng, 1.0, 1.0, 1.0, 1.0),
        STATIC.shown: _results(rng, 1.0, 1.0, 1.0, 2.0),
        ASAX.shown: one,
        PAIRS.shown: one,
    }
    rows = tables.verdicts(dict.fromkeys(CORES, sizes))
    assert {row.holds for row in rows} == {better}
    assert rows_with_fixed_verdicts(rows) == {}


@pytest.mark.parametrize(
    ("run", "used", "holds"),
    [(1.05, 1.6, [True, True]), (1.15, 1.4, [False, False]), (1.1, 1.5, [None, None])],
)
def test_runs_may_be_10_percent_longer_and_cpu_use_must_rise_by_half(run, used, holds):
    rng = np.random.default_rng(9)
    rows = tables._against_easy(
        64, "ASAx", _results(rng, 0.5, run, used, 1.0), _results(rng, 1.0, 1.0, 1.0, 1.0)
    )
    assert [row.holds for row in rows[1:]] == holds
    assert rows_with_fixed_verdicts(rows) == {}


def test_equal_policies_leave_the_verdicts_undecided():
    rng = np.random.default_rng(6)
    sizes = {name.shown: _results(rng, 1.0, 1.1, 1.5, 1.0) for name in (EASY, STATIC, ASAX, PAIRS)}
    rows = [row for row in tables.verdicts(dict.fromkeys(CORES, sizes)) if "wait" in row.what]
    assert {row.holds for row in rows} == {None}
    assert rows_with_fixed_verdicts(rows) == {}
    assert all(row.note.startswith(UNDECIDED) for row in rows)


def _mixes(makespan, cpu, ran):
    rng = np.random.default_rng(8)
    program = slurm_results.PROGRAMS
    return [
        slurm_results.MixRun(
            makespan * (1 + 0.01 * rng.random()),
            1.0,
            cpu * (1 + 0.01 * rng.random()),
            ran * np.full(4, 100.0),
            np.array([True, True, False, False]),
            program,
            tuple(f"checksum of {name}" for name in program),
        )
        for _ in range(3)
    ]


@pytest.mark.parametrize("better", [True, False])
def test_every_verdict_on_slurm_can_hold_and_fail(better):
    found = {
        name: _mixes(*((50.0, 80.0, 1.0) if better else (200.0, 20.0, 1.5))) for name in on_slurm._POLICIES
    }
    found["EASY"] = _mixes(100.0, 50.0, 1.0)
    sums, *rows = slurm_results.verdicts(found)
    assert sums.holds is True
    assert {row.holds for row in rows} == {better}
    assert rows_with_fixed_verdicts([sums, *rows]) == {}


def test_one_repeat_decides_only_the_checksums():
    found = {name: _mixes(100.0, 50.0, 1.0)[:1] for name in on_slurm._POLICIES}
    sums, *rows = slurm_results.verdicts(found)
    assert sums.holds is True
    hosts = [row for row in rows if "hosts" in row.what]
    assert [row.holds for row in hosts] == [True] * 3
    assert {row.holds for row in rows if row not in hosts} == {None}


def test_without_a_guest_nothing_is_known_of_hosts():
    found = {name: _mixes(100.0, 50.0, 1.0) for name in on_slurm._POLICIES}
    found["pairs"] = [replace(run, hosted=np.zeros(4, bool)) for run in found["pairs"]]
    row = slurm_results.verdicts(found)[-1]
    assert (row.what.partition(":")[0], row.ours, row.holds) == ("pairs", "no job had a guest", None)


def test_equal_cpu_use_does_not_count_as_higher():
    found = {name: _mixes(100.0, 50.0, 1.0) for name in on_slurm._POLICIES}
    found["static"] = found["EASY"]
    (busier,) = [
        row for row in slurm_results.verdicts(found) if row.what.startswith("static") and "CPU" in row.what
    ]
    assert busier.holds is False


def test_a_wrong_checksum_is_detected():
    found = {name: _mixes(100.0, 50.0, 1.0) for name in on_slurm._POLICIES}
    found["pairs"][1] = slurm_results.MixRun(
        1.0,
        1.0,
        1.0,
        np.ones(4),
        np.zeros(4, bool),
        slurm_results.PROGRAMS,
        ("checksum wrong", *found["pairs"][1].checksums[1:]),
    )
    row = slurm_results.verdicts(found)[0]
    assert row.holds is False
    assert rows_with_fixed_verdicts([row]) == {}


@pytest.mark.parametrize(
    ("worst", "turned", "holds"),
    [([0.4, 0.8], 0.9, True), ([0.4, 1.1], 0.9, False), ([0.4], 3.0, False), ([], 0.9, None)],
)
def test_theorem_1_must_hold_for_all_losses(worst, turned, holds):
    row = theorem_row("printed", worst, turned)
    assert row.holds is holds
    assert rows_with_fixed_verdicts([row]) == {}


def test_the_printed_update_exceeds_its_bound_with_a_falling_rate():
    rows, _ = theorem(2, 300)
    assert [row.holds for row in rows] == [True, False, True]


def _makespans(rng, *, makespan, seeds=5):
    metrics = []
    for factor in 1.0 + 0.001 * rng.random(seeds):
        fields = dict.fromkeys(SharingMetrics.__dataclass_fields__, 1.0) | {
            "makespan_s": makespan * factor,
            "mean_wait_s": makespan * factor,
            "mean_host_stretch": makespan * factor,
        }
        metrics.append(SharingMetrics(**fields))
    return Found(tuple(metrics), ({},) * seeds, np.ones(seeds))


@pytest.mark.parametrize(
    ("makespan", "lower", "printed"),
    [(0.85, True, True), (0.883, True, True), (0.9, True, False), (1.1, False, False)],
)
def test_the_makespan_must_fall_and_by_the_printed_12_percent_at_64_cores(makespan, lower, printed):
    rng = np.random.default_rng(10)
    ours = _makespans(rng, makespan=makespan)
    sizes = {EASY.shown: _makespans(rng, makespan=1.0), ASAX.shown: ours, PAIRS.shown: ours}
    rows = ablation.makespans(dict.fromkeys(CORES, sizes))
    assert [row.what.rpartition(": ")[2] for row in rows[:4]] == [
        "makespan lower",
        "makespan 12 % less",
        "makespan lower",
        "makespan lower",
    ]
    assert [row.holds for row in rows] == 2 * [lower, printed, lower, lower]
    assert rows_with_fixed_verdicts(rows) == {}


@pytest.mark.parametrize(
    ("makespan", "holds"), [(1.0, True), (1.015, True), (1.04, False), (0.96, False), (1.02, None)]
)
def test_learning_changes_nothing_within_2_percent(makespan, holds):
    rng = np.random.default_rng(11)
    ours, frozen = _makespans(rng, makespan=makespan), _makespans(rng, makespan=1.0)
    sizes = {ASAX.shown: ours, FROZEN.shown: frozen}
    rows = ablation.learning(dict.fromkeys(CORES, sizes))
    assert len(rows) == 9
    assert {row.holds for row in rows} == {holds}
    assert rows_with_fixed_verdicts(rows) == {}


def test_learning_is_compared_with_the_ablation_of_the_same_loss():
    rng = np.random.default_rng(12)
    sizes = {
        ASAX.shown: _makespans(rng, makespan=1.1),
        FROZEN.shown: _makespans(rng, makespan=1.0),
        PROGRESS.shown: _makespans(rng, makespan=3.0),
        EXP4_IX.shown: _makespans(rng, makespan=1.0),
        PROGRESS_FROZEN.shown: _makespans(rng, makespan=2.0),
    }
    rows = ablation.learning(dict.fromkeys(CORES, sizes))
    assert [round(float(row.ours.split()[0])) for row in rows] == [10] * 9 + [50] * 9 + [-50] * 9
    assert [row.what.startswith("ASAx, progress") for row in rows] == [False] * 9 + [True] * 9 + [False] * 9
    assert [row.what.split(": ")[1] for row in rows[:3]] == [
        "learning changes the mean wait by at most 2 %",
        "learning changes the makespan by at most 2 %",
        "learning changes the run time of hosts by at most 2 %",
    ]
    assert ablation.learning({size: {ASAX.shown: sizes[ASAX.shown]} for size in CORES}) == []

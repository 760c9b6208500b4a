"""The comparison of admission under dispatchers that see little and much: choice of settings, verdicts and tables."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from windlass.admit import POLICIES
from windlass.admit.context import AdmitContext
from windlass_reproductions.pronto import overload
from windlass_reproductions.pronto.overload import (
    DESIGN_LOADS,
    DESIGN_SEEDS,
    DISPATCHERS,
    JUDGED_LOADS,
    JUDGED_SEEDS,
    NONE,
    AdmitSetting,
    Case,
    Dispatcher,
    JudgedFamily,
    Responses,
    chosen,
    families,
    judge,
    lines,
    run_case,
    verdict,
)
from windlass_reproductions.verdicts import Interval


def test_settings_are_chosen_and_judged_on_different_runs():
    assert not set(DESIGN_SEEDS) & set(JUDGED_SEEDS)
    assert not set(DESIGN_LOADS) & set(JUDGED_LOADS)
    assert len(JUDGED_SEEDS) >= 6


def test_each_family_is_a_policy_with_settings_that_it_accepts():
    for family, settings in families().items():
        assert len(set(settings)) == len(settings) > 1
        for each in settings:
            assert each.policy == family
            POLICIES.make(family, AdmitContext(np.random.default_rng(1), 8), **dict(each.parameters))


def test_the_setting_with_the_least_ratio_of_tails_is_chosen_not_the_one_with_the_least_sum():
    # Of 1 s and 100 s, halving the first outweighs a tenth off the second.
    settings = (AdmitSetting("a"), AdmitSetting("b"))
    runs = [
        [Responses(1.0, 0.5, 0.0), Responses(1.0, 1.0, 0.0)],
        [Responses(1.0, 100.0, 0.0), Responses(1.0, 90.0, 0.0)],
    ]
    assert chosen(settings, runs).policy == "a"


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (-9.0, -0.1, "helps"), (-9.0, 0.1, "open"), (2.1, 9.0, "harms"), (1.9, 9.0, "open"), (-2.0, 2.0, "nothing"),
        (-2.1, 2.0, "open"), (-2.0, 2.1, "open"), (-1.0, -0.5, "helps"),
    ],
)  # fmt: skip
def test_a_verdict_turns_at_its_bounds(low, high, word):
    assert verdict(Interval((low + high) / 2.0, (high - low) / 2.0)) == word


def test_a_run_has_the_responses_of_each_setting():
    case = Case(Dispatcher("pot", 2, "two queues"), 0.8, 3, 12_000)
    tree = case.tree([NONE])
    assert (tree["schedulers"], tree["workload"], tree["seeds"]) == (2, {"tasks": 12_000, "load": 0.8}, [3])
    none, never = run_case(case, [NONE, AdmitSetting("never")])
    assert (none.mean, none.p99) == (never.mean, never.p99)
    assert (none.rejected, never.rejected) == (0.0, 1.0)
    assert none.p99 > none.mean > 0.0


def test_a_judgement_uses_the_setting_of_the_design_runs(monkeypatch):
    # On the design runs the second setting is best, on the judged ones the first would be.
    listed = {
        "ready": (AdmitSetting("ready", (("threshold", 1),)), AdmitSetting("ready", (("threshold", 2),)))
    }

    def responses(case, settings):
        design = case.seed in DESIGN_SEEDS
        assert case.load in (DESIGN_LOADS if design else JUDGED_LOADS)
        p99 = {("threshold", 1): 3.0 if design else 0.5, ("threshold", 2): 2.0}
        found = []
        for each in settings:
            value = p99[each.parameters[0]] if each.parameters else 4.0
            found.append(Responses(value / 2.0, value * case.seed, 0.25))
        return found

    monkeypatch.setattr(overload, "families", lambda: listed)
    monkeypatch.setattr(overload, "run_case", responses)
    texts = []
    with ThreadPoolExecutor(1) as pool:
        found = judge(DISPATCHERS[1], 100, pool, texts.append)
    assert [row.setting for row in found.rows] == [listed["ready"][1]] * 4
    assert {(row.family, row.p99.mean, row.mean.mean, row.rejected) for row in found.rows} == {
        ("ready", -50.0, -50.0, 0.25)
    }
    assert found.without == {load: (2.0, 4.0 * np.mean(JUDGED_SEEDS)) for load in JUDGED_LOADS}
    assert texts == [
        "least-outstanding, 4 proxies: choosing among 2 settings in 6 runs",
        "least-outstanding, 4 proxies: judging 1 policies in 32 runs",
    ]
    text = list(lines(found))
    assert text[0] == "least-outstanding, 4 proxies, which sees what each proxy sent itself"
    assert text[5] == (
        "| ready | -50 % (-50 to -50), helps | -50 % (-50 to -50), helps | -50 % (-50 to -50), helps | "
        "-50 % (-50 to -50), helps | -50 % (-50 to -50) | ready (threshold 2) |"
    )
    assert text[-1] == "p99: helps 4, harms 0, nothing 0 of 4"
    assert isinstance(found.rows[0], JudgedFamily)

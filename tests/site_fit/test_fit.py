"""Fits of logs that were made by replaying known sites, and what a recorded schedule shows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import yaml

from windlass.experiment.scenario import make_scenario
from windlass.experiment.site_fit.accuracy import WaitAccuracy
from windlass.experiment.site_fit.calibrate import calibrate
from windlass.experiment.site_fit.evidence import CountSteps, evidence_of
from windlass.experiment.site_fit.sentences import lacking, parameters, sentences, verdict_sentence
from windlass.experiment.site_fit.site_file import scenario_text
from windlass.experiment.site_fit.site_rules import SiteRules
from windlass.io.traces import Workload
from windlass.io.traces.groups import belongings_of
from windlass.model import InputError, JobTable

HOUR = 3600.0
NIGHTS = "7-16 31-40 55-64 79-88 103-112"


def jobs_of(count: int, seed: int, procs: int = 32, per_week: float = 400.0) -> Workload:
    """Return jobs of eight users in a busy site; a fifth are long."""
    rng, weeks = np.random.default_rng(seed), count / per_week
    submit = np.sort(rng.uniform(0, weeks * 168 * HOUR, count))
    long = rng.random(count) < 0.2
    request = np.where(long, rng.uniform(4, 12, count), rng.choice([0.25, 0.5, 1.0, 2.0], count)) * HOUR
    width = rng.choice([1, 2, 4, 8, 16], count)
    table = JobTable.of(submit, request * rng.uniform(0.3, 1.0, count), width, request)
    owners = belongings_of(pl.DataFrame({"user": rng.integers(1, 9, count)}))
    return Workload(table, procs, of=owners)


def recorded(workload: Workload, model: SiteRules) -> Workload:
    """Return the workload with the waits that it has on a site."""
    return Workload(workload.jobs, workload.processors, of=workload.of, wait=model.waits(workload))


def test_nodes_that_are_gone_are_found():
    found = calibrate(recorded(jobs_of(1500, 1), SiteRules(27)))
    assert abs(found.model.processors - 27) <= 1
    assert found.close
    assert abs(found.judged.mean_error) < 0.05 < abs(found.plain_judged.mean_error)
    assert dict(parameters(found.model, 32))["usable processors"] == f"{found.model.processors} of 32"


@pytest.mark.matrix(0)
def test_closed_hours_are_found():
    site = SiteRules(32).with_limits(long=3 * HOUR, closed=NIGHTS)
    log = recorded(jobs_of(4500, 2), site)
    found = calibrate(log)
    limits = found.model.limits
    assert 2 * HOUR <= limits["long"] <= 4.5 * HOUR
    opens = [float(part.split("-")[1]) for part in limits["closed"].split()]
    assert opens == pytest.approx([16, 40, 64, 88, 112], abs=0.5)
    assert found.close
    assert found.judged.correlation > found.plain_judged.correlation + 0.2


@pytest.mark.matrix(0)
def test_hours_that_change_after_the_fitted_part_are_named():
    night = SiteRules(32).with_limits(long=3 * HOUR, closed=NIGHTS)
    whole = jobs_of(4500, 2)
    early, late = recorded(whole, night), recorded(whole, SiteRules(32))
    assert early.wait is not None
    assert late.wait is not None
    half = len(whole.jobs) // 2
    mixed = np.concatenate([early.wait[:half], late.wait[half:]])
    found = calibrate(Workload(whole.jobs, 32, of=whole.of, wait=mixed))
    assert any("hours closed to long jobs" in line and "the hours changed" in line for line in lacking(found))
    assert not any("the hours changed" in line for line in lacking(calibrate(early)))


@pytest.mark.matrix(0)
def test_the_order_is_found():
    found = calibrate(recorded(jobs_of(1500, 3), SiteRules(28, priority="sjf")))
    assert found.model.priority == "sjf"
    assert found.judged.correlation > 0.9


def test_a_fit_of_the_plain_site_changes_nothing():
    found = calibrate(recorded(jobs_of(800, 4), SiteRules(32)))
    assert found.model == SiteRules(32)
    assert found.judged.mean_error == 0
    assert found.judged.correlation == pytest.approx(1)


@pytest.mark.matrix(0)
def test_the_judged_part_does_not_change_the_fit():
    log = recorded(jobs_of(1000, 5), SiteRules(28))
    assert log.wait is not None
    other = Workload(log.jobs, log.processors, of=log.of, wait=np.where(np.arange(1000) < 500, log.wait, 1e5))
    assert calibrate(other).model == calibrate(log).model
    assert not calibrate(other).close


def test_a_log_without_waits_is_refused_by_name():
    with pytest.raises(InputError, match="the log has no waits or start times"):
        calibrate(jobs_of(200, 6))


def test_a_short_part_is_refused():
    log = recorded(jobs_of(90, 7), SiteRules(32))
    with pytest.raises(InputError, match="the fitted part has 45 jobs with a wait, expected at least 50"):
        calibrate(log)
    with pytest.raises(InputError, match="share is 1, expected"):
        calibrate(log, share=1)


def test_jobs_without_a_wait_are_left_out():
    log = recorded(jobs_of(600, 8), SiteRules(28))
    assert log.wait is not None
    holes = np.where(np.arange(600) % 7 == 0, np.nan, log.wait)
    found = calibrate(Workload(log.jobs, log.processors, of=log.of, wait=holes))
    assert found.fitted.jobs + found.judged.jobs == np.isfinite(holes).sum()


def test_the_sentences_begin_with_the_verdict():
    found = calibrate(recorded(jobs_of(800, 9), SiteRules(28)))
    lines = list(sentences(found))
    assert lines[0] == verdict_sentence(found)
    assert lines[0].startswith(
        "The fitted site replays within 15 % of the recorded mean wait on the part not fitted"
    )
    assert any(line.startswith("As a policy: ") for line in lines)
    # The fitted processors explain the waits, so that no other cause is listed.
    assert not any("does not state what held these jobs" in line for line in lines)


def test_a_failure_is_the_first_line():
    log = recorded(jobs_of(800, 10), SiteRules(32))
    assert log.wait is not None
    later = np.where(np.arange(800) < 400, log.wait, log.wait + 50 * HOUR)
    found = calibrate(Workload(log.jobs, log.processors, of=log.of, wait=later))
    assert verdict_sentence(found).startswith("The fitted site does not reproduce the mean wait")
    # For 50 hours, jobs waited although their processors were idle.
    assert found.gaps.idle.total > 0.6
    assert any(
        "enough of the log's 32 processors for the waiting job were idle" in line for line in lacking(found)
    )
    assert any("does not state what held these jobs" in line for line in lacking(found))


@pytest.mark.matrix(0)
def test_the_scenario_replays_the_fitted_site(tmp_path):
    log = recorded(jobs_of(800, 11), SiteRules(28, priority="sjf").with_limits(jobs_per_user=3))
    found = calibrate(log)
    text = scenario_text(found, tmp_path / "log.swf")
    tree = yaml.safe_load(text)
    assert tree["cluster"]["processors"] == found.model.processors
    (tmp_path / "log.swf").write_text("1 0 0 5 1 -1 -1 1 9 -1 1 1 -1 -1 -1 -1 -1 -1\n")
    assert make_scenario(tree).variants[0].setting.policies.order.name == found.model.policy().name
    read = {"log_format": "csv", "columns": {"submit": "queued at"}, "where": "user <> 'u2'"}
    workload = yaml.safe_load(scenario_text(found, tmp_path / "log.csv", **read))["workload"]
    assert workload == {
        "trace": str(tmp_path / "log.csv"),
        "format": "csv",
        "columns": {"submit": "queued at"},
        "where": "user <> 'u2'",
    }


def test_a_gap_of_one_user_is_named():
    log = recorded(jobs_of(800, 12), SiteRules(32))
    assert log.wait is not None
    assert log.users is not None
    held = (np.arange(800) >= 400) & (log.users == 3)
    found = calibrate(Workload(log.jobs, log.processors, of=log.of, wait=np.where(held, 9e5, log.wait)))
    assert found.gaps.user == "3"
    assert any("of the error is in jobs of user 3" in line for line in lacking(found))


def test_steps_count_decreases_first():
    found = CountSteps(np.array([5.0, 0.0, 5.0]), np.array([3, 2, -2]))
    assert found.level.tolist() == [2, 0, 3]
    assert found.before(np.array([5.0])).tolist() == [2]
    assert found.after(np.array([5.0])).tolist() == [3]


def test_evidence_of_a_small_schedule():
    jobs = JobTable.of(submit=[0, 0, 0], run=[10, 10, 10], procs=[3, 3, 1])
    shown = evidence_of(Workload(jobs, 4, wait=np.array([2.0, 12.0, 2.0])))
    assert shown.used == 4
    # From 2 to 12 s, three processors wait, so jobs for all four never do.
    assert shown.busy == 0.0
    assert shown.latency == 2.0
    assert shown.hours == ()


def test_accuracy_of_equal_waits_has_no_correlation():
    found = WaitAccuracy.of(np.zeros(3), np.zeros(3))
    assert (found.mean_error, found.correlation) == (0.0, 0.0)
    assert WaitAccuracy.of(np.zeros(1), np.ones(1)).mean_error == np.inf
    assert np.isnan(WaitAccuracy.of(np.full(2, np.nan), np.zeros(2)).recorded_mean)

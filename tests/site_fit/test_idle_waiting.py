"""Waiting time while processors were idle, by cause, compared with a plain count and with known sites."""

from __future__ import annotations

import numpy as np
import pytest

from tests.site_fit.test_fit import HOUR, NIGHTS, jobs_of, recorded
from windlass.experiment.site_fit.calibrate import calibrate
from windlass.experiment.site_fit.idle_waiting import idle_waiting
from windlass.experiment.site_fit.sentences import sentences
from windlass.experiment.site_fit.site_rules import SiteRules
from windlass.io.traces import Workload

WEEK = 168 * HOUR


def plainly(log, model, rows):
    """Return the four shares, counted instant by instant."""
    jobs, users, wait, found = log.jobs, log.users, log.wait, np.zeros(4)
    start, limits = jobs.submit + wait, model.limits
    closed = [[float(edge) * HOUR for edge in part.split("-")] for part in limits.get("closed", "").split()]

    def cause(job, at):
        runs = (start < at) & (start + jobs.run >= at)
        if log.processors - jobs.procs[runs].sum() < jobs.procs[job]:
            return None
        if jobs.request[job] > limits.get("long", np.inf):
            for week in range(-1, 3):
                for begin, end in closed:
                    since = (at // WEEK + week) * WEEK
                    if since + begin < at + jobs.request[job] and since + end > at:
                        return 0
        own = runs & (users == users[job])
        if own.sum() >= limits.get("jobs_per_user", np.inf):
            return 1
        if jobs.procs[own].sum() + jobs.procs[job] > limits.get("procs_per_user", np.inf):
            return 1
        before, after = start[start <= at].max(initial=-np.inf), start[start > at].min(initial=np.inf)
        return 2 if after - before >= HOUR else 3

    for job in rows.tolist():
        for number in range(16):
            held = cause(job, jobs.submit[job] + wait[job] * (number + 0.5) / 16)
            if held is not None:
                found[held] += wait[job] / 16
    return found / wait[rows].sum()


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"long": 3 * HOUR, "closed": NIGHTS},
        {"jobs_per_user": 2},
        {"procs_per_user": 12, "jobs_per_user": 9},
    ],
)
def test_the_shares_are_those_of_a_plain_count(limits):
    workload, site = jobs_of(200, 3, per_week=100.0), SiteRules(32).with_limits(**limits)
    log, rows = recorded(workload, site), np.arange(60, 200)
    # A replay of another site has other causes too.
    for model in (site, SiteRules(32).with_limits(long=2 * HOUR, closed="0-24 100-140", jobs_per_user=3)):
        found = idle_waiting(log, model, rows)
        shares = (found.closed, found.limited, found.standstill, found.unexplained)
        assert shares == pytest.approx(plainly(log, model, rows), abs=1e-12)
        assert found.total == pytest.approx(sum(shares))


def test_waiting_for_closed_hours_and_for_limits_is_explained_by_them():
    rows = np.arange(600)
    nights = SiteRules(32).with_limits(long=3 * HOUR, closed=NIGHTS)
    found = idle_waiting(recorded(jobs_of(600, 4), nights), nights, rows)
    assert found.closed > 0.9 * found.total > 0.3
    few = SiteRules(32).with_limits(jobs_per_user=1)
    found = idle_waiting(recorded(jobs_of(600, 4), few), few, rows)
    # EASY itself leaves some processors idle, for the first job of the queue.
    assert found.limited > 0.7 * found.total > 0.3


def test_an_outage_is_a_standstill_and_is_named():
    log = recorded(jobs_of(800, 10), SiteRules(32))
    # For two weeks of the judged part, no job starts.
    down = log.jobs.submit[500]
    start = log.jobs.submit + log.wait
    wait = np.where((start >= down) & (start < down + 2 * WEEK), down + 2 * WEEK - log.jobs.submit, log.wait)
    found = calibrate(Workload(log.jobs, log.processors, of=log.of, wait=wait))
    idle = found.gaps.idle
    assert idle.standstill > 0.8 > idle.unexplained
    assert found.gaps.idle_replayed.standstill < 0.1
    text = " ".join(sentences(found))
    assert "while no job started for an hour or more" in text
    assert "Errors of the mean in the quarters of the part not fitted" in text
    assert len(found.quarters) == 4
    assert sum(waits.jobs for _, waits in found.quarters) == found.judged.jobs


def test_without_waiting_time_there_is_no_share():
    log = jobs_of(60, 5)
    found = idle_waiting(
        Workload(log.jobs, log.processors, of=log.of, wait=np.zeros(60)), SiteRules(32), np.arange(60)
    )
    assert np.isnan(found.total)

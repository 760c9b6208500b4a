"""The metrics of an autoscaler: each has its present value, also while the cluster does not answer."""

import math
import urllib.request

import pytest

from tests.engines.elastic.test_engine import FakeClock, FakeCluster, MemoryHistory
from windlass.drive import drive
from windlass.engines.elastic.engine import LiveScale
from windlass.engines.elastic.metrics import ScaleStatus, scale_metrics
from windlass.engines.prometheus import MetricsServer
from windlass.scale.policies.reactive import Reactive

#: A state in which each value differs from all others, and the page of it at 1014.5 s.
STATUS = ScaleStatus(2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12.5, 13.5, 1000.0, True, 15)
PAGE = {
    "decisions_total": 2.0, "changes_total": 3.0, "failures_total": 4.0, "requested_instances": 5.0,
    "ready_instances": 6.0, "starting_instances": 7.0, "used_instances": 8.0, "running_jobs": 9.0, "queue_jobs": 10.0,
    "polls_total": 11.0, "poll_seconds_total": 12.5, "last_poll_seconds": 13.5, "poll_age_seconds": 14.5,
    "unreachable": 1.0, "outages_total": 15.0,
}  # fmt: skip


def test_the_page_has_each_metric_with_its_present_value():
    pytest.importorskip("prometheus_client", reason="the extra `agent` is not installed")
    with MetricsServer(scale_metrics(STATUS), "127.0.0.1", 0, lambda: 1014.5) as server:
        answer = urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=60)
        with answer:
            lines = [line for line in answer.read().decode().splitlines() if not line.startswith("#")]
    rows = [line.rpartition(" ") for line in lines]
    assert {name.removeprefix("windlass_scale_"): float(value) for name, _, value in rows} == PAGE


def test_before_the_first_poll_its_age_is_unknown():
    assert sum(math.isnan(value) for value in scale_metrics(ScaleStatus()).values(5.0)) == 1


def test_counts_follow_polls_decisions_and_outages():
    clock, status = FakeClock(until=100.0), ScaleStatus()
    cluster = FakeCluster(clock, refuses=lambda now: now < 5.0, away=lambda now: 30.0 <= now < 50.0)
    drive(LiveScale(cluster, MemoryHistory(), clock, period=10.0, status=status), {"scale": Reactive()})
    assert (status.ready, status.used, status.running, status.waiting) == (2, 2, 1, 0)
    assert (status.away, status.outages) == (False, 2)
    assert status.failures >= 4
    assert status.requested == cluster.totals[-1][1][0]
    assert status.decisions == status.polls > len(cluster.totals)
    assert status.polled <= 100.0

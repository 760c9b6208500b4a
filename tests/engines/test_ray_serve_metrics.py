"""Metrics of the router; no Ray is started."""

from collections import defaultdict

import pytest

pytest.importorskip("ray.serve", reason="Ray Serve is not installed (the extra `ray`)")

from windlass.engines.serve import metrics as ray_serve_metrics


class Metric:
    """A gauge or counter that records its values."""

    made: dict = {}  # noqa: RUF012

    def __init__(self, name, description, tag_keys):
        assert description
        self.values = defaultdict(float)
        self.tag_keys = tag_keys
        self.made[name] = self

    def set_default_tags(self, tags):
        assert set(tags) <= set(self.tag_keys)

    def set(self, value, tags=None):
        self.values[(tags or {}).get("replica")] = value

    def inc(self, value=1.0, tags=None):
        self.values[tags["reason"]] += value


def test_estimates_are_exported_once_a_second_and_are_0_for_removed_replicas(monkeypatch):
    monkeypatch.setattr(ray_serve_metrics.metrics, "Gauge", Metric)
    monkeypatch.setattr(ray_serve_metrics.metrics, "Counter", Metric)
    now = [0.0]
    shown = ray_serve_metrics.RouterMetrics("app", "Model", lambda: now[0])
    shown.show(lambda: {"a": 1.0, "b": 2.0}, lambda: 3.0)
    now[0] = 0.5
    shown.show(lambda: {"a": 9.0}, lambda: 9.0)
    speeds = Metric.made["windlass_replica_speed"].values
    assert speeds == {"a": 1.0, "b": 2.0}
    assert Metric.made["windlass_arrival_rate"].values == {None: 3.0}
    now[0] = 1.5
    shown.show(lambda: {"a": 4.0}, lambda: 5.0)
    assert speeds == {"a": 4.0, "b": 0.0}
    shown.count_fallback("error")
    shown.count_fallback("error")
    assert Metric.made["windlass_router_fallbacks"].values == {"error": 2.0}

"""An autoscaler under the control plane: its decisions, acts and state in the journal, and failures of the cluster."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext

import pytest

from tests.engines.elastic.test_engine import FakeCluster
from windlass.control.cluster_file import read_cluster
from windlass.control.engine import EngineStoppedError
from windlass.control.journal import ActRecord, JobKey, JournalReader, JournalWriter, RowFilter
from windlass.control.scaling.engine import ScalingEngine, ScalingSettings
from windlass.control.site_status import status_from_text
from windlass.engines.elastic.metrics import ScaleStatus
from windlass.engines.kubernetes.lease import LeadershipLostError
from windlass.experiment.worlds.policy import PolicySpec
from windlass.model import InputError

#: Requests one instance more in each hour.
POLICY = """
from windlass.scale import Totals

class Hourly:
    name = "hourly"
    def decide(self, view):
        return Totals((2 + int(view.now // 3600),), ("one more each hour",))
"""
KEY = JobKey("k8s", "cluster")


class VirtualStop:
    """A stop request at a time, whose waits take no time."""

    def __init__(self, until):
        self.time, self.until = 0.0, until

    @property
    def requested(self):
        return self.time >= self.until

    def wait(self, seconds):
        self.time = min(self.time + seconds, self.until)
        return self.requested

    def now(self):
        return self.time


class Bench:
    """Runs of one engine on a fake cluster."""

    def __init__(self, folder):
        self.folder, self.lines = folder, []
        (folder / "hourly.py").write_text(POLICY)

    def run(self, until, acts=True, **more):
        """Run the engine until a time, s, and return the totals that were requested."""
        stop = VirtualStop(until)
        cluster = FakeCluster(stop, **more)
        policy = PolicySpec(name=str(self.folder / "hourly.py"))
        settings = ScalingSettings("k8s", "cluster", "Kubernetes", policy, self.folder / "history.db", 300.0)
        engine = ScalingEngine(
            settings, lambda sleep: nullcontext(cluster), acts=acts, report=self.lines.append, clock=stop.now
        )
        with JournalWriter(self.folder / "journal.db") as journal, pytest.raises(EngineStoppedError):
            engine.run(journal, stop)
        return cluster.totals

    def reader(self):
        return JournalReader(self.folder / "journal.db")

    def acts(self):
        with self.reader() as reader:
            return [(row.time, row.action, row.outcome) for row in reversed(reader.acts().rows)]


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_changed_totals_are_decisions_and_acts_with_outcomes(bench):
    totals = bench.run(7200.0)
    # The totals are requested in each period, and are an act when they change.
    assert totals[:2] == [(0.0, (2,)), (300.0, (2,))]
    assert len(totals) == 24
    assert bench.acts() == [
        (0.0, "request 2 × small", "requested"),
        (3600.0, "request 3 × small", "requested"),
    ]
    with bench.reader() as reader:
        rows = reversed(reader.decisions().rows)
        assert [(row.time, row.job, row.decision, row.policy, row.answer, row.reason) for row in rows] == [
            (
                at,
                KEY,
                "scale",
                "hourly",
                f"{count} × small, where 2 are up and 0 are starting",
                "one more each hour",
            )
            for at, count in ((0.0, 2), (3600.0, 3))
        ]
        (view,), (seen,) = reader.views(), reader.engines()
    state = status_from_text(view.content)
    assert [(each.name, each.state, each.idle) for each in state.machines] == [
        ("small 1", "up", 0),
        ("small 2", "up", 0),
    ]
    assert (state.cores, state.idle, state.running_count) == (8, 0, 1)
    assert seen.status.about == "Kubernetes, scale by hourly; requests instances"
    # It is written at least every ten seconds, so that Health does not call the engine silent.
    assert seen.status.time >= 7190.0


def test_without_act_nothing_is_requested_and_no_history_is_written(bench):
    assert bench.run(7200.0, acts=False) == []
    assert (bench.acts(), (bench.folder / "history.db").exists()) == ([], False)
    with bench.reader() as reader:
        assert [row.answer.partition(",")[0] for row in reader.decisions().rows] == [
            "would request 3 × small",
            "would request 2 × small",
        ]


def test_an_outage_is_shown_and_the_engine_goes_on(bench):
    bench.run(900.0, away=lambda now: now >= 600.0)
    with bench.reader() as reader:
        (seen,) = reader.engines()
        errors = reader.events(RowFilter(topic="error")).rows
    assert (seen.status.state, seen.status.error) == ("unreachable", "the cluster does not answer")
    # Once, and not at each try.
    assert [(row.time, row.text) for row in errors] == [(600.0, "the cluster does not answer")]
    bench.run(900.0, away=lambda now: 300.0 <= now < 400.0)
    with bench.reader() as reader:
        (seen,) = reader.engines()
        assert len(reader.events(RowFilter(topic="reachable")).rows) == 1
    assert (seen.status.state, seen.status.error) == ("running", "")


def test_a_refused_request_is_an_act_that_failed_and_is_tried_again(bench):
    bench.run(600.0, refuses=lambda now: now < 3.0)
    outcomes = [outcome for _, _, outcome in bench.acts()]
    assert outcomes == ["failed: writing is forbidden"] * (len(outcomes) - 1) + ["requested"]
    assert len(outcomes) > 1


def test_acts_of_a_killed_process_are_concluded(bench):
    with JournalWriter(bench.folder / "journal.db") as journal:
        journal.intend(ActRecord("one", 5.0, KEY, "request 9 × small"))
        journal.intend(ActRecord("two", 5.0, JobKey("other", "cluster"), "request 9 × small"))
    bench.run(1.0)
    assert [outcome for _, _, outcome in bench.acts()] == [
        "unknown: the process ended; totals are requested again",
        None,
        "requested",
    ]


TYPES = "types: [{name: small, cores: 4, most: 9}]"


def read(tmp_path, text):
    (tmp_path / "types.yaml").write_text(TYPES)
    (tmp_path / "cluster.yaml").write_text(text)
    return read_cluster(tmp_path / "cluster.yaml", acts=False, report=print).engines


def test_engines_of_kubernetes_and_ray_are_read(tmp_path):
    found = read(
        tmp_path,
        "engines: [{engine: kubernetes, types: types.yaml, policy: {reactive: {unneeded: 9}}},"
        " {engine: ray, types: types.yaml, address: '127.0.0.1:6379'}]",
    )
    assert [(each.name, each.about) for each in found] == [
        ("kubernetes", "Kubernetes, scale by reactive; decides only"),
        ("ray", "Ray, scale by thrifty; decides only"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{engine: kubernetes}", "engines.0.types: missing"),
        ("{engine: kubernetes, types: none.yaml}", "none.yaml: "),
        ("{engine: ray, types: types.yaml, address: here}", "engines.0.address"),
        ("{engine: ray, types: types.yaml}", "engines.0.address: missing"),
        ("{engine: kubernetes, types: types.yaml, policy: none}", "engines.0.policy: unknown policy 'none'"),
        (
            "{engine: kubernetes, types: types.yaml, period: -1}",
            "engines.0.period: expected a number above 0",
        ),
        ("{engine: kubernetes, types: types.yaml, adress: x}", "engines.0.adress: no such field"),
    ],
)
def test_a_wrong_field_is_one_line(tmp_path, text, line):
    with pytest.raises(InputError) as caught:
        read(tmp_path, f"engines: [{text}]")
    assert line in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / 'cluster.yaml'}: ")


def test_a_cluster_that_cannot_be_opened_is_a_failure_of_its_engine(tmp_path):
    (engine,) = read(
        tmp_path, "engines: [{engine: kubernetes, types: types.yaml, kubeconfig: none, history: h.db}]"
    )
    with JournalWriter(tmp_path / "journal.db") as journal, pytest.raises(InputError, match="none"):
        engine.run(journal, VirtualStop(1.0))


def test_packages_are_imported_before_engines_are_in_threads(tmp_path, monkeypatch):
    # Two threads that imported them at the same time failed: both packages import one that imports itself in a circle.
    imported = []

    def import_module(name):
        imported.append(name)
        raise ImportError(name)

    monkeypatch.setattr("windlass.control.scaling.engine.import_module", import_module)
    for engine in read(
        tmp_path,
        "engines: [{engine: kubernetes, types: types.yaml},"
        " {engine: ray, types: types.yaml, address: '127.0.0.1:6379'}]",
    ):
        engine.prepare()
    assert {"kubernetes.client", "kubernetes.config", "ray.autoscaler.v2.sdk"} <= set(imported)


def test_a_command_that_loses_the_lease_ends(bench):
    @contextmanager
    def connect(sleep):
        raise LeadershipLostError("another driver leads now: b")
        yield

    policy = PolicySpec(name=str(bench.folder / "hourly.py"))
    settings = ScalingSettings(
        "k8s", "cluster", "Kubernetes", policy, bench.folder / "history.db", 300.0, gives_up=True
    )
    engine = ScalingEngine(settings, connect, acts=True, report=bench.lines.append)
    with pytest.raises(LeadershipLostError):
        engine.run(None, VirtualStop(5.0))
    assert bench.lines == []


def test_an_engine_without_a_journal_requests_the_same_totals(bench):
    stop = VirtualStop(7200.0)
    cluster, status = FakeCluster(stop), ScaleStatus()
    policy = PolicySpec(name=str(bench.folder / "hourly.py"))
    settings = ScalingSettings("k8s", "cluster", "Kubernetes", policy, bench.folder / "alone.db", 300.0)
    engine = ScalingEngine(
        settings,
        lambda sleep: nullcontext(cluster),
        acts=True,
        report=bench.lines.append,
        clock=stop.now,
        status=status,
    )
    with pytest.raises(EngineStoppedError):
        engine.run(None, stop)
    assert cluster.totals == bench.run(7200.0)
    assert status.decisions == len(cluster.totals) == 24


def test_an_engine_that_loses_the_lease_waits_for_it_again(bench):
    tries = []

    @contextmanager
    def connect(sleep):
        tries.append(sleep)
        if len(tries) == 1:
            raise LeadershipLostError("another driver leads now: b")
        sleep(1e9)
        yield

    policy = PolicySpec(name=str(bench.folder / "hourly.py"))
    settings = ScalingSettings("k8s", "cluster", "Kubernetes", policy, bench.folder / "history.db", 300.0)
    engine = ScalingEngine(settings, connect, acts=True, report=bench.lines.append)
    with JournalWriter(bench.folder / "journal.db") as journal, pytest.raises(EngineStoppedError):
        engine.run(journal, VirtualStop(5.0))
    assert len(tries) == 2
    assert bench.lines == ["another driver leads now: b"]

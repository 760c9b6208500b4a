"""The health of drivers: 503 while a loop hangs, and 200 while it pauses, retries or waits to lead."""

import urllib.error
import urllib.request
from dataclasses import replace

import pytest

from tests.adversary.clock import VirtualClock
from tests.engines.elastic.test_engine import CountingPolicy, FakeClock, FakeCluster, MemoryHistory
from tests.engines.kubernetes.job_cluster import LEASES, JobCluster
from windlass.agent.stop import Stop
from windlass.control.scaling.engine import ScalingEngine, ScalingSettings
from windlass.drive import drive
from windlass.engines.batch.metrics import driver_metrics
from windlass.engines.batch.polling import Polls
from windlass.engines.batch.retries import Retries
from windlass.engines.batch.status import Contact, DriverStatus
from windlass.engines.elastic.engine import LiveScale
from windlass.engines.elastic.metrics import ScaleStatus, scale_metrics
from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes.jobs.client import JobsClient
from windlass.engines.kubernetes.jobs.driver import JobsDriving, drive_jobs
from windlass.engines.kubernetes.jobs.system import JobsOptions
from windlass.engines.kubernetes.lease import Lease, leading
from windlass.engines.loop_health import LoopHealth
from windlass.engines.prometheus import MetricsServer
from windlass.experiment.worlds.policy import PolicySpec
from windlass.model import BatchError, InputError
from windlass.order.site.policies.fcfs import Fcfs


class Bench:
    """A driver's status whose health has a virtual clock, and what a probe finds at each call of `probe`."""

    def __init__(self):
        self.clock = VirtualClock()
        self.health = LoopHealth(clock=self.clock.time)
        self.status = DriverStatus(contact=Contact(health=self.health))
        self.found = []

    def probe(self):
        self.found.append(self.health.problem())

    def hang(self, seconds):
        """Let time pass in which the driver is not called."""
        self.clock.wait(seconds)
        self.probe()


@pytest.fixture
def bench():
    return Bench()


def healthz(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.mark.parametrize("source", ["batch", "elastic"])
def test_healthz_is_503_while_the_loop_hangs(bench, source):
    pytest.importorskip("prometheus_client", reason="the extra `agent` is not installed")
    made = {
        "batch": lambda: driver_metrics("k8s", "the API server", bench.status),
        "elastic": lambda: scale_metrics(ScaleStatus(health=bench.health)),
    }
    with MetricsServer(made[source](), "127.0.0.1", 0) as server:
        bench.clock.wait(180.0)
        assert healthz(server.port) == (200, "ok\n")
        bench.clock.wait(1.0)
        assert healthz(server.port) == (503, "no progress for 181 s, expected at most 180 s\n")
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=60) as answer:
            assert b"_polls_total 0.0" in answer.read()
        bench.health.progressed()
        assert healthz(server.port) == (200, "ok\n")


def test_a_loop_of_polls_is_alive_in_pauses_and_hangs_within_a_poll(bench):
    polls = None

    def poll():
        polls.began()
        for seconds in hangs.pop(0):
            bench.hang(seconds)
        polls.ended(0, 0, 0)

    def sleep(seconds):
        # A probe at the end of a pause of 400 s: four intervals, since no job waits or runs.
        bench.hang(seconds)

    hangs = [(), (300.0, 1.0), ()]
    polls = Polls(poll, 100.0, False, bench.clock.time, sleep, bench.status)
    polls.wait(1000.0)
    late = "no progress for 301 s, expected at most 300 s"
    assert bench.found == ["", "", late, ""]


def test_requests_and_retries_are_progress(bench):
    calls = []

    def call():
        calls.append(bench.clock.now)
        bench.clock.wait(100.0)
        if len(calls) in (3, 6):
            return len(calls)
        raise BatchError("away")

    def sleep(seconds):
        bench.clock.wait(seconds)
        bench.probe()

    away = Retries(
        "PBS", 900.0, bench.status.contact, lambda line: None, sleep, bench.clock.time, lambda error: True
    )
    # Two failures of 100 s each, and an answer.
    assert away.retry(call, BatchError) == 3
    bench.hang(100.0)
    assert bench.found == [""] * 3
    with pytest.raises(BatchError, match="away"):
        replace(away, is_away=lambda error: False).retry(call, BatchError)
    bench.hang(100.0)
    assert bench.found[3:] == [""]


@pytest.mark.parametrize("refuses", [True, False])
def test_each_answer_of_the_api_server_is_progress(bench, tmp_path, refuses):
    cluster = JobCluster(bench.clock.time, (3,))
    for name in "abc":
        cluster.submit(name, 1000.0)

    class Slow:
        """A server whose first answers take 100 s each; it is away once."""

        away = True

        def get(self, path):
            return self.call(lambda: cluster.get(path))

        def send(self, *request):
            return self.call(lambda: cluster.send(*request))

        def call(self, answer):
            bench.hang(100.0)
            if refuses and self.away and bench.clock.now > began + 350.0:
                self.away = False
                raise ClusterError("no answer")
            return answer()

    began = bench.clock.now
    client = JobsClient(Slow(), sleep=bench.clock.wait, clock=bench.clock.time, contact=bench.status.contact)
    driving = JobsDriving({"order": Fcfs()}, tmp_path / "journal", JobsOptions(1.0, until_idle=True))
    run = drive_jobs(
        client, driving, lambda line: None, bench.status, clock=bench.clock.time, sleep=bench.clock.wait
    )
    assert len(bench.found) > 10
    assert set(bench.found) == {""}
    assert run.decisions >= 1


def test_a_driver_that_waits_to_lead_is_alive(bench):
    cluster = JobCluster(bench.clock.time, (1,))
    path = f"{LEASES.format('lab')}/windlass-jobs"

    def lease(sleep):
        return Lease(cluster, "lab", "windlass-jobs", monotonic=bench.clock.time, sleep=sleep)

    def sleep(seconds):
        bench.hang(seconds)
        if bench.clock.now < began + 600.0:
            # The other driver renews its Lease.
            renewal = {"holderIdentity": "other", "renewTime": f"{bench.clock.now}"}
            cluster.send("PATCH", path, {"spec": renewal})

    began = bench.clock.now
    with leading(lease(bench.clock.wait)), leading(lease(bench.health.sleeping(sleep))):
        assert 600.0 <= bench.clock.now - began < 700.0
    assert set(bench.found) == {""}


def test_an_autoscaler_is_alive_in_pauses_and_hangs_within_a_poll():
    clock, found, took = FakeClock(until=3000.0), [], iter([0.0, 899.0, 901.0, 0.0])
    health = LoopHealth(clock=clock.now)

    class Slow(FakeCluster):
        def look(self):
            clock.time += next(took)
            found.append(health.problem())
            return super().look()

    class Probed:
        now = clock.now

        def sleep(self, seconds):
            goes_on = clock.sleep(seconds)
            found.append(health.problem())
            return goes_on

    status = ScaleStatus(health=health)
    engine = LiveScale(Slow(clock), MemoryHistory(), Probed(), period=300.0, status=status)
    drive(engine, {"scale": CountingPolicy()})
    assert found == ["", "", "", "", "", "no progress for 901 s, expected at most 900 s", "", "", ""]


def test_an_autoscaler_that_waits_to_lead_is_alive(bench, tmp_path):
    def connect(sleep):
        for _ in range(3):
            bench.hang(150.0)
            sleep(0.0)
        raise InputError("the end")

    spec = PolicySpec(name="reactive")
    settings = ScalingSettings("scale", "site", "Kubernetes", spec, tmp_path / "history.db", 60.0)
    status = ScaleStatus(health=bench.health)
    engine = ScalingEngine(settings, connect, acts=True, report=lambda line: None, status=status)
    with pytest.raises(InputError, match="the end"):
        engine.run(None, Stop())
    assert bench.found == [""] * 3

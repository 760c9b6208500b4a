"""A Lease: at most one driver acts at a time, whatever is lost, late or interleaved."""

import subprocess
import sys
from contextlib import ExitStack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.adversary.clock import VirtualClock
from tests.engines.kubernetes.job_cluster import LEASES, JobCluster
from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes.lease import (
    LeadershipLostError,
    LeadersServer,
    Lease,
    identity,
    leaders_server,
    leading,
)
from windlass.model import InputError

PATH = f"{LEASES.format('lab')}/windlass-jobs"


class Bench:
    """A server, a clock, and drivers whose own clocks differ."""

    def __init__(self):
        self.clock = VirtualClock()
        self.cluster, self.lines = JobCluster(self.clock.time, (1,)), []
        self.fault = ""

    def get(self, path):
        return self.call("GET", path, None)

    def send(self, method, path, body=None):
        return self.call(method, path, body)

    def call(self, method, path, body):
        if self.fault == "lost":
            raise ClusterError("no connection")
        found = self.cluster.get(path) if method == "GET" else self.cluster.send(method, path, body)
        if self.fault == "unanswered" and method != "GET":
            raise ClusterError("no answer")
        return found

    def lease(self, holder, offset=0.0, duration=15.0):
        return Lease(
            self,
            "lab",
            "windlass-jobs",
            holder,
            duration,
            notify=self.lines.append,
            clock=lambda: self.clock.now + 1000 * offset,
            monotonic=lambda: self.clock.now + offset,
            sleep=self.clock.wait,
        )

    def spec(self):
        return self.cluster.get(PATH)["spec"]


@pytest.fixture
def bench():
    return Bench()


def acts(lease):
    try:
        lease.check()
    except (ClusterError, LeadershipLostError):
        return False
    return True


def test_the_second_driver_waits_until_the_first_does_not_renew(bench):
    one, other = bench.lease("one"), bench.lease("other", 500.0)
    assert one.take()
    assert not other.take()
    for _ in range(20):
        bench.clock.wait(5.0)
        one.renew()
        assert not other.take()
    bench.clock.wait(14.5)
    assert not other.take()
    bench.clock.wait(1.0)
    assert other.take()
    assert (bench.spec()["holderIdentity"], bench.spec()["leaseTransitions"]) == ("other", 1)
    assert not acts(one)
    one.renew()
    with pytest.raises(LeadershipLostError, match="another driver leads now: other"):
        one.check()


def test_a_driver_waits_for_the_lease_and_reports_once_why(bench):
    one = bench.lease("one")
    one.take()
    bench.lease("other").acquire()
    assert bench.lines == [
        "waits until it leads: one holds the Lease windlass-jobs",
        "this driver leads: other",
    ]


def test_a_driver_that_ends_gives_the_lease_up(bench):
    with leading(bench.lease("one")):
        assert bench.spec()["holderIdentity"] == "one"
    assert "holderIdentity" not in bench.spec()
    assert bench.lease("other").take()


def test_a_driver_that_lost_the_lease_does_not_give_it_up(bench):
    one = bench.lease("one")
    one.take()
    bench.clock.wait(16.0)
    other = bench.lease("other")
    other.take()
    bench.clock.wait(16.0)
    assert other.take()
    one.release()
    assert bench.spec()["holderIdentity"] == "other"


def test_of_two_that_take_it_at_once_one_fails(bench):
    one, other = bench.lease("one"), bench.lease("other")
    real, taken = bench.get, []

    def get(path):
        found = real(path)
        if not taken:
            taken.append(None)
            taken.append(other.take())
        return found

    bench.cluster.send("POST", LEASES.format("lab"), {"metadata": {"name": "windlass-jobs"}, "spec": {}})
    bench.get = get
    assert (one.take(), taken[1:]) == (False, [True])
    assert acts(other)
    assert not acts(one)


def test_a_late_renewal_is_made_before_a_write(bench):
    one = bench.lease("one")
    one.take()
    bench.clock.wait(12.0)
    before = bench.spec()["renewTime"]
    assert acts(one)
    assert bench.spec()["renewTime"] > before


def test_a_deleted_lease_is_created_again(bench):
    one = bench.lease("one")
    one.take()
    bench.cluster.delete(PATH)
    one.renew()
    assert bench.spec()["holderIdentity"] == "one"


def test_only_the_leader_writes(bench):
    one, other = bench.lease("one"), bench.lease("other")
    one.take()
    node = {"metadata": {"name": "n9"}, "spec": {}, "status": {}}
    LeadersServer(bench.cluster, one).send("POST", "/api/v1/nodes", node)
    with pytest.raises(LeadershipLostError, match="another driver leads now: one"):
        LeadersServer(bench.cluster, other).send("DELETE", "/api/v1/nodes/n9")
    assert bench.cluster.get("/api/v1/nodes/n9")
    assert LeadersServer(bench.cluster, other).get("/api/v1/nodes/n9")


def test_a_check_of_a_fresh_lease_sends_nothing(bench):
    one = bench.lease("one")
    one.take()
    bench.clock.wait(9.9)
    version = bench.cluster.get(PATH)["metadata"]["resourceVersion"]
    one.check()
    assert bench.cluster.get(PATH)["metadata"]["resourceVersion"] == version


def test_a_duration_below_a_second_is_an_error(bench):
    assert bench.lease("one", duration=1.0).interval == pytest.approx(1 / 3)
    with pytest.raises(InputError, match=r"lease is 0\.5"):
        bench.lease("one", duration=0.5)


def test_a_server_of_the_leader_holds_the_lease_and_gives_it_up(bench):
    with leaders_server(bench, "lab", "windlass-jobs", 15.0, notify=bench.lines.append) as server:
        assert isinstance(server, LeadersServer)
        assert bench.lines == [f"this driver leads: {bench.spec()['holderIdentity']}"]
    assert bench.spec().get("holderIdentity") is None


def test_without_a_duration_there_is_no_lease(bench):
    with leaders_server(bench, "lab", "windlass-jobs", 0.0, notify=bench.lines.append) as server:
        assert server is bench
    assert bench.cluster.history == []


def test_each_process_has_a_name_of_its_own():
    assert identity() != identity()


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 2),
            st.sampled_from(["renew", "act", "act", "release"]),
            st.sampled_from([0.0, 1.0, 4.0, 8.0, 11.0]),
            st.sampled_from(["", "", "", "lost", "unanswered"]),
        ),
        min_size=10,
        max_size=40,
    )
)
def test_at_most_one_driver_acts_at_a_time(steps):
    bench = Bench()
    drivers = [bench.lease(f"d{number}", 300.0 * number) for number in range(3)]
    began = set()
    for number, what, seconds, fault in steps:
        bench.clock.wait(seconds)
        bench.fault = fault
        lease = drivers[number]
        try:
            if number not in began:
                if lease.take():
                    began.add(number)
            elif what == "release":
                lease.release()
                drivers[number] = bench.lease(f"d{number}-{len(steps)}-{seconds}", 300.0 * number)
                began.discard(number)
            elif what == "renew":
                lease.renew()
            else:
                lease.check()
        except (ClusterError, LeadershipLostError):
            pass
        bench.fault = "lost"
        assert sum(acts(drivers[each]) for each in began) <= 1


@pytest.mark.slow
def test_a_second_autoscaler_takes_over_from_one_that_was_killed(tmp_path):
    pytest.importorskip("kubernetes", reason="needs the package kubernetes")
    from tests.engines.kubernetes.served import environment, served_here, words
    from windlass.engines.slurm.daemons import wait_until

    policy = "{predictive: {forecaster: naive, ladder: [[0, 2]]}}"
    with served_here(tmp_path) as served, ExitStack() as started:

        def start(name):
            (tmp_path / name).mkdir()
            command = words(served.admin, tmp_path / name, "windlass", policy, 0.25)
            file = started.enter_context(open(tmp_path / name / "said", "w"))
            process = subprocess.Popen(
                [sys.executable, "-m", "windlass", *command, "--lease", "1"],
                env=environment(),
                stdout=file,
                stderr=file,
            )
            started.callback(process.kill)
            return process, lambda text: text in (tmp_path / name / "said").read_text()

        one, one_says = start("one")
        assert wait_until(lambda: one_says("in total"), 300.0)
        other, other_says = start("other")
        assert wait_until(lambda: other_says("waits until it leads"), 300.0)
        assert not other_says("this driver leads")
        one.kill()
        assert wait_until(lambda: other_says("in total"), 300.0)
        other.terminate()
        assert other.wait(300.0) == 130
        server = served.cluster.server
        spec = server.get(f"{LEASES.format('windlass')}/windlass-autoscaler")["spec"]
        assert ("holderIdentity" not in spec, spec["leaseTransitions"]) == (True, 1)

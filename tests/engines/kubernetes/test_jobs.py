"""The queue of Kubernetes Jobs in virtual time: what is released, what is left alone, and failing requests."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.adversary.clock import BEGIN, VirtualClock
from tests.engines.kubernetes.job_cluster import JobCluster, jobs_path, stamp
from windlass.drive import drive
from windlass.engines.batch.engine import LiveSite
from windlass.engines.batch.journal_lock import journal_lock
from windlass.engines.batch.system import Cancelled, Capacity, Ended, Holds, Started, Submitted
from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes.jobs.capacity import SchedulableCores, cluster_cores
from windlass.engines.kubernetes.jobs.client import JobsClient, ServerAwayError
from windlass.engines.kubernetes.jobs.driver import JobsDriving, drive_jobs, give_back_jobs, plan_jobs
from windlass.engines.kubernetes.jobs.journal import (
    JobJournal,
    NotResumed,
    Resumed,
    Resuming,
    UnwrittenJobs,
    read_job_journal,
)
from windlass.engines.kubernetes.jobs.models import RELEASED, read_job
from windlass.engines.kubernetes.jobs.system import JobsOptions, KubernetesJobs
from windlass.engines.kubernetes.lease import LeadershipLostError
from windlass.engines.kubernetes.server import refusal
from windlass.model import InputError
from windlass.order.site.policies.easy import Easy
from windlass.order.site.policies.fcfs import Fcfs
from windlass.order.site.policies.limited import Limited


class Bench:
    """A cluster, its clock, and drivers of it. `faults` are called before requests, in turn, and may raise."""

    def __init__(self, folder, nodes=(4,), latency=0.0):
        self.clock, self.folder, self.lines, self.requests = VirtualClock(), folder, [], []
        self.cluster = JobCluster(self.clock.time, nodes, latency)
        self.before = lambda method, path: None
        self.after = lambda method, path: None

    def get(self, path):
        return self.call("GET", path, None)

    def send(self, method, path, body=None):
        return self.call(method, path, body)

    def call(self, method, path, body):
        self.requests.append((method, path))
        self.before(method, path)
        found = self.cluster.get(path) if method == "GET" else self.cluster.send(method, path, body)
        self.after(method, path)
        return found

    def client(self, patience=60.0):
        return JobsClient(self, None, patience, self.lines.append, self.clock.wait, self.clock.time)

    def system(self, journal=None):
        options = JobsOptions(1.0, until_idle=True)
        return KubernetesJobs(
            self.client(),
            journal or UnwrittenJobs(),
            options,
            notify=self.lines.append,
            clock=self.clock.time,
            sleep=self.clock.wait,
        )

    def run(self, policy=None, patience=60.0):
        driving = JobsDriving(
            {"order": policy or Fcfs()}, self.folder / "journal", JobsOptions(1.0, until_idle=True)
        )
        return drive_jobs(
            self.client(patience), driving, self.lines.append, clock=self.clock.time, sleep=self.clock.wait
        )

    def writes(self):
        return [path.rpartition("/")[2] for method, path in self.requests if method != "GET"]


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def refused(status, message="no"):
    raise refusal(status, "PATCH", "/x", f'{{"message": "{message}"}}'.encode())


PATH = f"{jobs_path('lab')}/a"


def test_jobs_run_in_the_order_of_the_policy_and_each_is_written_once(bench):
    for name, pods, run in (("a", 3, 20.0), ("b", 4, 20.0), ("c", 1, 5.0)):
        bench.cluster.submit(name, run, pods, limit=60)
        bench.clock.wait(1.0)
    bench.run(Easy())
    assert bench.cluster.resumptions() == ["lab/a", "lab/c", "lab/b"]
    assert bench.writes() == ["a", "c", "b"]
    assert bench.cluster.ended == {"lab/a": 1, "lab/b": 1, "lab/c": 1}
    released = bench.cluster.jobs()["lab/a"]["metadata"]["annotations"][RELEASED]
    assert released.startswith(stamp(BEGIN + 3.0)[:16])


@pytest.mark.parametrize(
    ("key", "order"),
    [(None, ["lab/a", "field/c", "lab/b", "field/d"]), ("team", ["lab/a", "lab/b", "field/c", "field/d"])],
)
def test_users_are_limited_by_namespace_or_by_an_annotation(bench, key, order):
    for name, space, team in (("a", "lab", "x"), ("b", "lab", "y"), ("c", "field", "x"), ("d", "field", "y")):
        bench.cluster.submit(name, 10.0, 1, limit=60, namespace=space)
        bench.cluster.edit(f"{jobs_path(space)}/{name}", {"metadata": {"annotations": {"team": team}}})
        bench.clock.wait(1.0)
    driving = JobsDriving(
        {"order": Limited(jobs_per_user=1)}, bench.folder / "journal", JobsOptions(1.0, True, key)
    )
    drive_jobs(bench.client(), driving, bench.lines.append, clock=bench.clock.time, sleep=bench.clock.wait)
    assert bench.cluster.resumptions() == order


def test_a_second_driver_with_the_same_journal_changes_nothing(bench):
    bench.cluster.submit("a", 1.0)
    with journal_lock(bench.folder / "journal"), pytest.raises(InputError, match="another driver writes it"):
        bench.run()
    assert bench.writes() == []
    bench.run()


def test_only_jobs_with_the_label_are_written(bench):
    bench.cluster.submit("a", 1.0)
    bench.cluster.submit("own", 1.0, queue=False)
    bench.cluster.submit("kueue", 1.0)
    bench.cluster.edit(
        f"{jobs_path('lab')}/kueue", {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "q"}}}
    )
    bench.run()
    assert bench.writes() == ["a"]
    assert "lab/kueue cannot start: it belongs to a queue of Kueue" in bench.lines
    assert give_back_jobs(bench.client(), bench.clock.time).released == ()


def test_a_job_that_its_user_suspends_after_the_release_is_left_alone(bench):
    bench.cluster.submit("a", 30.0)
    bench.cluster.at(BEGIN + 5.0, lambda: bench.cluster.edit(PATH, {"spec": {"suspend": True}}))
    bench.run()
    bench.run()
    assert bench.writes() == ["a"]
    assert give_back_jobs(bench.client(), bench.clock.time).released == ()
    assert (
        sum("lab/a: its user suspended it after its release; left alone" in line for line in bench.lines) == 2
    )


def test_a_job_without_the_annotation_waits_again_at_the_end_of_the_queue(bench):
    bench.cluster.submit("a", 30.0, 4)
    bench.clock.wait(1.0)
    bench.cluster.submit("b", 30.0, 4)
    again = {"spec": {"suspend": True}, "metadata": {"annotations": {RELEASED: None}}}
    bench.cluster.at(BEGIN + 5.0, lambda: bench.cluster.edit(PATH, again))
    bench.run()
    assert bench.cluster.resumptions() == ["lab/a", "lab/b", "lab/a"]
    assert bench.cluster.ended == {"lab/a": 1, "lab/b": 1}


def test_a_job_wider_than_the_cluster_blocks_no_other_and_is_reported_once(bench):
    bench.cluster.submit("a", 1.0, 5)
    bench.cluster.submit("b", 1.0, 4)
    bench.run()
    assert bench.cluster.resumptions() == ["lab/b"]
    assert bench.lines.count("lab/a cannot start: it requests 5 cores, the cluster has 4") == 1


def test_a_job_that_its_user_resumes_holds_cores_without_a_release(bench):
    bench.cluster.submit("a", 10.0, 4)
    bench.clock.wait(1.0)
    bench.cluster.submit("b", 10.0, 4)
    bench.cluster.occupy("other", "n1", "1")
    system = bench.system()
    assert [type(event) for event in system.poll(0.0)] == [Submitted, Submitted]
    bench.cluster.edit(PATH, {"spec": {"suspend": False}})
    bench.clock.wait(1.0)
    events = system.poll(0.0)
    assert [type(event) for event in events] == [Started]
    # Its pods are its own: the cores of the site are those without the other pod.
    assert system.processors == 3
    assert bench.writes() == []


def test_running_jobs_of_the_queue_hold_their_cores_from_the_first_poll_on(bench):
    bench.cluster.submit("a", 50.0, 3, suspend=False)
    bench.clock.wait(2.0)
    system = bench.system()
    (event,) = system.poll(0.0)
    assert (type(event), event.procs, event.at, system.processors) == (Holds, 3, BEGIN, 4)


def test_cores_are_those_of_schedulable_nodes_less_other_pods():
    def node(name, cpu, ready="True", **spec):
        status = {"conditions": [{"type": "Ready", "status": ready}], "allocatable": {"cpu": cpu}}
        return {"metadata": {"name": name}, "spec": spec, "status": status}

    def condition(name, effect):
        return {"key": f"node.kubernetes.io/{name}", "effect": effect}

    def pod(where, cpu, owner=None, phase="Running"):
        owners = [] if owner is None else [{"kind": "Job", "uid": owner}]
        spec = {"nodeName": where, "containers": [{"resources": {"requests": {"cpu": cpu}}}]}
        return {"metadata": {"ownerReferences": owners}, "spec": spec, "status": {"phase": phase}}

    nodes = [
        node("a", "3900m"),
        node("b", "4"),
        # Kubernetes itself taints these two.
        node("cordoned", "8", unschedulable=True, taints=[condition("unschedulable", "NoSchedule")]),
        node("away", "16", ready="Unknown", taints=[condition("unreachable", "NoExecute")]),
        node("full", "2", taints=[condition("disk-pressure", "NoSchedule")]),
        node(
            "control", "32", taints=[{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]
        ),
        node("soft", "1", taints=[{"key": "x", "effect": "PreferNoSchedule"}]),
    ]
    pods = [
        pod("a", "500m"),
        pod("a", "2", owner="ours"),
        pod("a", "2", owner="theirs", phase="Succeeded"),
        pod("b", "5"),
        pod("cordoned", "1"),
        pod("control", "1"),
        {"metadata": {}, "spec": {"containers": []}},
    ]
    assert cluster_cores(nodes, pods, {"ours"}) == SchedulableCores(free=4, most=34)
    assert cluster_cores(nodes, pods, set()) == SchedulableCores(free=2, most=34)


def test_the_cores_of_the_site_follow_pods_and_nodes(bench):
    bench.cluster.submit("a", 1.0, 4)
    system = bench.system()
    system.poll(0.0)
    bench.cluster.occupy("other", "n1", "1500m")
    bench.clock.wait(1.0)
    assert system.poll(0.0) == [Capacity(2)]
    bench.cluster.cordon(1, True)
    bench.clock.wait(1.0)
    assert system.poll(0.0) == [Capacity(0)]


@pytest.mark.parametrize("lost", ["before", "after"])
def test_a_release_whose_answer_is_lost_is_made_once(bench, lost):
    bench.cluster.submit("a", 3.0)
    left = [1]

    def lose(method, path):
        if method == "PATCH" and left:
            left.clear()
            raise ClusterError("no answer")

    setattr(bench, lost, lose)
    bench.run()
    assert bench.cluster.resumptions() == ["lab/a"]
    assert bench.writes() == (["a", "a"] if lost == "before" else ["a"])


def test_a_job_that_was_changed_since_the_poll_is_read_again(bench):
    bench.cluster.submit("a", 3.0)
    system = bench.system()
    (event,) = system.poll(0.0)
    bench.cluster.edit(PATH, {"metadata": {"labels": {"team": "x"}}})
    assert system.start([event.job]) == {}
    assert bench.writes() == ["a", "a"]


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ({"spec": {"parallelism": 2}}, "its request was changed"),
        ({"metadata": {"labels": {"windlass/queue": None}}}, "it no longer waits for Windlass"),
        ({"metadata": {"annotations": {RELEASED: "2026"}}}, "it no longer waits for Windlass"),
    ],
)
def test_a_job_whose_change_matters_is_not_released(bench, patch, why):
    bench.cluster.submit("a", 3.0)
    system = bench.system()
    (event,) = system.poll(0.0)
    bench.cluster.edit(PATH, patch)
    assert system.start([event.job]) == {event.job: f"lab/a: {why}"}
    assert bench.cluster.resumptions() == []


def test_a_job_that_was_deleted_or_created_again_is_not_released(bench):
    bench.cluster.submit("a", 3.0)
    bench.cluster.submit("b", 3.0)
    system = bench.system()
    one, other = (event.job for event in system.poll(0.0))
    bench.cluster.delete(PATH)
    bench.cluster.delete(f"{jobs_path('lab')}/b")
    bench.clock.wait(0.5)
    bench.cluster.submit("b", 3.0)
    assert system.start([one, other]) == {
        one: "lab/a: it was deleted",
        other: "lab/b: it was deleted, or has ended",
    }
    assert bench.cluster.resumptions() == []


def test_a_job_that_the_server_refuses_is_set_aside_and_the_others_run(bench):
    bench.cluster.submit("a", 3.0)
    bench.cluster.submit("b", 3.0)
    bench.cluster.at(BEGIN + 100.0, lambda: setattr(bench, "before", lambda method, path: None))
    bench.before = lambda method, path: refused(403) if (method, path) == ("PATCH", PATH) else None
    bench.run()
    assert bench.cluster.resumptions() == ["lab/b", "lab/a"]
    entries = read_job_journal(bench.folder / "journal")
    assert sum(isinstance(entry, NotResumed) for entry in entries) >= 4
    assert all("is forbidden: no" in entry.why for entry in entries if isinstance(entry, NotResumed))


def test_a_server_that_is_away_is_no_empty_queue(bench):
    bench.cluster.submit("a", 3.0)

    def away(method, path):
        if BEGIN + 2.0 < bench.clock.now < BEGIN + 30.0:
            raise ClusterError("no connection")

    bench.before = away
    bench.cluster.at(BEGIN + 10.0, lambda: bench.cluster.submit("b", 3.0))
    bench.run()
    assert bench.cluster.resumptions() == ["lab/a", "lab/b"]
    assert [line for line in bench.lines if "start" not in line] == [
        "no connection; trying again for 60 s",
        "the server answers again",
    ]


def test_a_server_that_stays_away_ends_the_driver(bench):
    bench.cluster.submit("a", 30.0)
    bench.before = lambda method, path: refused(500, "etcd") if bench.clock.now > BEGIN + 5.0 else None
    with pytest.raises(ServerAwayError, match=r"no usable answer for .* status 500: etcd"):
        bench.run(Fcfs(), 20.0)


def test_a_list_whose_page_expires_is_read_from_its_beginning(bench, monkeypatch):
    monkeypatch.setattr("windlass.engines.kubernetes.server._PAGE", 2)
    for number in range(5):
        bench.cluster.submit(f"j{number}", 1.0)
    left = [1]

    def expire(method, path):
        if "continue" in path and left:
            left.clear()
            raise refusal(410, method, path, b"")

    bench.before = expire
    bench.run()
    assert sorted(bench.cluster.ended) == [f"lab/j{number}" for number in range(5)]


def test_a_list_from_before_the_release_starts_no_job_again(bench):
    bench.cluster.submit("a", 20.0, 4)
    bench.clock.wait(1.0)
    bench.cluster.submit("b", 20.0, 4)
    system = bench.system()
    engine = LiveSite(system)
    old = bench.cluster.get("/apis/batch/v1/jobs?limit=500")
    real, stale = bench.get, [3]

    def get(path):
        if path.startswith("/apis/batch/v1/jobs") and system.status.started and stale[0]:
            stale[0] -= 1
            return old
        return real(path)

    bench.get = get
    drive(engine, {"order": Fcfs()})
    assert stale == [0]
    assert bench.cluster.resumptions() == ["lab/a", "lab/b"]
    assert bench.writes() == ["a", "b"]


def test_a_dry_run_and_a_plan_change_nothing(bench):
    bench.cluster.submit("a", 3.0)
    bench.cluster.submit("b", 3.0, 9)
    lines = plan_jobs(bench.client(), JobsDriving({"order": Fcfs()}, bench.folder / "journal"))
    assert lines == [
        "lab/a, 1 core: head of the queue",
        'kubectl -n lab patch job a -p \'{"spec":{"suspend":false}}\'  # job 1',
    ]
    assert give_back_jobs(bench.client(), bench.clock.time, dry_run=True).released == ("lab/a", "lab/b")
    assert bench.writes() == []
    assert list(bench.folder.iterdir()) == []


def test_a_give_back_resumes_what_waits_and_names_what_is_refused(bench):
    for name in ("a", "b", "c"):
        bench.cluster.submit(name, 3.0)
    bench.before = lambda method, path: refused(422) if (method, path) == ("PATCH", PATH) else None
    found = give_back_jobs(bench.client(), bench.clock.time)
    assert found.released == ("lab/b", "lab/c")
    assert found.left == {"lab/a": "PATCH /x failed with status 422: no"}
    assert bench.cluster.resumptions() == ["lab/b", "lab/c"]


@pytest.mark.parametrize(("done", "entry"), [(True, Resumed), (False, NotResumed)])
def test_the_outcome_of_an_earlier_driver_s_release_is_recorded(bench, done, entry):
    bench.cluster.submit("a", 3.0)
    job = read_job(bench.cluster.jobs()["lab/a"])
    with JobJournal(bench.folder / "journal") as journal:
        journal.append(Resuming(BEGIN, job.title, job.uid), Resuming(BEGIN, "lab/gone", "u"))
    if done:
        assert bench.client().release(job, BEGIN) == ""
    bench.run()
    first = read_job_journal(bench.folder / "journal")[2:4]
    assert [type(each) for each in first] == [entry, NotResumed]
    assert first[1].why == "it is gone"
    assert bench.cluster.resumptions() == ["lab/a"]


def test_a_job_that_cannot_be_read_does_not_stop_the_next_driver(bench):
    bench.cluster.submit("a", 3.0)
    bench.cluster.submit("b", 3.0)
    job = read_job(bench.cluster.jobs()["lab/a"])
    with JobJournal(bench.folder / "journal") as journal:
        journal.append(Resuming(BEGIN, job.title, job.uid))
    bench.cluster.edit(job.path, {"spec": {"activeDeadlineSeconds": "soon"}})
    bench.run()
    outcome = read_job_journal(bench.folder / "journal")[1]
    assert isinstance(outcome, NotResumed)
    assert "Job lab/a: ValueError" in outcome.why
    assert bench.cluster.resumptions() == ["lab/b"]


def test_a_driver_that_does_not_lead_writes_nothing(bench):
    def send(method, path, body=None):
        raise LeadershipLostError("another leads")

    bench.cluster.submit("a", 3.0)
    client = replace(bench.client(), server=SimpleNamespace(get=bench.get, send=send))
    driving = JobsDriving({"order": Fcfs()}, bench.folder / "journal")
    with pytest.raises(LeadershipLostError, match="another leads"):
        drive_jobs(client, driving, bench.lines.append, clock=bench.clock.time, sleep=bench.clock.wait)
    assert bench.writes() == []


def test_a_job_that_cannot_be_read_is_left_alone_and_the_others_run(bench):
    bench.cluster.submit("a", 3.0)
    bench.cluster.submit("b", 3.0, cpu="1x")
    bench.run()
    assert bench.writes() == ["a"]
    assert (
        sum("Job lab/b: container 'main': cpu: '1x' is not a quantity" in line for line in bench.lines) == 1
    )
    assert list(give_back_jobs(bench.client()).left) == ["lab/b"]


SPEC = {"template": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "700m"}}}]}}}
META = {
    "uid": "u",
    "namespace": "lab",
    "name": "a",
    "resourceVersion": "1",
    "creationTimestamp": "2026-01-01T00:00:00Z",
}


@pytest.mark.parametrize(
    ("spec", "procs", "request_"),
    [
        ({}, 1, float("inf")),
        ({"parallelism": 10}, 7, float("inf")),
        ({"parallelism": 10, "completions": 3, "activeDeadlineSeconds": 90}, 3, 90.0),
        ({"parallelism": 0}, 1, float("inf")),
    ],
)
def test_a_request_is_that_of_the_pods_at_once(spec, procs, request_):
    job = read_job({"metadata": META, "spec": SPEC | spec})
    assert (job.procs, job.request) == (procs, request_)


def test_the_limit_of_the_pods_counts_without_one_of_the_job():
    spec = {"template": {"spec": {"containers": [], "activeDeadlineSeconds": 30}}}
    assert read_job({"metadata": META, "spec": spec}).request == 30.0
    with pytest.raises(InputError, match="Job lab/a: KeyError"):
        read_job({"metadata": META, "spec": {}})


def test_a_cancelled_job_is_reported_once(bench):
    bench.cluster.submit("a", 30.0)
    system = bench.system()
    (event,) = system.poll(0.0)
    system.start([event.job])
    bench.cluster.delete(PATH)
    bench.clock.wait(1.0)
    assert [type(each) for each in system.poll(0.0) if each.__class__ is not Capacity][:1] == [Cancelled]
    assert [each for each in system.poll(5.0) if isinstance(each, Cancelled)] == []


def test_a_give_back_writes_no_running_and_no_ended_job(bench):
    bench.cluster.submit("a", 50.0, suspend=False)
    bench.cluster.submit("b", 1.0, suspend=False)
    bench.clock.wait(5.0)
    assert give_back_jobs(bench.client(), bench.clock.time).released == ()
    assert bench.writes() == []


def test_an_incomplete_line_of_the_journal_is_reported_and_removed(bench):
    (bench.folder / "journal").write_bytes(b'{"what":"resumi')
    bench.cluster.submit("a", 1.0)
    bench.run()
    assert bench.lines[1] == f"{bench.folder / 'journal'}, line 1: incomplete (15 bytes); left out"
    assert bench.cluster.resumptions() == ["lab/a"]


def test_a_journal_that_is_none_names_its_line(bench):
    (bench.folder / "journal").write_bytes(b'{"what":"released","at":1.0}\n')
    with pytest.raises(
        InputError, match=r"journal, line 1: not an entry of a journal: KeyError.*; move the file away"
    ):
        bench.run()


@pytest.mark.parametrize(("ttl", "kind"), [(None, Cancelled), (0, Ended)])
def test_a_running_job_that_vanishes_ended_if_the_server_deletes_ended_jobs(bench, ttl, kind):
    bench.cluster.submit("a", 30.0, ttlSecondsAfterFinished=ttl)
    system = bench.system()
    (event,) = system.poll(0.0)
    system.start([event.job])
    bench.clock.wait(2.0)
    assert [type(each) for each in system.poll(0.0)] == [Started]
    bench.cluster.delete(PATH)
    bench.clock.wait(1.0)
    assert [type(each) for each in system.poll(0.0)][:1] == [kind]


def test_the_time_of_a_poll_is_without_that_of_an_outage(bench):
    bench.cluster.submit("a", 30.0)
    system = bench.system()
    system.poll(0.0)
    assert (system.status.polls, system.status.last_poll_seconds) == (1, 0.0)
    bench.clock.wait(1.0)
    begins = bench.clock.now

    def slow(method, path):
        bench.clock.wait(2.0)
        if bench.clock.now < begins + 10.0:
            raise ClusterError("no connection")

    bench.before = slow
    system.poll(0.0)
    assert bench.clock.now - begins > 12.0
    assert 6.0 <= system.status.last_poll_seconds <= 6.1
    assert system.status.contact.outages == 1
    # The pause after it is four times as long as the poll took.
    bench.before = lambda method, path: None
    polls = system.status.polls
    system.poll(20.0)
    assert system.status.polls == polls
    system.poll(20.0)
    assert system.status.polls > polls

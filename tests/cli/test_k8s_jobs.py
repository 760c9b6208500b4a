"""`windlass k8s drive` and `give-back` against a server over HTTP: output, options, and errors in one line."""

import json
import time
from contextlib import closing, contextmanager

import pytest

pytest.importorskip("kubernetes", reason="needs the package kubernetes")

from tests.engines.kubernetes.between import Between
from tests.engines.kubernetes.job_cluster import JobCluster, jobs_path
from tests.engines.kubernetes.things import kubeconfig
from windlass.model import InputError

DRIVE = ("k8s", "drive", "--policies", "order=easy")


@pytest.fixture
def cluster():
    found = JobCluster(time.time, (4,))
    found.submit("a", 0.1, 2, limit=60)
    found.submit("b", 0.1, 4, limit=60)
    found.submit("own", 0.1, queue=False)
    found.submit("c", 0.1, 1, limit=60, namespace="other")
    return found


@pytest.fixture
def where(cluster, tmp_path):
    with closing(Between(cluster)) as between:
        yield ("--kubeconfig", str(kubeconfig(tmp_path / "config", between.url)))


def test_a_dry_run_prints_the_first_decision_and_writes_nothing(windlass, cluster, where):
    status, out, err = windlass(*DRIVE, *where, "--dry-run")
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "lab/a, 2 cores: head of the queue",
        "other/c, 1 core: backfilled, ends before the head can start",
        'kubectl -n lab patch job a -p \'{"spec":{"suspend":false}}\'  # job 1',
        'kubectl -n other patch job c -p \'{"spec":{"suspend":false}}\'  # job 3',
        "Nothing was changed.",
    ]
    assert cluster.history == []


def test_a_driver_runs_until_no_job_is_left(windlass, cluster, where, tmp_path):
    options = (
        "--journal",
        str(tmp_path / "j" / "journal"),
        "--look",
        "0.05",
        "--until-idle",
        "--log",
        "json",
    )
    status, out, err = windlass(*DRIVE, *where, *options, "--namespace", "lab")
    assert (status, out) == (0, "")
    lines = [json.loads(line) for line in err.splitlines()]
    assert [line["jobs"] for line in lines if line["event"] == "start"] == [["lab/a"], ["lab/b"]]
    assert cluster.resumptions() == ["lab/a", "lab/b"]
    # The Lease is given up.
    lease = cluster.get("/apis/coordination.k8s.io/v1/namespaces/lab/leases/windlass-jobs")
    assert "holderIdentity" not in lease["spec"]
    assert (tmp_path / "j" / "journal").exists()


def test_a_give_back_resumes_what_waits(windlass, cluster, where):
    cluster.edit(f"{jobs_path('lab')}/b", {"metadata": {"annotations": {"windlass/released": "before"}}})
    assert windlass("k8s", "give-back", *where, "--dry-run")[:2] == (
        0,
        "would be resumed: lab/a\nwould be resumed: other/c\nNothing was changed.\n",
    )
    assert windlass("k8s", "give-back", *where, "--namespace", "lab")[:2] == (0, "resumed: lab/a\n")
    assert windlass("k8s", "give-back", *where, "--namespace", "lab")[1] == "no Job waits for Windlass\n"
    assert cluster.resumptions() == ["lab/a"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--policies", "share=pairs"),
            "decision 'share' cannot be driven on Kubernetes, expected one of order",
        ),
        (("--look", "0"), "--look is 0.0, expected a finite number above 0"),
        (("--patience", "nan"), "--patience is nan, expected a finite number"),
        (("--lease", "0.5"), "lease is 0.5, expected a finite number at least 1"),
        (("--metrics", "here:x"), "--metrics is 'here:x', expected an IP address and a port"),
        (("--dry-run", "--until-idle"), "--until-idle: has no effect here"),
        (("--dry-run", "--lease", "5"), "--lease: has no effect here"),
    ],
)
def test_a_wrong_option_is_one_line_before_any_request(windlass, cluster, where, tmp_path, options, message):
    journal = ("--journal", str(tmp_path / "journal"))
    status, _, err = windlass("k8s", "drive", "--policies", "order=easy", *where, *journal, *options)
    assert status == 2
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "journal").exists()


def test_a_driver_that_waits_to_lead_is_alive(windlass, where, monkeypatch):
    kept = []

    @contextmanager
    def served(address, source):
        kept.append(source.health)
        yield

    @contextmanager
    def lead(*given, sleep, **words):
        (health,) = kept
        health.clock = lambda: time.monotonic() + 1000.0
        kept.append(health.problem())
        sleep(0.0)
        kept.append(health.problem())
        raise InputError("the end")
        yield

    monkeypatch.setattr("windlass.cli.k8s_jobs.metrics_served", served)
    monkeypatch.setattr("windlass.engines.kubernetes.lease.leaders_server", lead)
    status, _, err = windlass(*DRIVE, *where)
    assert (status, err) == (2, "windlass: the end\n")
    assert kept[1].startswith("no progress for 1000 s")
    assert kept[2] == ""

"""A real Slurm under `windlass serve`: pages show a job from its submission to its end, and a drained node."""

from __future__ import annotations

import os
import re
import signal

import pytest

from tests.control.test_serve import fetched, line_with, started, url_of
from tests.engines.slurm.private import PATIENCE, private_slurm
from windlass.control.journal import JournalReader, RowFilter
from windlass.engines.slurm.daemons import wait_until
from windlass.engines.slurm.models import Phase

pytestmark = pytest.mark.slow

CLUSTER = """
journal: journal.db
engines:
- engine: slurm
  policies: {{order: fcfs}}
  conf: {conf}
  book: book
"""


@pytest.fixture(scope="module")
def slurm():
    with private_slurm(nodes=2, cpus=2) as shell:
        yield shell


@pytest.fixture
def shell(slurm):
    slurm.clear()
    yield slurm
    slurm.clear()


class Pages:
    """The pages of a control plane."""

    def __init__(self, url):
        self.url = url

    def until(self, path, pattern):
        """Request a page until it matches, and return it."""
        found = [""]

        def matches():
            found[0] = re.sub(r"<[^>]*>", " ", fetched(f"{self.url}{path}"))
            return re.search(pattern, found[0], re.DOTALL)

        assert wait_until(lambda: bool(matches()), PATIENCE), found[0]
        return found[0]


def cluster_file(tmp_path, shell):
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER.format(conf=shell.cluster.conf))
    return str(file)


def kinds(reader, job):
    return [row.kind for row in reversed(reader.events(RowFilter(job=str(job))).rows)]


def test_a_job_is_shown_from_its_submission_to_its_end(shell, tmp_path):
    words = ("serve", cluster_file(tmp_path, shell), "--act", "--listen", "127.0.0.1:0")
    with started(*words) as process:
        pages = Pages(url_of(process))
        pages.until("/health", r"running.*order by fcfs; drives the queue")
        first = shell.submit("sleep 15", procs=4)
        second = shell.submit("sleep 2", procs=4)
        pages.until("/", rf"Waiting jobs.*{second}.*first in the queue; needs 4 cores, 0 idle")
        pages.until("/when", rf"by their predicted start.*\b{second}\b.*\d\d:\d\d:\d\d")
        pages.until("/", rf"Running jobs.*{first}.*head of the queue")
        pages.until(f"/decisions?job={first}", r"order.*fcfs.*start.*head of the queue.*started")
        # The second job starts when the first has ended, and its prediction is scored.
        pages.until("/", rf"Running jobs.*{second}.*head of the queue")
        pages.until(f"/decisions?job={second}", r"ended.*started.*submitted")
        pages.until("/machines", r"Machines up +2 of 2")
        shell("scontrol", "update", "NodeName=w2", "State=DRAIN", "Reason=test")
        pages.until("/machines", r"w2 +drained")
        shell("scontrol", "update", "NodeName=w2", "State=RESUME")
        pages.until("/machines", r"Machines up +2 of 2")
        third = shell.submit("sleep 600", procs=4)
        fourth = shell.submit("true", procs=4)
        shell.until(lambda rows: rows[third].phase is Phase.RUNS)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    assert not shell.rows()[fourth].held
    with JournalReader(tmp_path / "journal.db") as reader:
        assert kinds(reader, second) == ["submitted", "started", "ended"]
        assert reader.open_acts() == ()
        (prediction, *_) = reversed(reader.predictions.of_job("slurm", str(second)))
        assert prediction.first
        assert prediction.started is not None
        assert reader.events(RowFilter(topic="error")).rows == ()
        assert "w2: drained" in [row.text for row in reader.events(RowFilter(topic="node")).rows]
        assert [each.status.state for each in reader.engines()] == ["stopped"]


def test_without_act_nothing_on_the_cluster_is_changed(shell, tmp_path):
    job = shell.submit("true")
    before = shell.rows()[job]
    with started("serve", cluster_file(tmp_path, shell), "--listen", "127.0.0.1:0") as process:
        pages = Pages(url_of(process))
        pages.until("/", rf"{job}.*would be started now: head of the queue")
        process.terminate()
        assert process.wait(PATIENCE) == 0
    assert shell.rows()[job] == before
    assert not (tmp_path / "book").exists()


def test_a_second_control_plane_that_acts_is_refused_by_the_driver_s_lock(shell, tmp_path):
    words = ("serve", cluster_file(tmp_path, shell), "--act", "--listen", "127.0.0.1:0")
    with started(*words) as process:
        Pages(url_of(process)).until("/health", "drives the queue")
        shell.submit("sleep 60", procs=4)
        shell.until(lambda rows: any(row.phase is Phase.RUNS for row in rows.values()))
        with started(*words, "--journal", str(tmp_path / "other.db")) as second:
            line = line_with(second, "failed")
            assert "another driver" in line
            os.kill(second.pid, signal.SIGTERM)
            assert second.wait(PATIENCE) == 0
        process.terminate()
        assert process.wait(PATIENCE) == 0

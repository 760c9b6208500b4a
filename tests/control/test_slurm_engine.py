"""A Slurm under the control plane: the journal has its decisions, acts, events and state; and what a stop leaves."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from tests.control.test_web import app_of, ask
from tests.engines.slurm.fake_commands import NOBODY_THERE, node, nodes
from tests.engines.slurm.strict import Strict
from windlass.agent.stop import Stop
from windlass.control.engine import EngineStoppedError
from windlass.control.journal import ActRecord, JobKey, JournalReader, JournalWriter, RowFilter
from windlass.control.site_status import status_from_text
from windlass.control.slurm import engine as slurm_engine
from windlass.control.slurm.engine import SlurmEngine, SlurmSettings
from windlass.control.supervisor import Supervisor
from windlass.control.what_if import chosen_queue, what_if
from windlass.engines.batch import driver_lock as lock
from windlass.engines.batch.driver_lock import DriverLock
from windlass.engines.slurm import driver
from windlass.engines.slurm.entries import Releasing
from windlass.engines.slurm.journal import Journal, read_journal
from windlass.engines.slurm.system import SlurmOptions
from windlass.experiment.start_times.alternatives import Alternative
from windlass.experiment.worlds.policy import PolicySpec
from windlass.model import BatchError, InputError

FCFS = PolicySpec(name="fcfs")


@pytest.fixture(autouse=True)
def _own_locks(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "_folder", lambda: tmp_path)
    groups = SimpleNamespace(release_all=lambda: None)
    monkeypatch.setattr(driver, "detect_groups", lambda name: groups)
    monkeypatch.setattr(slurm_engine, "_AGAIN_S", 0.0)


class Bench:
    """A control plane of one engine on a strict Slurm that is stopped at a poll."""

    def __init__(self, folder):
        self.slurm, self.folder, self.lines = Strict(), folder, []

    def engine(self, *, acts=True, policy=FCFS, runner=None, **settings):
        given = SlurmSettings(
            {"order": policy}, SlurmOptions(pace=0.0), book=self.folder / "book", patience=0.0, **settings
        )
        return SlurmEngine(given, acts=acts, report=self.lines.append, runner=runner or self.slurm)

    def run(self, polls, **settings):
        """Run until this many more polls, and return the error that ends the engine."""
        stop = Stop()
        self.slurm.at[self.slurm.looks + polls] = stop.notify
        with JournalWriter(self.folder / "journal.db", view_every=0.0) as journal:
            try:
                self.engine(**settings).run(journal, stop)
            except Exception as error:
                return error
        return None

    def reader(self):
        return JournalReader(self.folder / "journal.db")

    def events(self, job):
        with self.reader() as reader:
            rows = reader.events(RowFilter(job=job)).rows
        return [(row.kind, row.time) for row in reversed(rows)]

    def decisions(self):
        with self.reader() as reader:
            rows = reader.decisions().rows
        return [(str(row.job), row.decision, row.policy, row.answer, row.reason) for row in reversed(rows)]

    def acts(self):
        with self.reader() as reader:
            return [(row.job.id, row.action, row.outcome) for row in reversed(reader.acts().rows)]

    def status(self):
        with self.reader() as reader:
            (view,) = reader.views()
        return status_from_text(view.content)


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_a_driven_queue_is_in_the_journal_with_reasons_acts_and_events(bench):
    bench.slurm.submit(7, 4, looks=3)
    bench.slurm.submit(8, 4, looks=3)
    bench.slurm.submit(9, 1, comment="")
    assert isinstance(bench.run(30), EngineStoppedError)
    why = "head of the queue"
    assert bench.decisions() == [(f"slurm:strict:{job}", "order", "fcfs", "start", why) for job in (7, 8)]
    assert bench.acts() == [("7", "release", "released"), ("8", "release", "released")]
    # The fake Slurm lists the same whole seconds for every job.
    assert bench.events("7") == [("submitted", 1000.0), ("started", 1010.0), ("ended", 1020.0)]
    assert bench.events("9") == [("submitted", 1000.0)]
    status = bench.status()
    assert (status.running, status.waiting_count, status.cores, status.idle) == ((), 1, 4, 4)
    assert status.waiting[0].why == "left to Slurm: JobHeldUser"
    with bench.reader() as reader:
        (seen,) = reader.engines()
    assert (seen.status.state, seen.status.about) == ("running", "Slurm, order by fcfs; drives the queue")


def test_a_stop_gives_the_queue_back_which_is_an_act_of_each_job(bench):
    for job in (7, 8):
        bench.slurm.submit(job, 4, looks=99)
    assert isinstance(bench.run(6), EngineStoppedError)
    assert bench.slurm.states() == {7: "RUNNING", 8: "PENDING"}
    assert bench.acts()[-1] == ("8", "give back", "released")
    assert ("returned") in [kind for kind, _ in bench.events("8")]


def test_without_act_the_engine_decides_and_changes_neither_slurm_nor_the_book(bench):
    for job in (7, 8):
        bench.slurm.submit(job, 4, looks=99)
    assert isinstance(bench.run(8, acts=False), EngineStoppedError)
    assert (bench.slurm.changes(), (bench.folder / "book").exists()) == ([], False)
    # The same answer at each change of the queue is one decision.
    assert bench.decisions() == [("slurm:strict:7", "order", "fcfs", "would start", "head of the queue")]
    assert bench.acts() == []
    waiting = bench.status().waiting
    assert [job.why for job in waiting] == [
        "would be started now: head of the queue",
        "1 job ahead; needs 4 cores, 4 idle for the jobs ahead",
    ]


def test_without_act_a_driver_may_run(bench, tmp_path):
    bench.slurm.submit(7)
    with DriverLock("slurm", "strict:here:7", tmp_path):
        assert isinstance(bench.run(4, acts=False), EngineStoppedError)
        assert isinstance(bench.run(4), InputError)


def test_running_jobs_have_the_policy_s_reason_also_after_a_restart(bench):
    bench.slurm.submit(7, 2, looks=99)
    for _ in range(2):
        assert isinstance(bench.run(8, keep_held=True), EngineStoppedError)
        assert [(job.id, job.why) for job in bench.status().running] == [("7", "head of the queue")]
    assert bench.events("7") == [("submitted", 1000.0), ("started", 1010.0)]


def test_what_happened_while_no_process_ran_is_written_by_the_next(bench):
    bench.slurm.submit(7, 2, looks=9)
    bench.slurm.submit(8, 4, looks=1)
    assert isinstance(bench.run(5, keep_held=True), EngineStoppedError)
    for _ in range(9):
        bench.slurm.step()
    assert isinstance(bench.run(9), EngineStoppedError)
    assert bench.events("7") == [("submitted", 1000.0), ("started", 1010.0), ("ended", 1020.0)]
    assert [kind for kind, _ in bench.events("8")] == ["submitted", "started", "ended"]


@pytest.mark.parametrize("released", [False, True])
def test_an_act_without_an_outcome_is_compared_with_slurm_after_a_restart(bench, released):
    bench.slurm.submit(7, 9)
    if released:
        bench.slurm.change("release", 7)
    entry = Releasing(5.0, 7, 1000.0, 0)
    with Journal(bench.folder / "book") as book:
        book.append(entry)
    with JournalWriter(bench.folder / "journal.db") as journal:
        assert journal.intend(
            ActRecord("slurm:strict:7 release", 5.0, JobKey("slurm", "strict", "7"), "release")
        )
        assert journal.intend(
            ActRecord("slurm:strict:6 release", 5.0, JobKey("slurm", "strict", "6"), "release")
        )
        assert journal.intend(ActRecord("other", 5.0, JobKey("other", "strict", "6"), "release"))
    assert isinstance(bench.run(3, keep_held=True), EngineStoppedError)
    found = "carried out" if released else "not carried out"
    assert bench.acts()[:3] == [
        ("7", "release", f"{found}, as found after a restart"),
        ("6", "release", "unknown: the process ended, and Slurm no longer lists the job"),
        ("6", "release", None),
    ]


def test_a_job_that_slurm_refuses_to_release_has_an_act_with_its_message(bench):
    bench.slurm.submit(7, 1, looks=5)
    calls = []

    def run(command, timeout):
        if command[:2] == ("scontrol", "release") and not calls:
            calls.append(command)
            return 1, "", "Access/permission denied for job 7"
        return bench.slurm(command, timeout)

    assert isinstance(bench.run(3, runner=run, keep_held=True), EngineStoppedError)
    assert bench.acts()[0] == ("7", "release", "refused: Access/permission denied for job 7")


def test_a_drained_node_is_an_event_and_is_shown(bench):
    bench.slurm.submit(7, 1, looks=99)
    drained = []

    def run(command, timeout):
        if command[0] == "sinfo" and drained:
            return 0, nodes(node("w1", cpus=4), node("w2", "idle", ["DRAIN"], cpus=4)), ""
        if command[0] == "sinfo":
            return 0, nodes(node("w1", cpus=4), node("w2", cpus=4)), ""
        return bench.slurm(command, timeout)

    bench.slurm.at[4] = lambda: drained.append(True)
    assert isinstance(bench.run(8, runner=run), EngineStoppedError)
    with bench.reader() as reader:
        rows = reader.events(RowFilter(topic="node")).rows
    assert [row.text for row in rows] == ["w2: drained"]
    status = bench.status()
    assert [(machine.name, machine.state) for machine in status.machines] == [("w1", "up"), ("w2", "drained")]
    assert (status.cores, status.idle) == (4, 3)


def test_the_pages_show_a_live_slurm(bench):
    for job, procs in ((7, 3), (8, 4)):
        bench.slurm.submit(job, procs, looks=99, name="<b>")
    bench.slurm.submit(9, 1, comment="")
    assert isinstance(bench.run(6, keep_held=True), EngineStoppedError)
    with bench.reader() as reader:
        app = app_of(reader)
        pages = {path: ask(app, path) for path in ("/", "/when", "/decisions?job=7", "/machines", "/health")}
    texts = {path: re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.text)) for path, page in pages.items()}
    assert {page.status for page in pages.values()} == {200}
    assert re.search(r"8 strict batch job .* first in the queue; needs 4 cores, 1 idle", texts["/"])
    assert re.search(r"9 strict Slurm.{1,9}s own job .* left to Slurm: JobHeldUser", texts["/"])
    assert re.search(r"7 strict batch job .* head of the queue", texts["/"])
    assert re.search(r"order fcfs start head of the queue", texts["/decisions?job=7"])
    assert "user ann, &lt;b&gt;: requests 3 cores for 2 min" in texts["/decisions?job=7"]
    assert re.search(r"w1 up 3 of 4 3 of 4", texts["/machines"])
    assert "Slurm, order by fcfs; drives the queue" in texts["/health"]


def test_what_if_replays_the_queue_of_a_live_slurm(bench):
    for job, procs in ((7, 3), (8, 4), (9, 1)):
        bench.slurm.submit(job, procs, looks=99)
    bench.slurm.submit(10, 1, comment="")
    assert isinstance(bench.run(6, keep_held=True), EngineStoppedError)
    with bench.reader() as reader:
        queue = chosen_queue(reader)
        page = ask(app_of(reader), "/what-if?policy=easy&procs=8")
    assert (queue.engine, queue.site, queue.processors, queue.policy) == ("slurm", "strict", 4, FCFS)
    # The job that Windlass may not release is not in the queue.
    found = what_if(queue, [Alternative(queue.policy, 8)], draws=2)
    assert (found.jobs, found.running) == (("8", "9"), 1)
    assert page.status == 200
    assert re.search(r"With easy, 8 processors, the 2 jobs that wait at strict", page.text)


RAISES = """
from windlass.order.site.view import Start

class Raises:
    name = "raises"
    def decide(self, view):
        if 8 in view.waiting.job:
            raise ValueError("no more")
        return Start(tuple(view.waiting.job.tolist()), "first come")
"""


def test_a_policy_that_raises_stops_its_engine_alone_and_its_queue_is_given_back(bench):
    (bench.folder / "raises.py").write_text(RAISES)
    bench.slurm.submit(7, 1, looks=99)
    bench.slurm.at[3] = lambda: (bench.slurm.submit(8, 1), bench.slurm.submit(9, 1))
    stop = Stop()

    class Other:
        name, about, scope, now, ended = "other", "another engine", "other", 0.0, False

        def run(self, journal, stop):
            stop.wait(60.0)
            raise EngineStoppedError("stopped on request")

    with JournalWriter(bench.folder / "journal.db") as journal:
        failing = bench.engine(policy=PolicySpec(name=str(bench.folder / "raises.py")))
        supervisor = Supervisor([failing, Other()], journal, stop, bench.lines.append)
        supervisor.start()
        supervisor.threads["slurm"].join(60.0)
        assert supervisor.threads["other"].is_alive()
        stop.notify()
        supervisor.join()
    assert str(supervisor.failures["slurm"]) == "no more"
    assert (supervisor.late, list(supervisor.failures)) == ({}, ["slurm"])
    assert "held" not in bench.slurm.states().values()
    with bench.reader() as reader:
        states = {each.status.engine: each.status for each in reader.engines()}
    assert (states["slurm"].state, states["other"].state) == ("failed", "stopped")
    assert "no more" in states["slurm"].error


def test_an_unreachable_slurm_is_shown_and_is_driven_again_once_it_answers(bench):
    bench.slurm.submit(7, 1, looks=1)
    away = []

    def run(command, timeout):
        if command[0] == "squeue" and away:
            away.pop()
            return 0, NOBODY_THERE, ""
        return bench.slurm(command, timeout)

    # Without patience, the first poll without an answer ends the driver, whose give-back finds Slurm again.
    bench.slurm.at[2] = lambda: away.append(True)
    assert isinstance(bench.run(12, runner=run), EngineStoppedError)
    with bench.reader() as reader:
        errors = [row.text for row in reader.events(RowFilter(topic="error")).rows]
        (status,) = [each.status for each in reader.engines()]
    assert any("tried again in" in text for text in errors)
    assert status.state == "running"
    assert bench.events("7")[-1][0] == "ended"
    assert len([line for line in bench.lines if "start 7" in line]) == 1


def test_jobs_that_stay_held_at_the_end_are_a_failure(bench):
    bench.slurm.submit(7, 9)
    bench.slurm.submit(8, 4, looks=99)
    bench.slurm.submit(9, 4)

    def run(command, timeout):
        if command[:2] == ("scontrol", "release") and "9" in command[2].split(","):
            return 1, "", "Access/permission denied for job 9"
        return bench.slurm(command, timeout)

    error = bench.run(6, runner=run)
    assert isinstance(error, BatchError)
    assert "give-back" in str(error)


def test_the_book_remains_the_authority(bench):
    bench.slurm.submit(7, 1, looks=99)
    assert isinstance(bench.run(6), EngineStoppedError)
    kinds = [type(each).__name__ for each in read_journal(bench.folder / "book")]
    assert kinds[:4] == ["Decided", "Releasing", "Released", "Began"]

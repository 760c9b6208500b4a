"""What-if from a journal: the queue of a view, the page, and the demonstration."""

from __future__ import annotations

import asyncio
import re

import pytest

from tests.control.test_web import EVIL, Elements, app_of, ask, call
from windlass.control.journal import EngineStatus, JournalReader, JournalWriter, ViewRecord, is_journal
from windlass.control.site_status import (
    JobState,
    MachineState,
    PastJob,
    QueueStatus,
    SiteStatus,
    status_from_text,
    status_text,
)
from windlass.control.what_if import chosen_queue, site_queues, what_if
from windlass.experiment.start_times.alternatives import Alternative
from windlass.experiment.worlds.policy import PolicySpec
from windlass.model import InputError, JobTable
from windlass.order.site.policies.easy import Easy
from windlass.report.units import duration
from windlass.sim.site.replay import replay

SJF = PolicySpec(name="sjf")


def job(name: str, since: float, cores: int, request: float) -> JobState:
    return JobState(name, "batch job", since, cores, "why", request)


def status(**more) -> SiteStatus:
    """Return a site of 8 cores: jobs of 4 run until 100 and 200, and two wait; past jobs used their whole requests."""
    given = {
        "running": (job("r/1", 0.0, 4, 100.0), job("r/2", 0.0, 4, 200.0)),
        "waiting": (job("w/1", 10.0, 8, 50.0), job("w/2", 20.0, 4, 90.0), job("w/3", 30.0, 1, 20.0)),
        "running_count": 2,
        "waiting_count": 3,
        "cores": 8,
        "machines": (MachineState("node-0", "up", 4, 0), MachineState("node-1", "up", 4, 0)),
        "queue": QueueStatus("easy", {}, 0, tuple(PastJob(0.0, 0.0, 10.0, 1, 10.0) for _ in range(9))),
    } | more
    return SiteStatus(**given)


def journal_of(path, *states: tuple[str, SiteStatus]):
    with JournalWriter(path) as journal:
        for site, state in states:
            journal.append(ViewRecord(50.0, "demo", site, status_text(state)))
        journal.append(EngineStatus("demo", "running", 50.0))
    return path


@pytest.fixture
def path(tmp_path):
    return journal_of(tmp_path / "journal.db", ("iowa", status()))


def test_with_known_run_times_it_is_the_replay_of_the_true_schedule(path):
    with JournalReader(path) as reader:
        queue = chosen_queue(reader)
    assert (queue.processors, queue.policy.name, queue.now) == (8, "easy", 50.0)
    found = what_if(queue, [Alternative(SJF, 8)], draws=3)
    jobs = JobTable.of([0, 0, 10, 20, 30], [100, 200, 50, 90, 20], [4, 4, 8, 4, 1])
    assert found.jobs == ("w/1", "w/2", "w/3")
    for column in found.present.starts.T:
        assert column == pytest.approx(replay(jobs, 8, Easy()).start[2:])
    # The short job goes first at 100 s under sjf; so does the next one that is shorter than the wide one's wait.
    assert found.others[0].starts[2, 0] == 100.0


def test_jobs_of_earlier_days_do_not_arrive_again(tmp_path):
    # The journal has some jobs of these days, and not all of them.
    days = [60.0 - 86_400 * day for day in (1, 2, 3)]
    past = tuple(PastJob(at, at, at + 10.0, 8, 10.0) for at in days)
    slow = journal_of(tmp_path / "slow.db", ("iowa", status(queue=QueueStatus("easy", {}, 0, past))))
    with JournalReader(slow) as reader:
        found = what_if(chosen_queue(reader), [Alternative(SJF, 8)], draws=3)
    # A job of 10 s and all cores would go first under sjf.
    assert found.others[0].starts[2].tolist() == [100.0] * 3
    assert not found.arrivals


def test_a_view_of_the_version_before_has_no_queue(path):
    old = '{"running":[],"waiting":[],"running_count":0,"waiting_count":0}'
    assert status_from_text(old).queue is None
    with JournalReader(path) as reader:
        assert len(site_queues(reader)) == 1
        assert site_queues(reader, site="osaka") == []
        with pytest.raises(InputError, match=r"no queue of this engine and site, expected one of demo:iowa"):
            chosen_queue(reader, site="osaka")


def test_a_damaged_view_is_an_error_of_the_journal_that_names_the_field():
    content = '{"running": [], "waiting": [], "running_count": 0, "waiting_count": 0, "queue": {"policy": 7}}'
    with pytest.raises(InputError) as caught:
        status_from_text(content)
    assert str(caught.value) == (
        "journal: a view is not the state of a site: queue.policy: expected a text, found 7"
    )


def test_two_queues_need_a_name(tmp_path):
    two = journal_of(tmp_path / "two.db", ("iowa", status()), ("osaka", status()))
    with JournalReader(two) as reader:
        with pytest.raises(
            InputError, match=r"2 queues \(demo:iowa, demo:osaka\), expected an engine and a site"
        ):
            chosen_queue(reader)
        assert chosen_queue(reader, "demo", "osaka").site == "osaka"


def test_machines_are_removed_by_name(path):
    with JournalReader(path) as reader:
        queue = chosen_queue(reader)
    assert queue.without(["node-0"]) == 4
    assert queue.without(["node-0", "node-0"]) == 4
    with pytest.raises(InputError, match="site iowa has no machine 'node-9', expected one of node-0, node-1"):
        queue.without(["node-9"])
    with pytest.raises(InputError, match="no processor is left"):
        queue.without(["node-0", "node-1"])


def test_a_machine_that_is_down_has_no_cores_to_remove(tmp_path):
    machines = (MachineState("node-0", "up", 4, 0), MachineState("node-1", "down", 4, 0))
    half = journal_of(tmp_path / "half.db", ("iowa", status(machines=machines)))
    with JournalReader(half) as reader:
        assert chosen_queue(reader).without(["node-1", "node-0"]) == 4


def test_jobs_without_a_request_are_not_replayed(tmp_path):
    other = JobState("v/1", "vector job", 5.0, 2, "why")
    one = journal_of(tmp_path / "one.db", ("iowa", status(waiting=(other, job("w/1", 10.0, 8, 50.0)))))
    with JournalReader(one) as reader:
        assert what_if(chosen_queue(reader), [], draws=1).jobs == ("w/1",)


def test_a_job_that_started_at_the_instant_of_the_view_runs(tmp_path):
    one = journal_of(tmp_path / "one.db", ("iowa", status(running=(job("r/1", 50.0, 8, 100.0),))))
    with JournalReader(one) as reader:
        found = what_if(chosen_queue(reader), [], draws=1)
    assert (found.jobs, found.running) == (("w/1", "w/2", "w/3"), 1)


def test_a_site_without_a_core_or_a_job_has_no_queue(tmp_path):
    empty = status(running=(), waiting=(), queue=QueueStatus("easy", {}, 8))
    gone = status(running=(), queue=QueueStatus("easy", {}, 0))
    three = journal_of(tmp_path / "three.db", ("a", empty), ("b", gone), ("c", status(queue=None)))
    with JournalReader(three) as reader:
        assert site_queues(reader) == []
        with pytest.raises(InputError, match="no queue with jobs that can be replayed"):
            chosen_queue(reader)
        answer = ask(app_of(reader), "/what-if")
    assert answer.status == 200
    assert "No engine reports a queue of batch jobs in which jobs run or wait." in answer.text


# The page.


def test_the_page_without_a_question_replays_nothing(path, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("replayed")

    monkeypatch.setattr("windlass.control.web.pages.what_if.what_if", refuse)
    with JournalReader(path) as reader:
        answer = ask(app_of(reader), "/what-if")
    page = Elements(answer.text)
    assert {each["name"] for each in page.of("select")} == {"engine", "site", "policy"}
    assert page.of("form") == [{"method": "get", "action": "/what-if", "aria-label": "What-if"}]
    assert page.of("body") == [{"data-live": "no"}]


def test_the_page_answers_as_the_library_does(path):
    with JournalReader(path) as reader:
        answer = ask(app_of(reader), "/what-if?engine=demo&site=iowa&policy=sjf&procs=12")
        found = what_if(chosen_queue(reader), [Alternative(SJF, 12)], draws=12)
    assert answer.status == 200
    assert "With sjf, 12 processors, the 3 jobs that wait at iowa" in answer.text
    rows = re.findall(
        r'<td data-name="Job"[^>]*>(.*?)</td><td data-name="At present"[^>]*>(.*?)<', answer.text
    )
    waits = found.present.starts.mean(axis=1) - found.at
    assert rows == [(job, duration(round(wait))) for job, wait in zip(found.jobs, waits, strict=True)]


def test_the_answer_has_one_rounding_in_its_sentences_and_its_table(path):
    with JournalReader(path) as reader:
        text = ask(app_of(reader), "/what-if?policy=sjf").text
        found = what_if(chosen_queue(reader), [Alternative(SJF, 8)], draws=12)
    mean = duration(round(found.wait(found.present).mean))
    assert f"they wait another {mean} on average" in text
    assert f'data-name="Wait" class="short">{mean} (' in text
    assert text.count('<p class="answer">') == 1


def test_jobs_that_never_start_with_the_alternative_have_no_mean(tmp_path):
    wide = journal_of(tmp_path / "wide.db", ("iowa", status(waiting=(job("w/1", 10.0, 8, 50.0),))))
    with JournalReader(wide) as reader:
        answer = ask(app_of(reader), "/what-if?procs=4")
    assert answer.status == 200
    assert re.search(
        r'data-name="Wait"[^>]*>–<.*data-name="Change"[^>]*>–<.*data-name="Never"[^>]*>1<', answer.text
    )
    assert ">never</td>" in answer.text


def test_machines_of_the_chosen_site_are_proposed(path):
    with JournalReader(path) as reader:
        text = ask(app_of(reader), "/what-if").text
    assert '<datalist id="machines"><option>node-0</option><option>node-1</option></datalist>' in text
    assert Elements(text).of("input")[-1]["list"] == "machines"


@pytest.mark.parametrize(
    ("query", "status", "why"),
    [
        ("policy=none", 400, "unknown policy, expected one of"),
        ("policy=/tmp/evil.py", 400, "unknown policy"),
        ("procs=0", 400, "processors is not a whole number from 1"),
        ("procs=99999999999", 400, "processors is not a whole number"),
        ("procs=4&without=node-0", 400, "both processors and a machine are given"),
        ("without=node-9", 400, "no machine"),
        ("engine=other&policy=sjf", 404, "no queue of other can be replayed, expected one of demo iowa"),
        ("site=osaka", 404, "no queue of osaka can be replayed, expected one of demo iowa"),
        ("draws=9", 400, "unknown parameter"),
    ],
)
def test_a_bad_question_is_refused(path, query, status, why):
    with JournalReader(path) as reader:
        answer = ask(app_of(reader), f"/what-if?{query}")
    assert answer.status == status
    if why == "unknown parameter":
        # Refused before the page is known.
        assert answer.text.startswith(why)
    else:
        (alert,) = re.findall(r'<p class="error" role="alert">(.*?)</p>', answer.text)
        assert why in alert.replace("&#x27;", "'").lower()
        assert Elements(answer.text).of("nav") == [{"aria-label": "Pages"}]


def test_a_refused_query_has_the_page_around_it_and_escapes_the_reason(path):
    with JournalReader(path) as reader:
        answer = ask(app_of(reader), "/what-if?site=%3Cimg%3E")
    page = Elements(answer.text)
    assert (answer.status, page.of("img")) == (404, [])
    assert [each["href"] for each in page.of("a") if each.get("aria-current") == "page"] == ["/what-if"]
    assert page.of("p")[0] == {"class": "error", "role": "alert"}


def test_one_question_is_answered_at_a_time(path, monkeypatch):
    with JournalReader(path) as reader:
        app = app_of(reader)
        begun: list[int] = []

        async def both():
            import threading

            release = threading.Event()

            def slow(*_, **__):
                begun.append(1)
                release.wait(20)
                raise InputError("released")

            monkeypatch.setattr("windlass.control.web.pages.what_if.what_if", slow)
            first = asyncio.ensure_future(call(app, "/what-if?policy=sjf"))
            while not begun:
                await asyncio.sleep(0)
            second = await call(app, "/what-if?policy=fcfs")
            # Other pages are answered meanwhile.
            other = await call(app, "/")
            release.set()
            return (await first).status, second, other.status

        first, second, other = asyncio.run(both())
        assert (first, second.status, other) == (400, 429, 200)
        assert "Another replay is under way" in second.text


def test_text_of_the_journal_is_escaped(tmp_path):
    state = status(waiting=(job(EVIL, 10.0, 8, 50.0),), machines=(MachineState(EVIL, "up", 4, 0),))
    evil = journal_of(tmp_path / "evil.db", (EVIL, state))
    with JournalReader(evil) as reader:
        answer = ask(app_of(reader), "/what-if?policy=sjf")
    assert answer.status == 200
    page = Elements(answer.text)
    assert page.of("img") == []
    assert page.of("script") == [{"src": "/static/live.js", "defer": None}]


def test_a_file_is_known_as_a_journal(path, tmp_path):
    assert is_journal(path)
    (tmp_path / "log.swf").write_text("1 0 0 5 1\n")
    assert not is_journal(tmp_path / "log.swf")
    assert not is_journal(tmp_path)

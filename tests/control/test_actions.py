"""Actions of people: dry run, intent, outcome, undo and refusals; by the socket of a command, and by the pages."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import stat
import threading
from urllib.parse import urlencode

import pytest

from tests.control.journals import ticking
from tests.control.test_web import EVIL, Answer, Elements, app_of, call
from windlass.agent.stop import Stop
from windlass.control import action_service
from windlass.control.action_service import ActionService
from windlass.control.actions import channel as action_channel
from windlass.control.actions.channel import ActionChannel, dry_run_then, send_request
from windlass.control.actions.kinds import KINDS
from windlass.control.actions.messages import ActionReply, ActionRequest, RequestKind
from windlass.control.actions.tokens import read_actors
from windlass.control.engine import EngineStoppedError
from windlass.control.journal import (
    ActionRecord,
    EngineStatus,
    JobKey,
    JournalReader,
    JournalWriter,
    Retention,
)
from windlass.control.left_actions import LeftActions
from windlass.control.supervisor import Supervisor
from windlass.control.web.access import PageAccess
from windlass.control.web.app import PagesApp
from windlass.engines.slurm.daemons import wait_until
from windlass.model import BatchError, InputError

SECRET = "0123456789abcdef-ann"
PREVIEW = RequestKind.PREVIEW


class Jobs:
    """A queue of an engine, in which jobs wait or are held."""

    actions = ("hold", "unhold", "release")

    def __init__(self, **states):
        self.states, self.commands, self.away = states, [], False

    def preview(self, action, job):
        state = self.states.get(job)
        if state is None:
            raise InputError(f"job {job}: no such job")
        if state == {"hold": "held", "unhold": "waiting", "release": "released"}[action]:
            raise InputError(f"job {job}: is {state} already")
        return f"{action} {job}"

    def carry_out(self, action, job):
        self.commands.append((action, job))
        if self.away:
            raise BatchError("Slurm does not answer")
        self.states[job] = {"hold": "held", "unhold": "waiting", "release": "released"}[action]
        return self.states[job]

    def found(self, action, job):
        if self.away:
            raise BatchError("Slurm does not answer")
        done = self.states[job] == {"hold": "held", "unhold": "waiting", "release": "released"}[action]
        return f"{'carried out' if done else 'failed: not carried out'}, as found after a restart"


class Engine:
    """An engine that runs until it is stopped, and counts its runs."""

    about, scope, now = "an engine of a test", "test", 5.0

    def __init__(self, name="slurm", jobs=None, error=None):
        self.name, self.jobs, self.error = name, jobs, error
        self.runs, self.given_back, self.started = 0, 0, threading.Semaphore(0)

    def prepare(self, compiling=None):
        pass

    def run(self, journal, stop):
        self.runs += 1
        self.started.release()
        stop.wait(60.0)
        self.given_back += 1
        raise self.error or EngineStoppedError("stopped on request")


class Bench:
    """A control plane of fake engines without processes."""

    def __init__(self, folder, *engines):
        self.file, self.stop, self.now = folder / "journal.db", Stop(), 0.0
        self.tokens = folder / "tokens"
        self.tokens.write_text(f"# operators\nann {SECRET}\nbob {SECRET}-bob\n")
        self.tokens.chmod(0o600)
        self.engines = engines or (Engine(jobs=Jobs(a="waiting")),)
        self.open()

    def open(self):
        self.journal = JournalWriter(self.file, clock=ticking())
        self.journal.flush()
        with JournalReader(self.file) as reader:
            paused = {each.name for each in self.engines if reader.actions.paused(each.name)}
        self.supervisor = Supervisor(self.engines, self.journal, self.stop, lambda line: None, paused)
        self.service = ActionService(self.supervisor, self.journal, self.tokens, lambda: self.now)
        self.supervisor.start()

    def close(self):
        self.stop.notify()
        self.supervisor.join()
        self.journal.close()

    def restart(self):
        self.close()
        self.stop = Stop()
        self.open()

    def preview(self, action="", engine="slurm", job="", reason="new nodes", **more):
        request = ActionRequest(PREVIEW, action, engine, job, reason, **more)
        return self.service.answer(request, "user ann")

    def act(self, *words, **more):
        ticket = self.preview(*words, **more).ticket
        return self.carry_out(ticket)

    def carry_out(self, ticket):
        return self.service.answer(ActionRequest(RequestKind.CARRY_OUT, ticket=ticket), "user ann")

    def rows(self):
        with JournalReader(self.file) as reader:
            return list(reversed(reader.actions.latest()))

    def states(self):
        self.journal.flush()
        with JournalReader(self.file) as reader:
            return {each.status.engine: each.status.state for each in reader.engines()}


@pytest.fixture
def bench(tmp_path):
    found = Bench(tmp_path)
    yield found
    found.close()


def test_a_pause_gives_back_and_lasts_until_it_is_resumed_also_after_a_restart(bench):
    (engine,) = bench.engines
    engine.started.acquire(timeout=20.0)
    assert bench.preview("pause").text.startswith("engine slurm stops deciding and gives back")
    assert (engine.given_back, bench.rows()) == (0, [])
    assert bench.act("pause").text == "paused"
    assert (engine.given_back, bench.states()) == (1, {"slurm": "paused"})
    bench.restart()
    assert (engine.runs, bench.states()) == (1, {"slurm": "paused"})
    with pytest.raises(InputError, match="paused already"):
        bench.preview("pause")
    assert bench.act("resume").text == "started"
    assert engine.started.acquire(timeout=20.0)
    bench.restart()
    assert engine.started.acquire(timeout=20.0)
    first, second = bench.rows()
    assert (first.action, first.by, first.reason, first.outcome) == (
        "pause",
        "user ann",
        "new nodes",
        "paused",
    )
    assert (second.action, second.outcome, second.job) == ("resume", "started", JobKey("slurm"))


def test_a_failed_engine_can_be_resumed(tmp_path):
    engine = Engine(error=BatchError("jobs may still be held"))
    bench = Bench(tmp_path, engine)
    assert bench.act("pause").text == "paused, with an error: jobs may still be held"
    engine.error = None
    assert bench.act("resume").text == "started"
    assert bench.supervisor.failures == {}
    bench.close()


def test_a_reload_leaves_a_paused_engine_paused_and_hands_nothing_over(bench):
    bench.act("pause")
    other = Engine()
    bench.supervisor.replace([other])
    assert (other.runs, bench.states()) == (0, {"slurm": "paused"})


def test_an_action_is_undone_once(bench):
    jobs = bench.engines[0].jobs
    number = bench.act("hold", "slurm", "a").number
    assert bench.act(undoes=number).text == "waiting"
    assert jobs.commands == [("hold", "a"), ("unhold", "a")]
    held, undone = bench.rows()
    assert (held.undone, undone.undoes, undone.undone) == (True, number, False)
    for wrong, why in ((number, "undone already"), (99, "no action 99"), (-1, "no action")):
        with pytest.raises(InputError, match=why):
            bench.preview(undoes=wrong)
    # The undo is an action, too.
    assert bench.act(undoes=undone.number).text == "held"


def test_an_action_is_undone_once_also_by_two_dry_runs(bench):
    jobs = bench.engines[0].jobs
    number = bench.act("hold", "slurm", "a").number
    tickets = [bench.preview(undoes=number).ticket for _ in range(2)]
    assert bench.carry_out(tickets[0]).text == "waiting"
    # Another hold, which is not the one that the second dry run is about.
    bench.act("hold", "slurm", "a")
    with pytest.raises(InputError, match="undone already"):
        bench.carry_out(tickets[1])
    assert (jobs.states["a"], len(bench.rows())) == ("held", 3)


def test_every_action_is_undone_by_one_of_the_same_kind():
    for kind in KINDS.values():
        assert KINDS[kind.undo].of_job == kind.of_job


def test_a_repeated_request_is_carried_out_once(bench):
    ticket = bench.preview("hold", "slurm", "a").ticket
    first, again = bench.carry_out(ticket), bench.carry_out(ticket)
    assert (first, bench.engines[0].jobs.commands) == (again, [("hold", "a")])
    assert first.number == 1


def test_a_dry_run_that_is_too_old_or_no_longer_holds_changes_nothing(bench):
    jobs = bench.engines[0].jobs
    old, late = bench.preview("hold", "slurm", "a").ticket, bench.preview("release", "slurm", "a").ticket
    bench.now = 301.0
    with pytest.raises(InputError, match="older than five minutes"):
        bench.carry_out(old)
    bench.now = 0.0
    jobs.states["a"] = "released"
    with pytest.raises(InputError, match="released already"):
        bench.carry_out(late)
    assert (jobs.commands, bench.rows()) == ([], [])


def test_the_number_of_dry_runs_is_limited_until_they_are_too_old(bench, monkeypatch):
    monkeypatch.setattr(action_service, "_MOST", 2)
    for _ in range(2):
        bench.preview("hold", "slurm", "a")
    with pytest.raises(InputError, match="too many dry runs"):
        bench.preview("hold", "slurm", "a")
    bench.now = 301.0
    assert bench.act("hold", "slurm", "a").text == "held"


def test_a_failure_is_an_outcome_and_cannot_be_undone(bench):
    bench.engines[0].jobs.away = True
    ticket = bench.preview("hold", "slurm", "a").ticket
    reply = bench.carry_out(ticket)
    assert "failed: Slurm does not answer" in reply.error
    assert bench.carry_out(ticket) == reply
    assert bench.rows()[0].outcome == "failed: Slurm does not answer"
    with pytest.raises(InputError, match="changed nothing"):
        bench.preview(undoes=reply.number)


def left_open(bench, *actions):
    for number, (action, engine, job) in enumerate(actions):
        key = JobKey(engine, "", job)
        bench.journal.intend_action(ActionRecord(f"k{number}", 1.0, key, action, "ann", "why"))
    return [each.outcome for each in bench.rows()]


def test_actions_that_a_killed_process_left_are_looked_up(bench):
    bench.engines[0].jobs.states["b"] = "held"
    actions = (("pause", "slurm", ""), ("hold", "slurm", "a"), ("hold", "slurm", "b"), ("hold", "old", "c"))
    assert left_open(bench, *actions) == [None] * 4
    left = bench.service.left()
    left.try_once()
    assert left.open == []
    found = [each.outcome for each in bench.rows()]
    assert found[:3] == [
        "carried out, as found after a restart",
        "failed: not carried out, as found after a restart",
        "carried out, as found after a restart",
    ]
    # The engine of the last one is no longer in the file.
    assert found[3] == "unknown: the process ended; see the state of the job"
    with pytest.raises(InputError, match="changed nothing"):
        bench.preview(undoes=2)


def test_an_action_is_looked_up_again_until_its_engine_answers(bench):
    jobs = bench.engines[0].jobs
    jobs.away, asked = True, threading.Semaphore(0)
    found = jobs.found

    def counted(action, job):
        asked.release()
        return found(action, job)

    jobs.found = counted
    left_open(bench, ("release", "slurm", "a"))
    left = LeftActions(bench.journal, lambda engine: jobs, threading.Lock(), again=0.001)
    with left:
        assert asked.acquire(timeout=60.0)
        assert asked.acquire(timeout=60.0)
        assert bench.rows()[0].outcome is None
        jobs.states["a"], jobs.away = "released", False
        assert wait_until(lambda: not left.open, 60.0)
    assert bench.rows()[0].outcome == "carried out, as found after a restart"


def test_an_end_stops_the_search_for_outcomes(bench):
    bench.engines[0].jobs.away = True
    left_open(bench, ("hold", "slurm", "a"))
    with bench.service.left():
        pass
    assert bench.rows()[0].outcome is None


def test_an_engine_that_failed_is_paused_and_resumed(tmp_path):
    engine = Engine(error=BatchError("Slurm refuses job 7"))
    bench = Bench(tmp_path, engine)
    try:
        bench.supervisor._stops["slurm"].notify()
        bench.supervisor.threads["slurm"].join()
        (offer,) = bench.service.answer(ActionRequest(RequestKind.OFFERS), "user ann").offers
        assert offer.actions == ("resume", "pause")
        assert "has failed and decides nothing (Slurm refuses job 7)" in bench.preview("pause").text
        assert bench.act("pause").text == "paused; the engine had failed: Slurm refuses job 7"
        with JournalReader(bench.file) as reader:
            assert reader.actions.paused("slurm")
            (seen,) = reader.engines()
        assert seen.status.state == "paused"
        with pytest.raises(InputError, match="paused already"):
            bench.preview("pause")
        # The pause lasts, also after a restart.
        bench.restart()
        assert not bench.supervisor.runs("slurm")
        assert bench.act("resume").text == "started"
        assert all(engine.started.acquire(timeout=20.0) for _ in range(2))
        assert (engine.runs, bench.supervisor.failures) == (2, {})
    finally:
        bench.close()


def test_a_resume_names_the_failure(tmp_path):
    bench = Bench(tmp_path, Engine(error=BatchError("Slurm refuses job 7")))
    try:
        bench.supervisor._stops["slurm"].notify()
        bench.supervisor.threads["slurm"].join()
        assert "which has failed (Slurm refuses job 7), is started" in bench.preview("resume").text
    finally:
        bench.close()


@pytest.mark.matrix(0)
def test_a_process_that_accepts_no_request_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(action_channel, "_CONNECT", 1)
    file = tmp_path / "journal.db"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as full, contextlib.ExitStack() as peers:
        full.bind(f"{file}.sock")
        full.listen(0)
        # The queue of connections has room for one.
        peer = peers.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        peer.connect(f"{file}.sock")
        with pytest.raises(InputError, match="did not accept the request within 1 s, so nothing was changed"):
            send_request(file, ActionRequest(RequestKind.OFFERS))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("dance",), "no action 'dance'"),
        (("pause", "ray"), "no engine 'ray'"),
        (("pause", "slurm", "a"), "an engine and no job"),
        (("hold", "slurm", ""), "concerns a job"),
        (("hold", "slurm", "b"), "no such job"),
        (("pause", "slurm", "", "  \n"), "a reason is needed"),
        (("pause", "slurm", "", "x" * 501), "a reason is needed"),
    ],
)
def test_a_request_that_cannot_be_carried_out_is_refused(bench, words, why):
    with pytest.raises(InputError, match=why):
        bench.preview(*words)
    assert bench.rows() == []


def test_only_a_named_token_acts_from_a_page(bench):
    assert bench.act("hold", "slurm", "a", token=f"{SECRET}-bob").text == "held"
    assert bench.rows()[0].by == "bob"
    for wrong in ("", "x", SECRET[:-1], "ann"):
        with pytest.raises(InputError, match="missing or wrong"):
            bench.preview("unhold", "slurm", "a", token=wrong)
    # A token that is removed from the file acts no longer, nor do its dry runs.
    shown = bench.preview("unhold", "slurm", "a", token=f"{SECRET}-bob").ticket
    bench.tokens.write_text(f"ann {SECRET}\n")
    with pytest.raises(InputError, match="missing or wrong"):
        bench.preview("unhold", "slurm", "a", token=f"{SECRET}-bob")
    with pytest.raises(InputError, match="missing or wrong"):
        bench.carry_out(shown)
    assert len(bench.rows()) == 1


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        (f"ann {SECRET}", 0o640, "open to other users"),
        (f"ann {SECRET}", 0o604, "open to other users"),
        ("ann", 0o600, "line 1: expected a name and a token"),
        ("\nann short", 0o600, "line 2: token has 5 characters"),
        (f"ann {SECRET}\nann {SECRET}x", 0o600, "given twice"),
        ("# nothing\n", 0o600, "no token"),
    ],
)
def test_a_wrong_file_of_tokens_is_refused(tmp_path, text, mode, why):
    file = tmp_path / "tokens"
    file.write_text(text)
    file.chmod(mode)
    with pytest.raises(InputError, match=why) as error:
        read_actors(file)
    assert "short" not in str(error.value)


# The socket of commands.


@pytest.fixture
def channel(bench):
    with ActionChannel(bench.file, bench.service.answer):
        yield bench


def test_a_command_prints_the_dry_run_and_the_outcome(channel):
    request = ActionRequest(PREVIEW, "hold", "slurm", "a", "a question of its user")
    assert dry_run_then(channel.file, request, carries_out=False) == ["hold a.", "Nothing was changed."]
    assert channel.rows() == []
    assert dry_run_then(channel.file, request, carries_out=True) == ["hold a.", "action 1: held"]
    (row,) = channel.rows()
    assert row.by.startswith("user ")
    offers = send_request(channel.file, ActionRequest(RequestKind.OFFERS)).offers
    assert [(each.engine, each.paused) for each in offers] == [("slurm", False)]


def test_the_socket_is_its_owners_alone_and_replaces_one_that_was_left(bench):
    left = bench.file.with_name("journal.db.sock")
    left.touch()
    with ActionChannel(bench.file, bench.service.answer):
        mode = left.stat().st_mode
        assert (stat.S_ISSOCK(mode), stat.S_IMODE(mode)) == (True, 0o600)
    assert not left.exists()


def test_without_a_control_plane_a_command_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no `windlass serve --act` writes this journal"):
        send_request(tmp_path / "journal.db", ActionRequest(RequestKind.OFFERS))


def test_a_path_longer_than_that_of_a_socket_is_possible(tmp_path):
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    with ActionChannel(folder / "journal.db", lambda request, user: ActionReply(text=user)):
        reply = send_request(folder / "journal.db", ActionRequest(RequestKind.OFFERS))
    assert reply.text.startswith("user ")


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"", b"expected JSON, found text that ends too early"),
        (b"{}", b"kind: missing"),
        (b"[]\n", b"expected an object with fields, found an empty list"),
        (
            b'{"kind":"all"}\n',
            rb"kind: expected one of \"offers\", \"preview\", \"carry_out\", found \"all\"",
        ),
        (b'{"kind":"offers","tocken":1}\n', b"tocken: no such field, found 1; did you mean 'token'?"),
        (b"\xff\n", b"expected JSON"),
        (b'{"kind":' + b"[" * 50_000, b"kind: expected a text, found text that is not JSON"),
    ],
)
def test_a_malformed_request_on_the_socket_is_refused(channel, line, why):
    import socket

    path = channel.file.with_name("journal.db.sock")
    folder = os.open(path.parent, os.O_PATH)
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(f"/proc/self/fd/{folder}/{path.name}")
        peer.sendall(line)
        peer.shutdown(socket.SHUT_WR)
        assert b"actions: not a request: " + why in peer.recv(65536)
    os.close(folder)


# The pages.


def post(app: PagesApp, path: str, form: dict[str, str] | bytes, **headers: str) -> Answer:
    body = form if isinstance(form, bytes) else urlencode(form).encode()
    given = {
        "origin": "http://localhost:8090",
        "content-type": "application/x-www-form-urlencoded",
    } | headers
    given = {name: value for name, value in given.items() if value}
    return asyncio.run(call(app, path, "POST", given, body))


@pytest.fixture
def pages(bench):
    with JournalReader(bench.file) as reader:
        yield PagesApp(
            reader,
            PageAccess(None),
            lambda: 1000.0,
            lambda: 0.0,
            act=lambda request: answered(bench.service, request),
        )


def answered(service: ActionService, request: ActionRequest) -> ActionReply:
    try:
        return service.answer(request, "user pages")
    except InputError as error:
        return ActionReply(error=str(error))


FORM = {
    "action": "hold",
    "engine": "slurm",
    "job": "a",
    "undoes": "",
    "reason": "why",
    "token": SECRET,
}


def test_a_form_leads_to_a_dry_run_and_that_to_the_action_and_its_undo(bench, pages):
    jobs = bench.engines[0].jobs
    shown = post(pages, "/actions/preview", FORM)
    assert (shown.status, jobs.commands) == (200, [])
    assert "Dry run: hold job a of slurm" in shown.text
    assert SECRET not in shown.text
    (ticket,) = [each["value"] for each in Elements(shown.text).of("input") if each["name"] == "ticket"]
    done = post(pages, "/actions/carry-out", {"ticket": ticket})
    assert (done.status, jobs.commands) == (200, [("hold", "a")])
    assert "Action 1: held" in done.text
    listed = asyncio.run(call(pages, "/actions?undo=1"))
    assert "Undo 1" in listed.text
    assert [
        each["value"] for each in Elements(listed.text).of("input") if each.get("id") == "undo-undoes"
    ] == ["1"]
    undo = post(pages, "/actions/preview", {"undoes": "1", "reason": "a mistake", "token": SECRET})
    assert "Dry run: undo action 1" in undo.text


@pytest.mark.parametrize(
    ("change", "headers", "status"),
    [
        ({}, {"origin": ""}, 403),
        ({}, {"origin": "null"}, 403),
        ({}, {"origin": "http://evil.example"}, 403),
        ({}, {"host": "rebound.example"}, 421),
        ({}, {"content-type": "text/plain"}, 415),
        ({}, {"content-type": "multipart/form-data"}, 415),
        ({"token": "wrong"}, {}, 409),
        ({"token": ""}, {}, 409),
        ({"reason": ""}, {}, 409),
        ({"reason": "x" * 501}, {}, 400),
        ({"job": "a\0"}, {}, 400),
        ({"undoes": "1e9"}, {}, 400),
        ({"undoes": "9" * 18}, {}, 409),
        ({"more": "1"}, {}, 400),
    ],
)
def test_a_form_of_another_site_or_with_wrong_fields_changes_nothing(bench, pages, change, headers, status):
    found = post(pages, "/actions/preview", FORM | change, **headers)
    assert found.status == status
    assert bench.service._prepared == {}


def test_a_body_that_is_no_form_or_too_long_is_refused(pages):
    for body, status in (
        (b"\xff=1", 400),
        (b"a", 400),
        (b"job=a&job=b", 400),
        (b"job=" + b"a" * 70_000, 413),
    ):
        assert post(pages, "/actions/preview", body).status == status


def test_tickets_cannot_be_guessed_and_other_paths_take_no_form(bench, pages):
    bench.preview("hold", "slurm", "a")
    assert post(pages, "/actions/carry-out", {"ticket": "guess"}).status == 409
    assert post(pages, "/actions/carry-out", {}).status == 409
    for path in ("/", "/actions", "/health", "/none", "/static/live.js"):
        assert post(pages, path, FORM).status == 405
    assert bench.engines[0].jobs.commands == []


def test_pages_without_actions_show_them_and_take_no_form(bench):
    bench.act("hold", "slurm", "a")
    with JournalReader(bench.file) as reader:
        app = app_of(reader)
        listed = asyncio.run(call(app, "/actions"))
        assert "hold job a of slurm" in listed.text
        assert "These pages change nothing" in listed.text
        assert "<form" not in listed.text
        assert post(app, "/actions/preview", FORM).status == 403


def test_the_texts_of_actions_are_escaped(tmp_path):
    bench = Bench(tmp_path, Engine(EVIL, Jobs(**{EVIL: "waiting"})))
    bench.act("hold", EVIL, EVIL, EVIL)
    with JournalReader(bench.file) as reader:
        app = PagesApp(
            reader, PageAccess(None), lambda: 0.0, lambda: 0.0, act=lambda each: answered(bench.service, each)
        )
        fields = FORM | {"action": "unhold", "engine": EVIL, "job": EVIL, "reason": EVIL}
        for answer in (
            asyncio.run(call(app, "/actions")),
            post(app, "/actions/preview", fields),
            post(app, "/actions/preview", fields | {"job": f"{EVIL}?"}),
        ):
            assert "<script>alert" not in answer.text
            assert "onerror=" not in answer.text.replace("onerror=&quot;", "")
            assert not Elements(answer.text).of("img")
    bench.close()


def test_the_last_pause_is_kept_whatever_the_retention(tmp_path):
    file = tmp_path / "journal.db"
    with JournalWriter(file, retention=Retention(rows=2), clock=ticking()) as journal:
        for number in range(9):
            action = "pause" if number == 1 else "hold"
            record = ActionRecord(f"k{number}", 1.0, JobKey("slurm"), action, "ann", "why")
            journal.intend_action(record)
            journal.conclude_action(f"k{number}", 2.0, "held")
        journal.append(*(EngineStatus("slurm", "running", 1.0) for _ in range(10)))
        journal.flush()
    with JournalReader(file) as reader:
        assert reader.actions.paused("slurm")
        assert len(reader.actions.latest()) == 3

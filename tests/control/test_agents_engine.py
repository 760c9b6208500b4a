"""Node agents under the control plane: their decisions, their machines, and those that do not answer."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.control.test_scaling_engine import VirtualStop
from windlass.agent.options import Address
from windlass.control.agents.engine import AgentsEngine
from windlass.control.agents.reading import AgentReading, read_agent, reading_of
from windlass.control.cluster_file import read_cluster
from windlass.control.engine import EngineStoppedError
from windlass.control.journal import JobKey, JournalReader, JournalWriter, RowFilter
from windlass.control.site_status import status_from_text
from windlass.model import InputError

ONE, TWO = Address("n1", 9090), Address("::1", 9090)


class Agents:
    """Agents whose answers a list has by time: a reading, or why there is none."""

    def __init__(self, folder, answers, period=10.0):
        self.folder, self.answers, self.stop = folder, answers, VirtualStop(0.0)
        self.engine = AgentsEngine("agents", list(answers), period, self.stop.now, self.read)

    def read(self, address):
        found = self.answers[address][int(self.stop.now() // 10)]
        if isinstance(found, str):
            raise InputError(found)
        return found

    def run(self, until):
        self.stop.until = until
        with JournalWriter(self.folder / "journal.db") as journal, pytest.raises(EngineStoppedError):
            self.engine.run(journal, self.stop)
        return JournalReader(self.folder / "journal.db")


CALM = AgentReading(True, "score 0.1", "rising", 4, 0.5)
FULL = AgentReading(False, "CPU Ready is 1.5", "rising", 4, 1.0)


def test_a_decision_is_written_when_it_changes_and_machines_at_each_reading(tmp_path):
    agents = Agents(tmp_path, {ONE: [CALM, CALM, FULL, FULL, CALM], TWO: [FULL] * 5})
    with agents.run(50.0) as reader:
        rows = list(reversed(reader.decisions(RowFilter(site="n1:9090")).rows))
        assert [(each.time, each.decision, each.policy, each.answer, each.reason) for each in rows] == [
            (0.0, "admit", "rising", "accept tasks", "score 0.1"),
            (20.0, "admit", "rising", "reject tasks", "CPU Ready is 1.5"),
            (40.0, "admit", "rising", "accept tasks", "score 0.1"),
        ]
        (other,) = reader.decisions(RowFilter(site="[::1]:9090")).rows
        assert other.answer == "reject tasks"
        (view,), (seen,) = reader.views(), reader.engines()
        assert reader.acts().rows == ()
    state = status_from_text(view.content)
    assert [(each.name, each.state, each.cores, each.idle, each.note) for each in state.machines] == [
        ("n1:9090", "accepting", 4, 2, "score 0.1"),
        ("[::1]:9090", "rejecting", 4, 0, "CPU Ready is 1.5"),
    ]
    assert (view.site, view.time, state.cores, state.idle) == ("", 40.0, 8, 2)
    assert (state.accepting, state.lists_jobs) == ((1, 2), False)
    assert (seen.status.state, seen.status.error) == ("running", "")
    assert seen.status.about == "agents of 2 nodes, which decide themselves; reads only"


def test_an_agent_that_does_not_answer_is_an_event_once_and_shows_on_its_machine(tmp_path):
    agents = Agents(tmp_path, {ONE: [CALM, "away", "away", CALM], TWO: [FULL] * 4})
    with agents.run(30.0) as reader:
        (error,) = reader.events(RowFilter(topic="error")).rows
        assert (error.time, error.job, error.text) == (10.0, JobKey("agents", "n1:9090"), "n1:9090: away")
        (view,), (seen,) = reader.views(), reader.engines()
        states = [(each.state, each.note) for each in status_from_text(view.content).machines]
        assert states == [("unreachable", "away"), ("rejecting", "CPU Ready is 1.5")]
        # The other agent answers.
        assert (seen.status.state, seen.status.error) == ("running", "n1:9090: away")
    with agents.run(40.0) as reader:
        (seen,) = reader.engines()
        assert (seen.status.state, seen.status.error) == ("running", "")


def test_an_engine_of_which_no_agent_answers_is_unreachable_until_one_does(tmp_path):
    agents = Agents(tmp_path, {ONE: ["away", "away", CALM]})
    with agents.run(20.0) as reader:
        (seen,) = reader.engines()
        assert (seen.status.state, seen.status.error) == ("unreachable", "n1:9090: away")
    agents = Agents(tmp_path, {ONE: ["away", "away", CALM]})
    with agents.run(30.0) as reader:
        assert [each.text for each in reader.events(RowFilter(topic="reachable")).rows] == ["n1:9090"]
        (seen,) = reader.engines()
        assert (seen.status.state, seen.status.error) == ("running", "")


def test_agents_are_read_without_a_journal(tmp_path):
    agents = Agents(tmp_path, {ONE: [CALM]})
    agents.stop.until = 5.0
    with pytest.raises(EngineStoppedError):
        agents.engine.run(None, agents.stop)


@contextmanager
def answering(pages):
    """A server with these pages: status and text by path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            status, text = pages[self.path]
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield Address("127.0.0.1", server.server_address[1])
        finally:
            server.shutdown()
            thread.join()


def test_both_pages_of_an_agent_are_read():
    metrics = b'# HELP a b\nwindlass_cores 4.0\nwindlass_busy 0.25\nwindlass_policy{name="a\\"b"} 1.0\n'
    with answering({"/accept": (503, b"reject: full\n"), "/metrics": (200, metrics)}) as address:
        assert read_agent(address) == AgentReading(False, "full", 'a"b', 4, 0.25)


@pytest.mark.parametrize(
    ("pages", "line"),
    [
        ({"/accept": (404, b"")}, "/accept answers 404, expected an agent"),
        ({"/accept": (200, b"<html>"), "/metrics": (200, b"")}, "expected an agent's accept or reject"),
    ],
)
def test_another_server_is_named(pages, line):
    with answering(pages) as address, pytest.raises(InputError, match=line):
        read_agent(address)


def test_no_server_is_named():
    with answering({}) as address:
        pass
    with pytest.raises(InputError, match=r"the agent does not answer: .*refused"):
        read_agent(address)


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-1.0", "x"])
def test_an_agent_without_numbers_has_no_cores(value):
    found = reading_of("accept: calm", f"windlass_cores {value}\nwindlass_busy {value}")
    assert found == AgentReading(True, "calm")


def read(tmp_path, text):
    (tmp_path / "cluster.yaml").write_text(f"engines: [{text}]")
    return read_cluster(tmp_path / "cluster.yaml", acts=True, report=print).engines


def test_an_engine_of_agents_is_read(tmp_path):
    (engine,) = read(tmp_path, "{engine: agents, addresses: ['n1:9090', '[::1]:9090'], period: 1}")
    assert (engine.name, engine.jobs, engine.about) == (
        "agents",
        None,
        "agents of 2 nodes, which decide themselves; reads only",
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{engine: agents}", "engines.0.addresses: missing"),
        ("{engine: agents, addresses: []}", "engines.0.addresses: expected at least 1 entry"),
        (
            "{engine: agents, addresses: ['n1:1', here]}",
            "engines.0.addresses.1: 'here', expected a host and a port",
        ),
        ("{engine: agents, addresses: ['n1:1', 'n1:1']}", "engines.0.addresses.1: 'n1:1' is given twice"),
        ("{engine: agents, addresses: ['n1:1'], period: 0}", "engines.0.period: expected a number above 0"),
    ],
)
def test_a_wrong_field_is_one_line(tmp_path, text, line):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert line in str(caught.value)

"""An agent and an aggregator from their options to their end, on a machine made of files."""

import re
import threading

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="the extra `agent` is not installed")
pytest.importorskip("prometheus_client", reason="the extra `agent` is not installed")

from tests.engines.linux.agent.conftest import PATIENCE, SECRET, ask, seen
from windlass.agent import agent as agents
from windlass.agent.agent import run_agent, run_aggregator
from windlass.agent.envelope import digest, opened
from windlass.agent.node import as_message
from windlass.agent.options import Above, Address, AgentOptions, AggregatorOptions
from windlass.agent.stop import Stop
from windlass.agent.token import Token
from windlass.engines.linux.telemetry.observer import Observer
from windlass.engines.linux.telemetry.source import Roots
from windlass.engines.slurm.daemons import wait_until
from windlass.model import InputError

HERE = Address("127.0.0.1", 0)


class Running:
    """An agent or aggregator in a thread, and the lines that it reports."""

    def __init__(self, run, options, token=None):
        self.lines, self.stop, self.error = [], Stop(), None
        given = (options, token, np.random.default_rng(1), self.stop, self.lines.append)
        self.thread = threading.Thread(target=self._go, args=(run, given))
        self.thread.start()
        wait_until(lambda: self.url or not self.thread.is_alive(), PATIENCE)

    def _go(self, run, given):
        try:
            run(*given)
        except BaseException as error:
            self.error = error

    @property
    def url(self):
        # A line about the parent aggregator starts the same.
        found = (re.match(r"http://([\d.]+):(\d+)(?:/accept|, \d+ agents)", line) for line in self.lines)
        return next((Address(each[1], int(each[2])) for each in found if each), None)

    def end(self):
        self.stop.notify()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        if self.error is not None:
            raise self.error


@pytest.fixture
def roots(tmp_path):
    for path, text in (("stat", "cpu 1 0 0 9 0 0 0 0\n"), ("1/task/1/schedstat", "5 5 1\n")):
        (tmp_path / "proc" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "proc" / path).write_text(text)
    (tmp_path / "groups").mkdir()
    return Roots(tmp_path / "proc", tmp_path / "groups")


def test_an_agent_serves_its_ports_until_it_is_stopped_and_saves_its_state(tmp_path, roots):
    state = tmp_path / "state"
    options = AgentOptions(
        listen=HERE, check=HERE, policy="forewarn", every=0.05, guard=0.0, downtime=0.1, state=state, save_every=1e9,
        drain="weight", roots=roots,
    )  # fmt: skip
    running = Running(run_agent, options)
    (where,) = [line for line in running.lines if line.startswith("http://")]
    assert re.fullmatch(r"http://[\d.:]+/accept, policy forewarn; agent-check at 127.0.0.1, port \d+", where)
    assert wait_until(lambda: ask(running.url, "/healthz").status == 200, PATIENCE)
    assert ask(running.url, "/accept").text.startswith("accept: onsets score")
    page = ask(running.url, "/metrics").text
    for line in (
        "windlass_accepting 1.0",
        "windlass_saves_total 0.0",
        'windlass_metric{name="tasks.threads"} 1.0',
    ):
        assert line in page
    assert "windlass_joined" not in page
    assert ask(running.url, "/nothing").status == 404
    assert 'windlass_refused_requests_total{why="path"} 1.0' in ask(running.url, "/metrics").text
    lines = [line for line in running.lines if "not on this machine" in line]
    assert len(lines) == 1
    assert not state.exists()
    url = running.url
    running.end()
    with pytest.raises(OSError, match="refused"):
        ask(url, "/healthz")
    saved = opened(state.read_bytes())
    assert (saved.kind, saved.policy) == ("agent", "forewarn, downtime 0.1")
    # It continues from its state; an agent with another downtime sets that state aside.
    names = Observer(lambda: 0.0, lambda: 0.0, roots).names
    assert saved.metrics == digest(names)
    again = Running(run_agent, options)
    again.end()
    assert not [line for line in again.lines if "put aside" in line]
    other = Running(
        run_agent, AgentOptions(listen=HERE, policy="forewarn", every=0.05, state=state, roots=roots)
    )
    other.end()
    assert [line for line in other.lines if "renamed to state.refused" in line]
    assert opened(state.read_bytes()).policy == "forewarn"


@pytest.mark.matrix(0)
def test_options_without_effect_under_the_policy_are_named(tmp_path, roots):
    def lines(policy, **more):
        options = AgentOptions(listen=HERE, policy=policy, every=0.05, roots=roots, **more)
        running = Running(run_agent, options, Token(SECRET))
        running.end()
        return [line for line in running.lines if line.startswith("--")]

    more = {"state": tmp_path / "state", "above": Above("http://127.0.0.1:9", "me")}
    instead = "choose a policy that does, such as --policy forewarn"
    join = f"shares nothing with other nodes; {instead}"
    assert lines("ready", **more) == [
        f"--state: policy ready saves nothing, so the file is not written; {instead}", f"--join: policy ready {join}",
    ]  # fmt: skip
    assert lines("rising", **more) == [f"--join: policy rising {join}"]
    assert lines("forewarn", **more) == lines("ready") == []


def test_joining_needs_a_token_and_marking_needs_a_pod(tmp_path, roots, monkeypatch):
    above = Above("http://127.0.0.1:9", "me")
    with pytest.raises(InputError, match="--join: no token"):
        Running(run_agent, AgentOptions(listen=HERE, above=above, roots=roots)).end()
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(InputError, match="KUBERNETES_SERVICE_HOST is not set"):
        Running(run_agent, AgentOptions(listen=HERE, mark="label", node="n1", roots=roots)).end()
    assert not [
        each for each in threading.enumerate() if each.name in ("join", "kubernetes", "http", "agent-check")
    ]


@pytest.mark.matrix(0)
def test_an_aggregator_hands_out_its_state_and_that_of_its_parent(tmp_path, monkeypatch):
    token, state = Token(SECRET), tmp_path / "state"
    names = Observer(lambda: 0.0, lambda: 0.0, Roots()).names
    learned = as_message(seen("forewarn", 40, dim=len(names)).learned(), "forewarn", digest(names)).seal()
    top = Running(run_aggregator, AggregatorOptions(listen=HERE), token)
    assert top.lines == [f"{top.url.url}, 0 agents known"]
    assert ask(top.url, "/nodes/a", "PUT", learned, SECRET).status == 204
    options = AggregatorOptions(
        listen=HERE, state=state, save_every=1e9, above=Above(top.url.url, "below", every=0.05)
    )
    below = Running(run_aggregator, options, token)
    try:
        # It received nothing itself: it hands out the parent's state.
        assert wait_until(lambda: ask(below.url, "/global", token=SECRET).status == 200, PATIENCE)
        assert wait_until(lambda: "windlass_joined 1.0" in ask(below.url, "/metrics").text, PATIENCE)
        assert ask(below.url, "/nodes/b", "PUT", learned, SECRET).status == 204
        assert wait_until(lambda: "windlass_agents 2.0" in ask(top.url, "/metrics").text, PATIENCE)
    finally:
        below.end()
        top.end()
    assert opened(state.read_bytes()).kind == "aggregator"
    again = Running(run_aggregator, options, token)
    assert ask(again.url, "/healthz").status in (200, 404)
    again.end()
    # After the stop it does not listen.
    with pytest.raises(OSError, match="refused"):
        ask(again.url, "/healthz")
    assert f"{again.url.url}, 1 agents known" in again.lines
    assert agents.SaveCounts().done == agents.SaveCounts().failed == 0

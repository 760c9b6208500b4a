"""The current answer: from steps to /accept, to HAProxy and to Prometheus."""

import math
import socket

import numpy as np
import pytest

from tests.engines.linux.agent.conftest import DIM, NAMES, PATIENCE, ask, shown
from windlass.admit import Admission
from windlass.agent.guard import Guard
from windlass.agent.node import AgentNode, make_node
from windlass.agent.options import Above, Address, AgentOptions
from windlass.agent.signal_board import Board
from windlass.agent.stop import Stop
from windlass.agent.watch import NodeWatch, watch
from windlass.engines.linux.telemetry.observer import Observation
from windlass.model import InputError


def step(ready=0.0, busy=0.5, seconds=1.0):
    return Observation(0.0, seconds, np.arange(DIM, dtype=float), busy, ready)


class SetPolicy:
    """A policy whose answer the test sets."""

    name = "told"

    def __init__(self):
        self.reject, self.views = False, []

    def decide(self, view):
        self.views.append(view)
        return Admission(self.reject, "as told", 0.25)


class Counting(AgentNode):
    """A node that counts gaps."""

    gaps = 0

    def gap(self):
        self.gaps += 1


@pytest.fixture
def watching(clock):
    return NodeWatch(Counting(SetPolicy()), Guard(0.5), Board(clock, 5.0), 1.0, clock)


def test_the_policy_s_answer_is_the_current_one(watching):
    watching.take(step())
    assert watching.board.answer().accept
    watching.node.policy.reject = True
    watching.take(step())
    answer = watching.board.answer()
    assert (answer.accept, answer.why, answer.percent) == (False, "as told", 0)


def test_the_guard_overrides_the_policy_and_reports_it(watching):
    for ready in (0.9, 0.9, 0.9):
        watching.take(step(ready))
    answer = watching.board.answer()
    assert not answer.accept
    assert answer.why == "CPU Ready is 0.9, the guard's limit 0.5"
    assert (watching.board.last.rejected, watching.board.last.guarded) == (2, 2)
    for _ in range(3):
        watching.take(step(0.0))
    assert watching.board.answer().accept


def test_the_weight_falls_with_cpu_ready(watching):
    percents = []
    for ready in (0.0, 0.1, 0.3):
        for _ in range(3):
            watching.take(step(ready))
        percents.append(watching.board.answer().percent)
    assert percents == [100, 80, 40]


def test_without_a_guard_the_weight_is_100_percent(clock):
    watching = NodeWatch(Counting(SetPolicy()), Guard(0.0), Board(clock, 5.0), 1.0, clock)
    for _ in range(5):
        watching.take(step(9.0))
    assert watching.board.answer().percent == 100


def test_a_stale_answer_rejects(watching, clock):
    watching.take(step())
    clock.now += 5.1
    answer = watching.board.answer()
    assert not answer.accept
    assert answer.why.startswith("nothing was measured for 5 s")


def test_a_gap_is_reported_to_the_policy_and_a_late_step_is_not(watching):
    watching.take(step(seconds=2.0))
    assert watching.node.gaps == 0
    watching.take(step(seconds=60.0))
    assert watching.node.gaps == 1


def test_unknown_values_are_no_error(watching):
    watching.take(step(ready=math.nan, busy=math.nan))
    watching.take(step(busy=1.0000001))
    assert math.isnan(watching.node.policy.views[0].ready)
    assert watching.node.policy.views[1].busy == 1.0


def test_a_watch_skips_the_first_observation_and_ends_on_stop(clock):
    stop, taken = Stop(), []

    def observe():
        clock.now += 1.0
        return step(seconds=math.nan if not taken and clock.now < 1001.5 else 1.0)

    def take(seen):
        taken.append(seen.seconds)
        if len(taken) == 3:
            stop.notify()

    watch(observe, take, 0.05, clock, stop)
    assert taken == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "name", ["always", "never", "random", "utilisation", "ready", "rising", "alarm", "pronto", "forewarn"]
)
def test_every_policy_runs_under_the_agent(name, clock):
    watching = NodeWatch(
        make_node(name, DIM, np.random.default_rng(1)), Guard(0.5), Board(clock, 5.0), 1.0, clock
    )
    rng = np.random.default_rng(2)
    for _ in range(45):
        watching.take(Observation(0.0, 1.0, rng.normal(size=DIM), 0.5, 0.01))
    assert watching.board.last.steps == 45
    assert watching.board.answer().accept is (name != "never") or name == "random"


def test_a_downtime_reaches_the_policy():
    for name in ("pronto", "forewarn", "utilisation"):
        policy = make_node(name, DIM, np.random.default_rng(1), downtime=0.2).policy
        assert (policy.fleet if name == "pronto" else policy).threshold.downtime == 0.2
    with pytest.raises(InputError, match="no parameter 'downtime'"):
        make_node("always", DIM, np.random.default_rng(1), downtime=0.2)


def agent_of(watching, served):
    from windlass.agent.prometheus import Page, board_metrics
    from windlass.agent.routes import agent_routes
    from windlass.agent.web import Refusals

    refusals = Refusals()
    page = Page(lambda: board_metrics(watching.board, NAMES))
    return served(agent_routes(watching.board, page.answer), refusals), refusals


def test_http_serves_the_current_answer(watching, served, clock):
    address, refusals = agent_of(watching, served)
    assert (ask(address, "/healthz").status, ask(address, "/accept").status) == (503, 503)
    watching.take(step(ready=0.1))
    assert ask(address, "/accept").text == "accept: as told\n"
    assert ask(address, "/healthz").status == 200
    watching.node.policy.reject = True
    watching.take(step())
    reply = ask(address, "/accept")
    assert (reply.status, reply.text) == (503, "reject: as told\n")
    assert ask(address, "/accept", method="HEAD").body == b""
    clock.now += 60.0
    assert ask(address, "/healthz").status == 503
    assert refusals.by_reason() == ()


def test_prometheus_shows_all_numbers(watching, served):
    address, _ = agent_of(watching, served)
    assert shown(address)["windlass_accepting"] == 0.0
    watching.take(step(ready=0.25))
    page = shown(address)
    assert page["windlass_accepting"] == 1.0
    assert page["windlass_cpu_ready"] == 0.25
    assert page["windlass_score"] == 0.25
    assert page['windlass_metric{name="metric.3"}'] == 3.0
    assert page["windlass_steps_total"] == 1.0


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize(
    ("path", "method", "status", "why"),
    [("/", "GET", 404, "path"), ("/accept/", "GET", 404, "path"), ("/accept", "POST", 405, "method")],
)
def test_other_requests_are_rejected_and_counted(watching, served, path, method, status, why):
    address, refusals = agent_of(watching, served)
    assert ask(address, path, method).status == status
    assert refusals.by_reason() == ((why, 1),)


def line_at(address):
    with socket.create_connection((address.host, address.port), timeout=PATIENCE) as connection:
        return connection.makefile().read()


def test_haproxy_receives_one_line(watching):
    from windlass.agent.check import CheckServer, line_of

    server = CheckServer(Address("127.0.0.1", 0), lambda: line_of(watching.board.answer(), "state"))
    try:
        assert line_at(server.address) == "drain\n"
        watching.take(step(ready=0.1))
        assert line_at(server.address) == "ready up 80%\n"
    finally:
        server.close()
    with pytest.raises(OSError, match="refused"):
        line_at(server.address)


def test_a_port_in_use_is_named_in_the_error(served):
    from windlass.agent.web import Answered, listening

    address = served(lambda _: Answered(200))
    with pytest.raises(InputError, match=f"--check: cannot listen at 127.0.0.1, port {address.port}: "):
        listening("--check", address)


@pytest.mark.parametrize(
    ("option", "make"),
    [
        ("--listen", lambda: Address.of("--listen", "localhost:80")),
        ("--listen", lambda: Address.of("--listen", "127.0.0.1:65536")),
        ("--listen", lambda: Address.of("--listen", "127.0.0.1:²")),
        ("--join", lambda: Above("ftp://somewhere", "a")),
        ("--join", lambda: Above("http://user:secret@somewhere", "a")),
        ("--name", lambda: Above("http://somewhere", "a/../b")),
        ("--every", lambda: AgentOptions(every=0.0)),
        ("--guard", lambda: AgentOptions(guard=-1.0)),
        ("--haproxy-by", lambda: AgentOptions(drain="down")),
        ("--kubernetes", lambda: AgentOptions(mark="cordon")),
        ("--node", lambda: AgentOptions(mark="taint")),
    ],
)
def test_invalid_options_are_named_in_the_error(option, make):
    with pytest.raises(InputError, match=option):
        make()

"""States that agents send, an aggregator keeps and new nodes start from, part by part."""

import math

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="the extra `agent` is not installed")
pytest.importorskip("prometheus_client", reason="the extra `agent` is not installed")

from tests.engines.linux.agent.conftest import DIM, METRICS, SECRET, seen
from windlass.admit import Subspace
from windlass.admit.learned import Learned
from windlass.admit.shared_model import Lesson
from windlass.agent import aggregate as aggregates
from windlass.agent.aggregate import Aggregate, Routes
from windlass.agent.envelope import opened
from windlass.agent.join import Joiner, exchange
from windlass.agent.node import as_message, from_message, make_node
from windlass.agent.options import Above
from windlass.agent.token import Token
from windlass.agent.web import Answered, WebRequest
from windlass.engines.backoff import Backoff
from windlass.model import InputError


def learned(seed, lesson=True, weight=1.0, dim=DIM):
    rng = np.random.default_rng(seed)
    subspace = Subspace(np.linalg.qr(rng.normal(size=(dim, 2)))[0], weight * np.array([2.0, 1.0]))
    own = (
        Lesson(subspace, rng.normal(size=(dim, 2)), rng.normal(size=4), 10.0 * (seed + 1)) if lesson else None
    )
    return Learned(subspace, own)


def sent(found):
    return as_message(found, "forewarn", METRICS).seal()


def test_an_aggregate_keeps_the_last_state_of_each_agent_and_forgets_silent_ones(clock):
    aggregate = Aggregate(DIM, 3, METRICS, 100.0, clock)
    assert aggregate.learned() is None
    first, second = learned(1), learned(2, lesson=False)
    aggregate.take("a", sent(learned(5)))
    aggregate.take("a", sent(first))
    assert (aggregate.taken, aggregate.changes) == (2, 2)
    merged = aggregate.learned()
    assert merged.lesson.count == 20.0
    assert aggregate.learned() is merged
    clock.now += 60.0
    aggregate.take("b", sent(second))
    assert aggregate.learned() is not merged
    assert aggregate.learned().subspace.singular.shape == (3,)
    assert aggregate.learned().lesson.plain == pytest.approx(first.lesson.plain)
    # A silence of exactly the limit is accepted.
    clock.now += 40.0
    aggregate.forget()
    assert aggregate.children == ("a", "b")
    clock.now += 0.5
    aggregate.forget()
    assert aggregate.children == ("b",)
    assert aggregate.learned().lesson is None
    assert aggregate.changes == 4
    # An agent that stops sending a lesson has none.
    aggregate.take("b", sent(first))
    assert aggregate.learned().lesson is not None
    aggregate.take("b", sent(second))
    assert aggregate.learned().lesson is None
    aggregate.leave("b")
    assert aggregate.learned() is None
    shown = {each.name: each for each in aggregate.shown()}
    assert (shown["agents"].value, shown["taken"].value, shown["singular_value"].values) == (0, 5, ())


def test_a_restored_aggregate_has_its_lessons_and_ages_of_zero(clock):
    aggregate = Aggregate(DIM, 3, METRICS, 100.0, clock)
    aggregate.take("b", sent(learned(1)))
    aggregate.take("a", sent(learned(2)))
    aggregate.take("c", sent(learned(3, lesson=False)))
    saved = aggregate.saved()
    assert [each.name for each in saved.parts] == ["aggregator", "lesson a", "lesson b"]
    clock.now += 1000.0
    back = Aggregate(DIM, 3, METRICS, 100.0, clock)
    back.restore(opened(saved.seal()))
    assert back.changes == 1
    back.forget()
    assert back.children == ("a", "b", "c")
    one, other = aggregate.learned(), back.learned()
    assert (one.lesson.metrics == other.lesson.metrics).all()
    assert (one.subspace.basis == other.subspace.basis).all()
    with pytest.raises(InputError, match="has 6 metrics, expected 5"):
        Aggregate(5, 3, METRICS, 100.0, clock).restore(saved)
    with pytest.raises(InputError, match="is of kind 'aggregator', expected 'learned'"):
        saved.check("learned", METRICS)


def test_the_number_of_agents_is_limited(clock, monkeypatch):
    monkeypatch.setattr(aggregates, "MOST", 2)
    aggregate = Aggregate(DIM, 3, METRICS, 100.0, clock)
    for child in ("a", "b", "a"):
        aggregate.take(child, sent(learned(1)))
    with pytest.raises(InputError, match="2 agents are known"):
        aggregate.take("c", sent(learned(1)))
    assert aggregate.children == ("a", "b")
    aggregate.leave("a")
    aggregate.take("c", sent(learned(1)))


@pytest.mark.parametrize(
    ("change", "fine"),
    [
        ({"weight": 4e8}, True), ({"weight": 6e8}, False), ({"dim": 5}, False),
        ({"metrics": 1e6}, True), ({"metrics": 1.1e6}, False), ({"plain": -1.1e6}, False), ({"plain": -1e6}, True),
        ({"count": 1e12}, True), ({"count": 1.1e12}, False),
    ],
)  # fmt: skip
def test_impossible_learned_states_are_rejected_beyond_the_bound(change, fine):
    found = learned(1, weight=change.get("weight", 1.0), dim=change.get("dim", DIM))
    if not {"weight", "dim"} & set(change):
        lesson = found.lesson
        metrics, plain = lesson.metrics.copy(), lesson.plain.copy()
        metrics[3, 1] = change.get("metrics", 0.0)
        plain[2] = change.get("plain", 0.0)
        found = Learned(found.subspace, Lesson(found.subspace, metrics, plain, change.get("count", 5.0)))
    envelope = as_message(found, "forewarn", METRICS)
    if fine:
        assert from_message(envelope, DIM).lesson is not None
    else:
        with pytest.raises(InputError):
            from_message(envelope, DIM)


def test_each_route_of_an_aggregate_has_its_status(clock):
    above, token = [None], Token(SECRET)
    aggregate = Aggregate(DIM, 3, METRICS, 100.0, clock)
    routes = Routes(aggregate, token, METRICS, lambda: Answered(200, b"numbers"), lambda: above[0])
    header = token.header.encode()
    assert routes(WebRequest("GET", "/global", header)).status == 204
    assert routes(WebRequest("PUT", "/nodes/a%2Db", header, sent(learned(1)))).status == 204
    assert aggregate.children == ("a-b",)
    found = routes(WebRequest("GET", "/global", header))
    assert (found.status, found.content) == (200, "application/octet-stream")
    envelope = opened(found.body)
    envelope.check("learned", METRICS)
    assert envelope.policy == ""
    assert from_message(envelope, DIM).lesson.count == 20.0
    # New nodes receive the parent's state.
    above[0] = learned(4)
    assert from_message(opened(routes(WebRequest("GET", "/global", header)).body), DIM).lesson.count == 50.0
    for requests, status, refused in (
        (WebRequest("GET", "/healthz"), 200, ""), (WebRequest("GET", "/metrics"), 200, ""),
        (WebRequest("GET", "/node"), 404, "path"),
        (WebRequest("POST", "/healthz"), 405, "method"), (WebRequest("PUT", "/global", header), 405, "method"),
        (WebRequest("GET", "/global"), 401, "token"), (WebRequest("GET", "/nodes/a", b"Bearer no"), 401, "token"),
        (WebRequest("GET", "/nodes/a", header), 405, "method"), (WebRequest("PUT", "/nodes/", header), 400, "name"),
        (WebRequest("PUT", "/nodes/b", header, b"x"), 400, "content"),
        (WebRequest("DELETE", "/nodes/a-b", header), 204, ""),
    ):  # fmt: skip
        answered = routes(requests)
        assert (answered.status, answered.refused) == (status, refused), requests
    assert aggregate.children == ()


class Away:
    """An aggregator whose answers the test sets."""

    def __init__(self):
        self.requests, self.answers = [], {}

    def __call__(self, method, url, token, body):
        self.requests.append((method, url))
        found = self.answers.get(method, (204, b""))
        if isinstance(found, Exception):
            raise found
        return found


def joiner(clock, away, lines, *, own=lambda: None, wanted=lambda: False, give=None, epsilon=0.1):
    return Joiner(
        Above("http://up:1/", "me", 30.0, epsilon), Token(SECRET), "forewarn", METRICS, DIM, own, wanted,
        give or (lambda each: None), Backoff(1.0, 300.0, np.random.default_rng(1)), clock, lines.append, away,
    )  # fmt: skip


def test_changed_state_is_sent_and_unchanged_state_after_ten_minutes(clock):
    away, lines, own = Away(), [], [learned(1)]
    joining = joiner(clock, away, lines, own=lambda: own[0])
    assert joining.step() == 30.0
    assert away.requests == [("PUT", "http://up:1/nodes/me")]
    assert lines == ["http://up:1/: joined as me"]
    clock.now += 599.0
    joining.step()
    assert away.requests[1:] == [("GET", "http://up:1/healthz")]
    clock.now += 1.0
    joining.step()
    assert (joining.status.sent, away.requests[2:]) == (2, [("PUT", "http://up:1/nodes/me")])
    own[0] = learned(2)
    joining.step()
    assert joining.status.sent == 3
    assert (joining.status.now, joining.status.failed, joining.status.why) == (True, 0, "")
    assert len(lines) == 1


def test_a_new_node_requests_the_state_and_resends_its_own_after_a_failure(clock):
    away, lines, given, own = Away(), [], [], [None]
    wanted = [True]
    joining = joiner(clock, away, lines, own=lambda: own[0], wanted=lambda: wanted[0], give=given.append)
    assert not joining.status.now
    away.answers["GET"] = (200, sent(learned(3)))
    assert joining.step() == 30.0
    assert away.requests == [("GET", "http://up:1/global")]
    assert given[0].lesson.count == 40.0
    wanted[0], own[0] = False, learned(1)
    joining.step()
    assert joining.status.sent == 1
    away.answers["GET"] = away.answers["PUT"] = (503, b" busy \n")
    assert 0.5 <= joining.step() <= 1.0
    assert 1.0 <= joining.step() <= 2.0
    assert (joining.status.failed, joining.status.now) == (2, False)
    assert joining.status.why == "answered 503: busy"
    assert lines[1:] == ["http://up:1/: answered 503: busy; continuing without it"]
    # It may have been restarted, so unchanged state is sent again.
    away.answers.clear()
    assert joining.step() == 30.0
    assert joining.status.sent == 2
    assert lines[-1] == "http://up:1/: joined as me"
    away.answers["GET"] = OSError("gone")
    assert 0.5 <= joining.step() <= 1.0
    away.answers["GET"] = (404, b"")
    wanted[0] = True
    joining.step()
    assert joining.status.why == "answered 404"


@pytest.mark.parametrize("name", ["pronto", "forewarn"])
def test_a_new_node_weighs_the_received_state_as_one_block(name):
    learned_, node = learned(1), make_node(name, DIM, np.random.default_rng(1))
    assert node.is_new
    node.start(learned_)
    assert not node.is_new
    # A block of 20 steps of scaled metrics has a sum of squares of about 20 for each metric.
    assert np.linalg.norm(node.singular) == pytest.approx(math.sqrt(20 * DIM))
    assert node.singular[:2] / node.singular[0] == pytest.approx([1.0, 0.5])
    again = make_node(name, DIM, np.random.default_rng(1))
    wide = Subspace(np.eye(DIM)[:, :5], np.array([5.0, 4.0, 3.0, 2.0, 1.0]))
    again.start(Learned(wide))
    assert again.singular[:4] / again.singular[0] == pytest.approx([1.0, 0.8, 0.6, 0.4])
    assert np.linalg.norm(again.singular) == pytest.approx(math.sqrt(20 * DIM))
    nothing = make_node(name, DIM, np.random.default_rng(1))
    nothing.start(Learned(Subspace(np.eye(DIM)[:, :2], np.zeros(2))))
    assert not nothing.singular.any()


def test_a_node_exposes_the_state_of_its_policy():
    for name in ("pronto", "forewarn"):
        node = seen(name, 50)
        found = node.learned()
        assert found.subspace.singular.tolist() == node.singular.tolist()
        assert (found.lesson is None) == (name == "pronto")
        assert node.projections.shape == (4,)
        assert node.projections.any()
    plain = make_node("ready", DIM, np.random.default_rng(1), 0.25)
    assert plain.policy.threshold.downtime == 0.25
    assert (plain.is_new, plain.save(), plain.learned()) == (False, None, None)
    pronto = make_node("pronto", DIM, np.random.default_rng(1), 0.25).policy.fleet.settings
    assert (pronto.downtime, pronto.signal, pronto.weights) == (0.25, "scores", "equal")
    usual = make_node("pronto", DIM, np.random.default_rng(1)).policy.fleet.settings
    assert (usual.downtime, usual.signal, usual.weights) == (None, "spikes", "raw")
    assert make_node("forewarn", DIM, np.random.default_rng(1), 0.25).policy.threshold.downtime == 0.25


def test_a_request_sends_the_token_and_its_body(served):
    requests = []

    def answering(each):
        requests.append(each)
        return Answered(503 if each.path == "/no" else 200, b"said " + each.body)

    address = served(answering)
    assert exchange("PUT", f"{address.url}/yes", Token(SECRET), b"abc") == (200, b"said abc")
    assert exchange("GET", f"{address.url}/no", Token(SECRET), b"") == (503, b"said ")
    assert [(each.method, each.path, each.body) for each in requests] == [
        ("PUT", "/yes", b"abc"),
        ("GET", "/no", b""),
    ]
    assert {each.authorization for each in requests} == {f"Bearer {SECRET}".encode()}

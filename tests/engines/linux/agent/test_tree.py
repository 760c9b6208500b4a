"""An aggregator and its agents: rejected requests change nothing, and outages are survived."""

import socket
import threading
from functools import partial

import numpy as np
import pytest

from tests.engines.linux.agent.conftest import DIM, METRICS, PATIENCE, SECRET, ask, seen, shown
from windlass.admit import Subspace, merge
from windlass.admit.lib.saved import pack
from windlass.admit.shared_model import Lesson
from windlass.agent.envelope import Envelope, EnvelopePart, opened
from windlass.agent.join import Joiner, exchange
from windlass.agent.node import as_message, from_message, make_node
from windlass.agent.options import Above
from windlass.agent.token import Token, read_token
from windlass.engines.backoff import Backoff
from windlass.model import InputError

pytest.importorskip("uvicorn", reason="the extra `agent` is not installed")
pytest.importorskip("prometheus_client", reason="the extra `agent` is not installed")


@pytest.fixture
def aggregate(clock):
    from windlass.agent.aggregate import Aggregate

    return Aggregate(DIM, 4, METRICS, forget_after=100.0, clock=clock)


@pytest.fixture
def address(aggregate, served, token):
    from windlass.agent.agent import SaveCounts, of_process
    from windlass.agent.aggregate import Routes
    from windlass.agent.prometheus import Page
    from windlass.agent.web import Refusals

    refusals = Refusals()

    def page():
        yield from aggregate.shown()
        yield from of_process(refusals, SaveCounts(), None)

    return served(Routes(aggregate, token, METRICS, Page(page).answer, lambda: None), refusals)


def message(name="forewarn", seed=1, metrics=METRICS, dim=DIM):
    return as_message(seen(name, seed=seed, dim=dim).learned(), name, metrics).seal()


def subspace(basis, singular, metrics=METRICS):
    """Return a message with arbitrary arrays."""

    class Anything:
        pass

    anything = Anything()
    anything.basis, anything.singular = np.asarray(basis, float), np.asarray(singular, float)
    data = pack("windlass.admit.subspace", {}, [("subspace", anything, ("basis", "singular"))])
    return Envelope("learned", "pronto", metrics, (EnvelopePart("subspace", data),)).seal()


def refused_in_all(page):
    return sum(value for name, value in page.items() if name.startswith("windlass_refused_requests_total"))


def state_of(aggregate):
    return aggregate.saved().seal()


def test_the_merged_state_equals_merge(aggregate, address):
    for name, seed in (("a", 1), ("b", 2)):
        assert ask(address, f"/nodes/{name}", "PUT", message(seed=seed), SECRET).status == 204
    found = from_message(opened(ask(address, "/global", token=SECRET).body), DIM)
    one, other = (seen("forewarn", seed=seed).learned() for seed in (1, 2))
    basis, singular = merge(
        one.subspace.basis, one.subspace.singular, other.subspace.basis, other.subspace.singular, 4
    )
    np.testing.assert_allclose(found.subspace.singular, singular)
    np.testing.assert_allclose(found.subspace.basis @ found.subspace.basis.T, basis @ basis.T, atol=1e-9)
    expected = Lesson.of_all([one.lesson, other.lesson], found.subspace)
    np.testing.assert_allclose(found.lesson.metrics, expected.metrics)
    assert found.lesson.count == expected.count


def test_without_any_agent_there_is_no_state_for_new_nodes(address):
    assert ask(address, "/global", token=SECRET).status == 204


def test_a_leaving_agent_removes_its_state(aggregate, address):
    ask(address, "/nodes/a", "PUT", message(), SECRET)
    before = state_of(aggregate)
    ask(address, "/nodes/b", "PUT", message(seed=2), SECRET)
    assert ask(address, "/nodes/b", "DELETE", token=SECRET).status == 204
    assert state_of(aggregate) == before


def test_a_silent_agent_is_forgotten(aggregate, address, clock):
    ask(address, "/nodes/a", "PUT", message(), SECRET)
    clock.now += 60.0
    ask(address, "/nodes/b", "PUT", message(seed=2), SECRET)
    clock.now += 60.0
    aggregate.forget()
    assert aggregate.children == ("b",)


BAD_BASIS = np.eye(DIM)[:, :2]
BAD = {
    "nothing": b"",
    "text": b"hello",
    "another kind": Envelope("agent", "pronto", METRICS, ()).seal(),
    "no parts": Envelope("learned", "pronto", METRICS, ()).seal(),
    "another dimension": subspace(np.eye(DIM + 1)[:, :2], [2.0, 1.0]),
    "NaN in the basis": subspace(np.full((DIM, 1), np.nan), [1.0]),
    "NaN in the values": subspace(BAD_BASIS, [np.nan, 1.0]),
    "infinity": subspace(BAD_BASIS, [np.inf, 1.0]),
    "not orthonormal": subspace(np.ones((DIM, 2)), [2.0, 1.0]),
    "rising": subspace(BAD_BASIS, [1.0, 2.0]),
    "below 0": subspace(BAD_BASIS, [1.0, -1.0]),
    "too large": subspace(BAD_BASIS, [1e300, 1.0]),
    "of no rank": subspace(np.zeros((DIM, 0)), []),
    "other metrics": subspace(BAD_BASIS, [2.0, 1.0], metrics="0123456789abcdef"),
}


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("what", BAD)
def test_an_impossible_learned_state_is_rejected_and_changes_nothing(aggregate, address, what):
    ask(address, "/nodes/a", "PUT", message(), SECRET)
    before = state_of(aggregate)
    reply = ask(address, "/nodes/a", "PUT", BAD[what], SECRET)
    assert (reply.status, reply.text.count("\n")) == (400, 1)
    assert state_of(aggregate) == before
    assert shown(address)['windlass_refused_requests_total{why="content"}'] == 1.0


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("given", [None, "", SECRET[:-1], SECRET + "x", "Ä" * 20])
@pytest.mark.parametrize(
    ("path", "method"), [("/global", "GET"), ("/nodes/a", "PUT"), ("/nodes/a", "DELETE")]
)
def test_requests_without_the_token_change_nothing(aggregate, address, path, method, given):
    ask(address, "/nodes/a", "PUT", message(), SECRET)
    before = state_of(aggregate)
    body = message(seed=2) if method == "PUT" else None
    assert ask(address, path, method, body, given).status == 401
    assert state_of(aggregate) == before
    assert shown(address)['windlass_refused_requests_total{why="token"}'] == 1.0


@pytest.mark.matrix
@pytest.mark.parametrize("name", ["", "a/b", "..", "%2e%2e", "x" * 65, "a%00b", "%C3%A4"])
def test_an_invalid_name_is_rejected(aggregate, address, name):
    assert ask(address, f"/nodes/{name}", "PUT", message(), SECRET).status in (400, 404)
    assert aggregate.children == ()


def raw(address, data, end=True):
    """Send raw bytes and return the answer; `end` closes the sending side."""
    with socket.create_connection((address.host, address.port), timeout=PATIENCE) as connection:
        found = b""
        try:
            connection.sendall(data)
            if end:
                connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(4096):
                found += piece
        except (ConnectionResetError, BrokenPipeError):
            pass  # closed with some of it unread
        return found


def malformed(rng):
    """Return a random malformed request of one of many kinds."""
    noise = rng.bytes(int(rng.integers(1, 60)))
    kinds = [
        lambda: b"\x16\x03\x01" + noise,
        lambda: b"GET\r\n\r\n",
        lambda: b"GET /accept HTTP/9.9\r\n\r\n",
        lambda: b"GET  /global HTTP/1.1\r\nHost: a\r\n\r\n",
        lambda: b"PUT /nodes/a HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n",
        lambda: b"PUT /nodes/a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        lambda: b"PUT /nodes/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        lambda: b"PUT /nodes/a HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n",
        lambda: b"PUT /nodes/a HTTP/1.1\r\n\r\n",
        lambda: b"\x00" + noise + b"\r\n\r\n",
    ]
    return kinds[int(rng.integers(len(kinds)))]()


def flood(address, aggregate, count):
    ask(address, "/nodes/a", "PUT", message(), SECRET)
    before, rng = state_of(aggregate), np.random.default_rng(7)
    for _ in range(count):
        found = raw(address, malformed(rng))
        assert found == b"" or found.startswith(b"HTTP/1.1 4")
    page = shown(address)
    assert refused_in_all(page) == count
    assert page["windlass_taken_total"] == 1.0
    assert state_of(aggregate) == before
    assert ask(address, "/global", token=SECRET).status == 200


def test_malformed_requests_are_counted_and_change_nothing(address, aggregate):
    flood(address, aggregate, 200)


@pytest.mark.slow
def test_ten_thousand_malformed_requests_change_nothing(address, aggregate):
    flood(address, aggregate, 10_000)


def test_an_oversized_body_is_rejected_before_it_is_read(address, aggregate):
    head = b"PUT /nodes/a HTTP/1.1\r\nHost: a\r\n"
    found = raw(address, head + b"Content-Length: 99999999999\r\n\r\n", end=False)
    assert found.startswith(b"HTTP/1.1 413")
    chunks = 40 * (b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
    found = raw(address, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks, end=False)
    assert found == b"" or found.startswith(b"HTTP/1.1 413")
    assert shown(address)['windlass_refused_requests_total{why="large"}'] == 2.0


def test_received_states_survive_a_restart(aggregate, address, clock):
    from windlass.agent.aggregate import Aggregate

    for name, kind in (("a", "forewarn"), ("b", "pronto")):
        ask(address, f"/nodes/{name}", "PUT", message(kind), SECRET)
    again = Aggregate(DIM, 4, METRICS, 100.0, clock)
    again.restore(opened(state_of(aggregate)))
    assert again.children == ("a", "b")
    assert as_message(again.learned(), "", METRICS) == as_message(aggregate.learned(), "", METRICS)
    assert state_of(again) == state_of(aggregate)


def test_an_aggregator_rejects_the_state_of_other_metrics(aggregate, clock):
    from windlass.agent.aggregate import Aggregate

    with pytest.raises(InputError, match=r"has metrics with digest .*, expected 'other'"):
        Aggregate(DIM, 4, "other", 100.0, clock).restore(aggregate.saved())


def joiner(url, token, clock, lines, learned, given, every=30.0, **more):
    return Joiner(
        Above(url, "me", every),
        token,
        "forewarn",
        METRICS,
        DIM,
        learned,
        lambda: not given,
        given.append,
        Backoff(1.0, 300.0, np.random.default_rng(1)),
        clock,
        lines.append,
        **more,
    )


def test_a_joining_agent_receives_the_merged_state_and_sends_its_own(aggregate, address, token, clock):
    ask(address, "/nodes/other", "PUT", message(), SECRET)
    given, lines = [], []
    joined = joiner(
        address.url, token, clock, lines, seen("forewarn", seed=3).learned, given,
        exchanging=partial(exchange, timeout=PATIENCE),
    )  # fmt: skip
    assert joined.step() == 30.0
    assert [each.lesson is not None for each in given] == [True]
    assert aggregate.children == ("me", "other")
    assert lines == [f"{address.url}: joined as me"]
    joined.step()
    assert joined.status.sent == 1  # it is unchanged
    clock.now += 601.0
    joined.step()
    assert joined.status.sent == 2


def test_an_unreachable_aggregator_is_retried_with_backoff_and_reported_once(token, clock):
    lines, given, calls = [], [], []

    def away(*call):
        calls.append(call)
        raise ConnectionRefusedError(111, "Connection refused")

    joined = joiner("http://127.0.0.1:1", token, clock, lines, lambda: None, given, exchanging=away)
    delays = [joined.step() for _ in range(12)]
    assert all(0.5 * 2**at <= delay <= 2**at for at, delay in enumerate(delays[:8]))
    assert max(delays) <= 300.0
    assert len(lines) == 1
    assert (joined.status.now, joined.status.failed) == (False, 12)


def test_a_changed_reason_is_reported(token, clock):
    lines, answers = [], [(401, b"no"), (401, b"no"), (500, b""), (204, b""), (500, b"")]
    joined = joiner(
        "http://x", token, clock, lines, lambda: None, [], exchanging=lambda *_: answers[len(reasons)]
    )
    reasons = []
    for _ in answers:
        joined.step()
        reasons.append(joined.status.why)
    assert reasons == ["answered 401: no", "answered 401: no", "answered 500", "", "answered 500"]
    assert len(lines) == 4


def test_an_agent_rejoins_after_an_outage(token, clock):
    lines, given, away = [], [], [True]

    def maybe(*_):
        if away[0]:
            raise TimeoutError("timed out")
        return 204, b""

    joined = joiner("http://x", token, clock, lines, seen("forewarn").learned, given, exchanging=maybe)
    for _ in range(5):
        joined.step()
    away[0] = False
    assert joined.step() == 30.0
    assert (joined.status.now, joined.status.sent) == (True, 1)
    away[0] = True
    assert joined.step() <= 1.0
    assert len(lines) == 3
    # It may have lost the received state, which is unchanged since.
    away[0] = False
    joined.step()
    assert joined.status.sent == 2
    joined.step()
    assert joined.status.sent == 2


def test_an_agent_without_state_joins_only_if_the_aggregator_answers(token, clock):
    requests = []

    def answering(method, url, *_):
        requests.append((method, url))
        return 200, b"ok\n"

    joined = joiner("http://x/", token, clock, [], lambda: None, [object()], exchanging=answering)
    joined.step()
    assert requests == [("GET", "http://x/healthz")]
    assert joined.status.now


def test_new_nodes_do_not_send_the_received_state_back(aggregate, address, token, clock):
    """However many nodes join and leave, the total weight is at most that of nodes with steps."""
    ask(address, "/nodes/old", "PUT", message(), SECRET)
    before = aggregate.learned().subspace.singular
    for name in "abcdefgh":
        newcomer = make_node("forewarn", DIM, np.random.default_rng(1))
        newcomer.start(aggregate.learned())
        aggregate.take(name, as_message(newcomer.learned(), "forewarn", METRICS).seal())
    bound = np.sqrt((before**2).sum() + 8 * 20 * DIM)
    assert np.linalg.norm(aggregate.learned().subspace.singular) <= bound * (1.0 + 1e-9)


@pytest.mark.parametrize(
    "answer",
    [
        (200, b"hello"),
        (200, BAD["another dimension"]),
        (200, BAD["NaN in the basis"]),
        (401, b"no\n"),
        (302, b""),
        (500, b""),
    ],
)
def test_invalid_answers_of_an_aggregator_are_ignored(token, clock, answer):
    lines, given = [], []
    joined = joiner("http://x", token, clock, lines, lambda: None, given, exchanging=lambda *_: answer)
    joined.step()
    assert (given, joined.status.now, joined.status.failed) == ([], False, 1)


def test_the_token_is_not_sent_to_a_redirect_target(served, token):
    from windlass.agent.web import Answered

    requests = []

    def thief(request):
        requests.append(request)
        return Answered(200)

    target = served(thief).url

    def redirecting(connection):
        connection.recv(4096)
        connection.sendall(f"HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n".encode())
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=lambda: redirecting(server.accept()[0]))
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        status, _ = exchange("GET", url, token, b"", timeout=PATIENCE)
        thread.join()
    assert (status, requests) == (302, [])


def test_a_server_without_http_raises_oserror(token):
    def speaking(connection):
        connection.recv(4096)
        connection.sendall(b"220 smtp ready\r\n")
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=lambda: speaking(server.accept()[0]))
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        with pytest.raises(OSError, match="not HTTP"):
            exchange("GET", url, token, b"", timeout=PATIENCE)
        thread.join()


def test_tokens_are_read_from_a_private_file_or_the_environment(tmp_path):
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n")
    file.chmod(0o600)
    assert read_token(file, {}).is_in(f"Bearer {SECRET}".encode())
    assert read_token(None, {"WINDLASS_TOKEN": SECRET}).is_in(f"Bearer {SECRET}".encode())
    file.chmod(0o644)
    with pytest.raises(InputError, match="readable by every user"):
        read_token(file, {})
    for bad in ("short", "has blanks in its middle", "ümläut-ümläut-ümläut", ""):
        with pytest.raises(InputError, match="expected at least 16, printable") as error:
            Token(bad)
        assert not bad or bad not in str(error.value)
    with pytest.raises(InputError, match="cannot be read"):
        read_token(tmp_path / "nowhere", {})


def test_subspaces_that_differ_only_in_sign_have_not_moved():
    one = Subspace(np.eye(3)[:, :1], np.array([2.0]))
    assert one.moved(Subspace(-np.eye(3)[:, :1], np.array([2.0]))) == pytest.approx(0.0)

"""Requests to an API server: their content, invalid answers, and lists in pages."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

pytest.importorskip("kubernetes", reason="needs the package kubernetes")

from tests.engines.kubernetes.between import Answer, Between, OneAnswer
from tests.engines.kubernetes.test_mishaps import FAULTS
from tests.engines.kubernetes.things import kubeconfig, node, pod
from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes import server as module
from windlass.engines.kubernetes.server import ApiServer, MissingError, items, refusal
from windlass.engines.kubernetes.system import KubernetesScale
from windlass.model import InputError
from windlass.model.instances import InstanceType

NODES = "/api/v1/nodes"


@pytest.fixture
def upstream():
    return OneAnswer()


@pytest.fixture
def between(upstream):
    with closing(Between(upstream)) as found:
        yield found


@pytest.fixture
def server(between, tmp_path):
    return ApiServer(str(kubeconfig(tmp_path / "config", between.url)))


@pytest.mark.parametrize(
    ("method", "body", "kind"),
    [
        ("GET", None, None),
        ("DELETE", None, None),
        ("POST", {"a": [1]}, "application/json"),
        ("PATCH", {"a": None}, "application/merge-patch+json"),
    ],
)
def test_a_request_has_its_body_its_type_and_the_token(server, upstream, method, body, kind):
    upstream.answer = Answer(200, b'{"kind": "Status"}')
    found = server.get("/a/b?c=d") if method == "GET" else server.send(method, "/a/b?c=d", body)
    assert found == {"kind": "Status"}
    ((requested, path, sent, headers),) = upstream.requested
    assert (requested, path) == (method, "/a/b?c=d")
    assert (json.loads(sent) if sent else None) == body
    assert headers.get("Content-Type") == kind
    assert (headers["Accept"], headers["Authorization"]) == ("application/json", "Bearer secret")


@pytest.mark.matrix
@pytest.mark.parametrize("name", FAULTS)
def test_the_error_of_a_failed_request_is_one_line_without_a_retry(between, server, name):
    fault = FAULTS[name]
    if fault.answer is None:
        between.close()
    else:
        between.before = lambda requested: fault.answer
    try:
        with pytest.raises(ClusterError) as error:
            list(items(server, NODES))
    finally:
        if fault.answer is None:
            between.back()
    assert fault.message in str(error.value)
    assert "\n" not in str(error.value)
    # The engine decides when to retry.
    assert len(between.all) == (fault.answer is not None)


def test_only_a_success_status_is_an_answer(server, upstream):
    for status in (200, 201, 202, 299):
        upstream.answer = Answer(status, b'{"a": 1}')
        assert server.get(NODES) == {"a": 1}
    upstream.answer = Answer(200, b"")
    assert server.send("DELETE", NODES) == {}
    upstream.answer = Answer(300, b'{"message": "elsewhere"}')
    with pytest.raises(ClusterError, match="GET /api/v1/nodes failed with status 300: elsewhere"):
        server.get(f"{NODES}?limit=1")


def test_a_long_answer_is_read_completely(server, upstream):
    upstream.answer = Answer(200, json.dumps({"text": "x" * 300_000}).encode())
    assert len(server.get(NODES)["text"]) == 300_000


@pytest.mark.parametrize(("given", "seconds"), [({}, 30.0), ({"patience": 4.5}, 4.5)])
def test_the_default_timeout_is_30_s(between, tmp_path, monkeypatch, given, seconds):
    server = ApiServer(str(kubeconfig(tmp_path / "config", between.url)), **given)
    seen, call = [], server._opener.open
    monkeypatch.setattr(
        server._opener,
        "open",
        lambda *request, timeout: seen.append(timeout) or call(*request, timeout=timeout),
    )
    server.get(NODES)
    assert seen == [seconds]


def test_a_redirect_does_not_take_the_token_elsewhere(server, upstream, between):
    upstream.answer = Answer(302, b'{"message": "elsewhere"}')
    with pytest.raises(ClusterError, match="failed with status 302: elsewhere"):
        server.get(NODES)
    assert len(between.all) == 1


@pytest.mark.parametrize(("now", "ends"), [(104.5, True), (104.75, False)])
def test_the_timeout_applies_to_the_last_byte(between, tmp_path, monkeypatch, now, ends):
    server = ApiServer(str(kubeconfig(tmp_path / "config", between.url)), patience=4.5)
    times = iter([100.0])

    class Time:
        @staticmethod
        def monotonic():
            return next(times, now)

    monkeypatch.setattr(module, "time", Time)
    if ends:
        assert server.get(NODES) == {"items": []}
    else:
        with pytest.raises(ClusterError, match="does not answer: the response was not complete in time"):
            server.get(NODES)


def test_a_timeout_of_zero_is_rejected(between, tmp_path):
    with pytest.raises(InputError, match="patience is 0"):
        ApiServer(str(kubeconfig(tmp_path / "config", between.url)), patience=0.0)


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (404, b'{"message": "no\\nsuch  pod"}', "GET /p: not found: no such pod"),
        (404, b"", "GET /p: not found"),
        (401, b"", "GET /p: authentication failed: unauthorized"),
        (401, b'{"message": "who?"}', "GET /p: authentication failed: who?"),
        (
            403,
            None,
            "GET /p is forbidden: no reason given; see deploy/kubernetes for the required roles",
        ),
        (
            403,
            b'{"message": "no"}',
            "GET /p is forbidden: no; see deploy/kubernetes for the required roles",
        ),
        (500, b"[1]", "GET /p failed with status 500: no reason given"),
        (409, b'{"message": "changed"}', "GET /p failed with status 409: changed"),
    ],
)
def test_the_error_includes_the_server_s_message(status, body, message):
    found = refusal(status, "GET", "/p", body)
    assert str(found) == message
    assert isinstance(found, MissingError) == (status == 404)


class Pages:
    """A server of lists in pages."""

    def __init__(self, *pages):
        self.pages, self.paths = iter(pages), []

    def get(self, path):
        self.paths.append(path)
        return next(self.pages)


def named(*names):
    return [{"metadata": {"name": name}} for name in names]


@pytest.mark.parametrize(("path", "joint"), [("/list", "?"), ("/list?of=b", "&")])
def test_pages_are_requested_until_the_last(path, joint):
    pages = Pages(
        {"items": named("a", "b"), "metadata": {"continue": "x1"}},
        {"items": [], "metadata": {"continue": "x2"}},
        {"items": named("c"), "metadata": {"continue": ""}},
    )
    assert [each["metadata"]["name"] for each in items(pages, path)] == ["a", "b", "c"]
    first = f"{path}{joint}limit="
    assert all(each.startswith(first) for each in pages.paths)
    assert [each.partition("&continue=")[2] for each in pages.paths] == ["", "x1", "x2"]


@pytest.mark.parametrize("last", [{}, {"metadata": None}, {"metadata": {}}, {"metadata": {"continue": None}}])
def test_a_page_without_a_continuation_is_the_last(last):
    assert len(list(items(Pages({"items": named("a"), **last}), "/list"))) == 1


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ({}, "GET /list: the response is not a list"),
        ({"items": {}}, "GET /list: the response is not a list"),
        (
            {"items": [*named("a"), None]},
            "GET /list: the response lists an item that is not an object with metadata",
        ),
        ({"items": [{}]}, "GET /list: the response lists an item that is not an object with metadata"),
        (
            {"items": [{"metadata": None}]},
            "GET /list: the response lists an item that is not an object with metadata",
        ),
        (
            {"items": [{"metadata": []}, *named("b")]},
            "GET /list: the response lists an item that is not an object with metadata",
        ),
    ],
)
def test_an_answer_that_is_not_a_list_of_objects_is_an_error(page, message):
    with pytest.raises(ClusterError, match=message):
        list(items(Pages(page), "/list"))


class Lists:
    """A server of two lists."""

    def __init__(self, nodes, pods):
        self.lists = {NODES: nodes, "/api/v1/pods": pods}

    def get(self, path):
        return {"items": self.lists[path.partition("?")[0]]}


def test_a_snapshot_counts_nodes_by_label_and_current_age():
    young = node("a", "small", ready=False)
    young["metadata"] |= {"labels": {"pool": "small"}, "creationTimestamp": "2026-01-01T00:00:00Z"}
    lists = Lists([young, node("b", "small")], [pod("waits", "2"), pod("runs", "1", "a")][:1])
    for age, coming in ((899.0, 1), (900.0, 0)):
        now = 1767225600.0 + age
        system = KubernetesScale(
            lists, (InstanceType("small", cores=4),), label="pool", now=lambda now=now: now
        )
        found = system.look()
        assert (found.ready.tolist(), found.coming.tolist(), len(found.waiting)) == ([0], [coming], 1)


def test_an_unparsable_pod_is_a_cluster_error():
    system = KubernetesScale(Lists([], [pod("web", "x")]), (InstanceType("small", cores=4),))
    with pytest.raises(ClusterError, match="pod default/web: container 'main': cpu: 'x' is not a quantity"):
        system.look()

"""Parts of an agent alone: the current answer, metrics, saving and marking."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="the extra `agent` is not installed")
pytest.importorskip("prometheus_client", reason="the extra `agent` is not installed")

from windlass.admit import Admission
from windlass.agent.agent import Saver, of_process, retry_delays
from windlass.agent.envelope import Envelope, EnvelopePart, opened
from windlass.agent.guard import Guard
from windlass.agent.kubernetes import KEY, Marker
from windlass.agent.prometheus import Count, Gauge, LabelledMetric, Page, board_metrics
from windlass.agent.routes import agent_routes
from windlass.agent.signal_board import AdmissionAnswer, Board, StepSignal
from windlass.agent.state_file import Keeper
from windlass.agent.stop import Stop
from windlass.agent.watch import NodeWatch
from windlass.agent.web import Answered, Refusals, WebRequest
from windlass.engines.backoff import Backoff
from windlass.engines.elastic.system import ClusterError
from windlass.engines.linux.telemetry.observer import Observation


def signal(**changed):
    given = {
        "steps": 7, "rejected": 3, "guarded": 2, "now": 1000.0, "reject": False, "why": "well", "score": 0.25,
        "busy": 0.5, "ready": 0.125, "room": 0.8, "metrics": np.array([1.5, math.nan]),
        "projections": np.array([4.0, 5.0]), "singular": np.array([9.0]),
    }  # fmt: skip
    return StepSignal(**{**given, **changed})


def test_the_current_answer_is_returned_until_it_is_stale(clock):
    board = Board(clock, 5.0)
    assert board.age == math.inf
    board.last = signal()
    assert (board.answer(), board.age) == (AdmissionAnswer(True, "well", 80), 0.0)
    for room, percent in ((1.0, 100), (0.994, 99), (0.004, 1), (0.0, 1)):
        board.last = signal(room=room)
        assert board.answer().percent == percent
    board.last = signal(reject=True)
    assert board.answer() == AdmissionAnswer(False, "well", 0)
    clock.now += 5.0
    assert board.answer().why == "well"
    clock.now += 0.5
    assert board.age == 5.5
    assert board.answer().percent == 0
    assert not Board(clock, 5.0).answer().accept


def test_an_agent_is_healthy_while_its_last_step_is_recent(clock):
    board = Board(clock, 5.0)
    answering = agent_routes(board, lambda: Answered(200, b"numbers"))
    assert answering(WebRequest("GET", "/healthz")).status == 503
    board.last = signal(now=995.0, why="two\nlines " + "x" * 600)
    assert answering(WebRequest("HEAD", "/healthz")).status == 200
    found = answering(WebRequest("GET", "/accept"))
    assert (found.status, found.refused) == (200, "")
    assert found.body.startswith(b"accept: two lines xxx")
    assert len(found.body) == len(b"accept: \n") + 500
    assert answering(WebRequest("GET", "/metrics")).body == b"numbers"
    clock.now += 0.25
    assert answering(WebRequest("GET", "/healthz")).body == b"no step for 5 s\n"
    assert answering(WebRequest("GET", "/other")).refused == "path"
    assert answering(WebRequest("POST", "/healthz")).refused == "method"


def test_prometheus_shows_each_number_of_a_step(clock):
    board = Board(clock, 5.0)
    before = {each.name: each for each in board_metrics(board, ("a", "b"))}
    assert set(before) == {"accepting", "weight_percent", "step_age_seconds"}
    board.last = signal(now=998.0)
    found = {each.name: each for each in board_metrics(board, ("a", "b"))}
    gauges = {name: each.value for name, each in found.items() if isinstance(each, Gauge)}
    assert gauges == {
        "accepting": 1.0, "weight_percent": 80.0, "step_age_seconds": 2.0, "score": 0.25, "busy": 0.5,
        "cpu_ready": 0.125,
    }  # fmt: skip
    counts = {name: each.value for name, each in found.items() if isinstance(each, Count)}
    assert counts == {"steps": 7, "rejected_steps": 3, "guarded_steps": 2}
    many = {name: each.values for name, each in found.items() if isinstance(each, LabelledMetric)}
    assert many == {
        "projection": (("0", 4.0), ("1", 5.0)), "singular_value": (("0", 9.0),), "metric": (("a", 1.5),),
    }  # fmt: skip
    page = Page(lambda: found.values()).answer()
    assert page.content == "text/plain; version=0.0.4; charset=utf-8"
    text = page.body.decode().splitlines()
    assert 'windlass_projection{axis="1"} 5.0' in text
    assert "windlass_steps_total 7.0" in text
    assert "# TYPE windlass_cpu_ready gauge" in text


def test_a_process_shows_its_rejected_saved_and_sent_counts():
    refusals = Refusals()
    for why in ("path", "http", "path"):
        refusals.count(why)
    saves, joined = SimpleNamespace(done=4, failed=1), SimpleNamespace(now=True, sent=6, failed=2)
    assert refusals.by_reason() == (("http", 1), ("path", 2))
    alone = list(of_process(refusals, saves, None))
    assert alone[0].values == (("http", 1.0), ("path", 2.0))
    assert alone[0].counts
    assert {each.name: each.value for each in alone[1:]} == {"saves": 4, "failed_saves": 1}
    below = list(of_process(refusals, saves, SimpleNamespace(status=joined)))
    assert {each.name: each.value for each in below[3:]} == {"joined": 1.0, "sent": 6, "failed_joins": 2}
    assert b'windlass_refused_requests_total{why="path"} 2.0' in Page(lambda: alone).answer().body


@pytest.mark.parametrize("limit", [0.5, 0.0])
def test_a_guard_acts_on_the_mean_of_three_steps_until_it_is_below_half(limit):
    guard, last, up = Guard(limit), [], False
    for ready in (0.9, 0.1, 0.5, math.nan, 0.9, 0.1, 0.0, 0.65, 0.0, 0.1, 0.65, 0.75, 0.1):
        found = guard.up(ready)
        if not math.isnan(ready):
            last = [*last, ready][-3:]
            mean = sum(last) / len(last)
            # One step above the limit is not enough.
            up = len(last) > 1 and mean >= (0.25 if up else 0.5)
        assert found == (up and limit > 0.0)
        if limit:
            assert guard.mean == pytest.approx(sum(last) / len(last))
            assert guard.room == pytest.approx(max(0.0, 1.0 - guard.mean / 0.5))
    assert Guard(0.5).mean == 0.0
    assert Guard(limit).room == 1.0
    exact = Guard(0.5)
    assert [exact.up(each) for each in (0.5, 0.5, 0.5, 0.25, 0.0, 0.5, 0.0)] == [
        False, True, True, True, True, True, False,
    ]  # fmt: skip


class RecordingNode:
    """A node whose answer the test sets; it records its calls."""

    is_new = False
    projections = np.array([2.0])
    singular = np.array([3.0])

    def __init__(self):
        self.policy, self.done, self.views = self, [], []
        self.reject, self.lessons = False, 0

    def decide(self, view):
        self.views.append(view)
        return Admission(np.bool_(self.reject), "told so", 0.75)

    def gap(self):
        self.done.append("gap")

    def learned(self):
        self.lessons += 1
        return self.lessons

    def start(self, learned):
        self.done.append(learned)


def observed(seconds=1.0, busy=0.5, ready=0.0, at=5.0):
    return Observation(at, seconds, np.array([1.0, 2.0]), busy, ready)


def test_a_step_is_decided_counted_and_shown(clock):
    node, board = RecordingNode(), Board(clock, 5.0)
    watching = NodeWatch(node, Guard(0.5), board, 2.0, clock)
    for reject, ready, expected in (
        (False, 0.0, (1, 0, 0)), (True, 0.0, (2, 1, 0)), (True, 2.0, (3, 2, 0)), (False, 2.0, (4, 3, 1)),
        (False, 0.0, (5, 4, 2)),
    ):  # fmt: skip
        node.reject = reject
        watching.take(observed(ready=ready))
        last = board.last
        assert (last.steps, last.rejected, last.guarded) == expected
        assert last.reject == (reject or expected[2] > 0)
        assert last.why == ("told so" if expected[2] == 0 else last.why)
        assert (last.score, last.busy, last.ready, last.now) == (0.75, 0.5, ready, 1000.0)
        assert last.projections.tolist() == [2.0]
        assert last.singular.tolist() == [3.0]
        assert last.room == watching.guard.room
    assert board.last.why.startswith("CPU Ready is 1.33, the guard's limit 0.5")
    view = node.views[0]
    assert (view.now, view.metrics.tolist(), view.busy, view.ready) == (5.0, [1.0, 2.0], 0.5, 0.0)
    for busy, shown in ((1.25, 1.0), (math.nan, math.nan), (math.inf, math.nan), (0.25, 0.25)):
        watching.take(observed(busy=busy))
        assert board.last.busy == pytest.approx(shown, nan_ok=True)
    # A step of at most five times its length is late; a longer one is a gap.
    watching.take(observed(seconds=10.0))
    assert node.done == []
    watching.take(observed(seconds=10.1))
    assert node.done == ["gap"]


def test_learned_state_is_read_with_each_block_and_given_once(clock):
    node = RecordingNode()
    watching = NodeWatch(node, Guard(0.5), Board(clock, 5.0), 1.0, clock)
    assert watching.learned == 1
    for step in range(1, 45):
        watching.take(observed())
        assert watching.learned == 1 + step // 20
    watching.given = "lesson"
    watching.take(observed())
    assert (watching.given, node.done) == (None, [])
    node.is_new = True
    watching.given = "lesson"
    watching.take(observed())
    watching.take(observed())
    assert node.done == ["lesson"]


def test_saving_is_periodic_and_a_failure_is_reported(clock, tmp_path):
    envelope, lines = Envelope("agent", "p", "m", (EnvelopePart("node", b"abc"),)), []
    made = [envelope]
    saver = Saver(Keeper(tmp_path / "state"), 60.0, lambda: made[0], clock, lines.append)
    assert not saver.look()
    clock.now += 59.9
    assert not saver.look()
    clock.now += 0.1
    assert saver.look()
    assert opened((tmp_path / "state").read_bytes()) == envelope
    assert not saver.look()
    assert saver.look(True)
    clock.now += 59.0
    assert not saver.look()
    clock.now += 1.0
    made[0] = None
    assert not saver.look()
    assert (saver.saves.done, saver.saves.failed) == (2, 0)
    broken = Saver(Keeper(tmp_path / "nowhere" / "state"), 60.0, lambda: envelope, clock, lines.append)
    assert not broken.look(True)
    assert (broken.saves.done, broken.saves.failed, len(lines)) == (0, 1, 1)
    # The next attempt is after the same interval as after a success.
    clock.now += 59.0
    assert not broken.look()
    assert len(lines) == 1
    assert not Saver(Keeper(None), 0.001, lambda: envelope, clock, lines.append).look(True)


class Cluster:
    """A cluster that records changes of its nodes."""

    def __init__(self, taints=None):
        self.spec, self.changes, self.failing = {"taints": taints}, [], False

    def get(self, path):
        return {"spec": self.spec, "metadata": {"resourceVersion": "7"}}

    def send(self, method, path, change):
        assert method == "PATCH"
        if self.failing:
            raise ClusterError("away")
        self.changes.append((path, json.loads(json.dumps(change))))
        self.spec |= change.get("spec", {})


@pytest.mark.parametrize("by", ["label", "taint"])
def test_marks_are_changed_at_least_ten_seconds_apart(clock, by):
    accept, lines = [True], []
    other = {"key": "other", "effect": "NoExecute"}
    cluster = Cluster([other])
    marker = Marker(
        cluster,
        "n1",
        by,
        lambda: AdmissionAnswer(accept[0], "", 1),
        clock,
        Backoff(1.0, 300.0, np.random.default_rng(1)),
        lines.append,
    )
    assert marker.step() == 1.0
    assert marker.marked is False
    cluster.changes.clear()
    accept[0] = False
    clock.now += 9.9
    assert marker.step() == 1.0
    assert cluster.changes == []
    clock.now += 0.1
    assert marker.step() == 1.0
    (path, change) = cluster.changes[0]
    assert path == "/api/v1/nodes/n1"
    own = {"key": KEY, "value": "false", "effect": "NoSchedule"}
    assert change == (
        {"metadata": {"labels": {KEY: "false"}}}
        if by == "label"
        else {"metadata": {"resourceVersion": "7"}, "spec": {"taints": [other, own]}}
    )
    accept[0], cluster.failing = True, True
    clock.now += 10.0
    assert 0.5 <= marker.step() <= 1.0
    assert 1.0 <= marker.step() <= 2.0
    assert (marker.failed, marker.marked, lines) == (2, None, ["away"] * 2)
    cluster.failing = False
    assert marker.step() == 1.0
    assert marker.marked is False
    if by == "taint":
        assert cluster.spec["taints"] == [other]
    else:
        assert cluster.changes[-1][1] == {"metadata": {"labels": {KEY: None}}}
    # A success resets the failure count.
    accept[0], cluster.failing = False, True
    clock.now += 10.0
    assert 0.5 <= marker.step() <= 1.0


@pytest.mark.parametrize("by", ["label", "taint"])
@pytest.mark.parametrize("stopped", [False, True])
def test_a_mark_whose_reply_was_lost_is_removed(clock, by, stopped):
    """The server has made the change, but the request failed."""
    accept, lost = [False], [True]

    class Losing(Cluster):
        def send(self, method, path, change):
            super().send(method, path, change)
            if lost.pop() if lost else False:
                raise ClusterError("no reply within 10 s")

    cluster = Losing([])
    answer = lambda: AdmissionAnswer(accept[0], "", 1)  # noqa: E731
    backoff = Backoff(1.0, 300.0, np.random.default_rng(1))
    marker = Marker(cluster, "n1", by, answer, clock, backoff, lambda line: None)
    marker.step()
    accept[0] = True
    clock.now += 20.0
    if stopped:
        stop = Stop()
        stop.notify()
        # The first of its requests is lost as well.
        lost.append(True)
        marker.run(stop)
    else:
        marker.step()
    assert marker.marked is False
    last = cluster.changes[-1][1]
    assert not cluster.spec["taints"] if by == "taint" else last == {"metadata": {"labels": {KEY: None}}}


def test_an_agent_stopped_at_once_removes_a_mark_left_by_another(clock):
    own = {"key": KEY, "value": "false", "effect": "NoSchedule"}
    cluster, stop, lines = Cluster([own]), Stop(), []
    stop.notify()
    marker = Marker(
        cluster,
        "n1",
        "taint",
        lambda: AdmissionAnswer(True, "", 1),
        clock,
        Backoff(1.0, 300.0, np.random.default_rng(1)),
        lines.append,
    )
    marker.run(stop)
    assert cluster.spec["taints"] == []
    cluster.changes.clear()
    marker.run(stop)
    assert cluster.changes == []
    cluster.failing, marker.marked, cluster.spec["taints"] = True, True, [own]
    marker.run(stop)
    assert lines == ["/api/v1/nodes/n1: the mark cannot be removed: away"]


def test_retry_delays_double_up_to_five_minutes():
    delays = retry_delays(np.random.default_rng(1))
    most = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    assert all(0.5 * each <= delays.delay(failed) <= each for failed, each in enumerate(most, start=1))


def test_each_part_draws_its_own_delays():
    rng = np.random.default_rng(1)
    assert retry_delays(rng).delay(1) != retry_delays(rng).delay(1)

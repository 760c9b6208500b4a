"""The engine of streams in virtual time, under every failure: no query stops without a report."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.engines.streams.cases import CAMERA, CLOUD, PRIVATE, TIERS, feed
from tests.engines.streams.fake import FakeStreams
from windlass.drive import drive
from windlass.engines.streams.chain_lifecycle import Patience
from windlass.engines.streams.engine import LiveStreams
from windlass.model import PolicyError
from windlass.plan import POLICIES
from windlass.plan.view import Plan

FAIR = POLICIES.make("fair", np.random.default_rng(1))
QUICK = Patience(start=10.0, quiet=10.0)


class Watched(LiveStreams):
    """An engine that checks its invariants after each step."""

    def wait(self):
        decision = super().wait()
        self.check()
        return decision

    def act(self, decision, answer):
        super().act(decision, answer)
        self.check(settled=True)

    def check(self, settled=False):
        executor = self._executor
        for life in self.lives:
            assert life.settled or math.isfinite(life.rests) or self._upon or not settled
            if life.entry.choice >= 0 and not self._upon:
                assert life.plays or life.starts or math.isfinite(life.rests), "stopped without a report"
        held = {chain.key for life in self.lives for chain in life.chains()}
        assert set(executor.chains) <= held, "an unknown chain runs"


def run(executor, feeds, seconds, policy=FAIR, queries_at=None, lines=None):
    engine = Watched(
        TIERS,
        queries_at or (lambda now: feeds),
        executor,
        lambda feed, found: len(found) / feed.frames,
        seconds=seconds,
        patience=QUICK,
        notify=(lines if lines is not None else []).append,
    )
    views = []
    result = drive(engine, {"plan": policy}, lambda decision, view, answer: views.append((view, answer)))
    assert executor.closed == 1
    return result, engine, views


def test_planned_queries_run_and_are_measured():
    feeds = [feed("a"), feed("b")]
    result, engine, views = run(FakeStreams(TIERS), feeds, 21.0)
    assert len(views) == len(result.decisions) == 1
    assert [life.state for life in engine.lives] == ["plays", "plays"]
    first, *others = [each for each in result.playings if each.query == "a"]
    # It takes a second to start: no chain plays frames 0 to 2.
    assert (first.number, first.missed, first.undisturbed, first.accuracy) == (0, 3, False, 0.7)
    assert [each.number for each in others] == [1, 2, 3]
    for each in others:
        assert each.undisturbed
        assert (each.missed, each.accuracy) == (0, 1.0)
        assert each.planned == engine.lives[0].entry.options.accuracy[engine.lives[0].entry.choice]
        assert each.late == pytest.approx(0.1)


def test_a_chain_places_each_component_as_planned():
    executor = FakeStreams(TIERS, per=2)
    _, engine, _ = run(executor, [feed("a"), feed("b")], 5.0)
    for (_, order), life in zip(executor.launched, engine.lives, strict=True):
        options, choice = life.entry.options, life.entry.choice
        where = {
            at: segment.cluster for segment in order.segments for at in range(segment.first, segment.last)
        }
        assert [where[at] for at in range(len(where))] == options.place[choice].tolist()
        assert order.segments[0].cluster == CAMERA
        for segment in order.segments:
            assert executor.living[segment.node].cluster == segment.cluster
    # Two nodes per cluster, two queries: the components of each query have their own node.
    nodes = [
        {part.node for part in order.segments if part.last > part.first} for _, order in executor.launched
    ]
    assert not nodes[0] & nodes[1]


def test_after_a_node_dies_a_new_plan_uses_the_rest_and_reports_the_cause():
    lines = []
    executor = FakeStreams(TIERS, [(12.2, "dies", CLOUD)])
    result, engine, views = run(executor, [feed("a"), feed("b")], 40.0, lines=lines)
    before, after = views
    cores = TIERS.resources.index("cloud.cores")
    assert (before[0].capacity[cores], after[0].capacity[cores]) == (8.0, 0.0)
    assert result.decisions[1].upon == ("node cloud-node lost",)
    assert result.decisions[1].noticed == pytest.approx(13.2)
    assert any("node cloud-node lost" in line for line in lines)
    for life in engine.lives:
        assert CLOUD not in life.entry.options.place[life.entry.choice]
        assert life.state == "plays"
    torn = [each.number for each in result.playings if not each.undisturbed and each.number > 0]
    assert torn == [2, 2]
    assert all(each.missed == 0 for each in result.playings if each.undisturbed)


def test_a_query_without_its_camera_is_reported_and_resumes_when_it_is_back():
    lines = []
    executor = FakeStreams(TIERS, [(10.0, "dies", CAMERA), (20.0, "comes", CAMERA)])
    result, engine, views = run(executor, [feed("a")], 40.0, lines=lines)
    assert [decided.lines for decided in result.decisions][1] == (
        "a: cannot run (no living node at its camera camera)",
    )
    assert len(views) == 2, "the policy is not called if nothing can run"
    assert engine.lives[0].state == "plays"
    whole = [each.number for each in result.playings if each.undisturbed]
    assert whole == [1, 5, 6, 7]


def test_added_and_removed_queries_are_planned_and_stopped():
    def queries_at(now):
        return [feed("a"), *([feed("b")] if 10.0 <= now < 20.0 else [])]

    executor = FakeStreams(TIERS)
    result, engine, _ = run(executor, None, 40.0, queries_at=queries_at)
    assert [decided.upon for decided in result.decisions] == [
        ("query a added",),
        ("query b added",),
        ("query b removed",),
    ]
    assert [life.entry.name for life in engine.lives] == ["a"]
    # Chains take over between two playings: no playing of `a` is interrupted, and no frame is missed.
    own = [each for each in result.playings if each.query == "a"]
    assert all(each.undisturbed and each.missed == 0 for each in own[1:])
    assert len({each.planned for each in own}) == 2


class Fixed:
    name = "fixed"

    def __init__(self, choices, merged=False):
        self.choices = choices

    def decide(self, view):
        return Plan(tuple(self.choices[: len(view.queries)]), ("so",) * len(view.queries))


def test_no_chain_of_an_infeasible_plan_is_started():
    executor = FakeStreams(TIERS)
    everything_at_the_camera = [12, 12]
    with pytest.raises(PolicyError, match=r"'fixed' camera\.cores: .*capacity is 1"):
        run(executor, [feed("a"), feed("b")], 5.0, policy=Fixed(everything_at_the_camera))
    assert executor.launched == []
    assert executor.closed == 1


def test_a_query_that_the_policy_leaves_out_is_reported():
    lines = []
    _, engine, _ = run(FakeStreams(TIERS), [feed("a")], 5.0, policy=Fixed([-1]), lines=lines)
    assert any("a: cannot run (so)" in line for line in lines)
    assert engine.lives[0].state == "cannot run"


def test_a_repeatedly_failing_chain_is_restarted_with_backoff():
    # It fails half a second after each start, forever.
    executor = FakeStreams(TIERS, [(0.5 + 0.25 * at, "fails", 0) for at in range(400)], start_s=100.0)
    run(executor, [feed("a")], 100.0)
    times = [at for at, _ in executor.launched]
    gaps = np.diff(times)
    assert gaps[:4] == pytest.approx([0.5 + 0.5, 0.25 + 1.0, 0.25 + 2.0, 0.25 + 4.0], abs=0.3)
    assert gaps.max() <= QUICK.longest_rest + 0.5
    assert len(times) < 12


@pytest.mark.parametrize(
    ("what", "why"), [("hangs", "was not ready within 10 s"), ("silences", "no frame for 10 s")]
)
def test_a_hanging_or_silent_chain_is_restarted(what, why):
    lines = []
    executor = FakeStreams(TIERS, [(0.0 if what == "hangs" else 5.0, what, 0)])
    _, engine, _ = run(executor, [feed("a")], 60.0, lines=lines)
    assert any(why in line for line in lines)
    assert engine.lives[0].state == "plays"
    assert len(executor.launched) > 1


MISHAPS = st.lists(
    st.one_of(
        st.tuples(
            st.floats(0.0, 60.0),
            st.sampled_from(["dies", "comes"]),
            st.sampled_from([CAMERA, PRIVATE, CLOUD]),
        ),
        st.tuples(st.floats(0.0, 60.0), st.sampled_from(["fails", "hangs", "silences"]), st.integers(0, 5)),
    ),
    max_size=8,
)


@settings(max_examples=150, deadline=None)
@given(
    mishaps=MISHAPS,
    per=st.integers(1, 2),
    start_s=st.sampled_from([0.0, 0.7, 3.0]),
    notice=st.sampled_from([0.0, 1.3]),
    spans=st.lists(st.tuples(st.floats(0.0, 50.0), st.floats(0.0, 100.0)), min_size=1, max_size=4),
)
@example(
    mishaps=[(0.5, "dies", PRIVATE), (0.6, "dies", CLOUD)],
    per=1,
    start_s=0.7,
    notice=0.0,
    spans=[(0.0, 100.0)],
)
@example(
    mishaps=[(0.5, "dies", PRIVATE), (0.6, "dies", CLOUD)],
    per=1,
    start_s=0.7,
    notice=0.0,
    spans=[(0.0, 100.0)] * 3,
)
def test_no_query_stops_without_a_report(mishaps, per, start_s, notice, spans):
    """After any failures in the first minute, all feasible queries play soon, and all others report the reason."""
    executor = FakeStreams(TIERS, mishaps, per, start_s, notice=notice)
    feeds = [feed(f"q{at}") for at in range(len(spans))]

    def queries_at(now):
        return [
            one for one, (come, go) in zip(feeds, spans, strict=True) if come <= now and not come < go <= now
        ]

    result, engine, _ = run(executor, None, 150.0, queries_at=queries_at)
    assert {life.entry.name for life in engine.lives} == {one.query.name for one in queries_at(150.0)}
    able = [life for life in engine.lives if len(engine.book.possible(life.entry))]
    for life in engine.lives:
        possible = engine.book.possible(life.entry)
        # A query that could run alone may need more than its part of the rest.
        fits = life.entry.options.demand[possible] * len(able) <= engine.book.capacity() + 1e-9
        assert life.state == ("plays" if fits.all(1).any() else "cannot run"), life.entry.summary
        if life.state == "plays":
            assert life.entry.choice in possible
            assert life.plays.choice == life.entry.choice
            assert executor.sound(life.plays.key)
            assert executor.time - life.plays.last_frame_at < 2.0
    # Every change of nodes led to a plan with the new nodes.
    assert set(engine.book.nodes) == set(executor.living)
    for each in result.playings:
        assert not each.undisturbed or each.planned > 0
        assert 0 <= each.missed <= 10
        assert each.accuracy == pytest.approx(1.0 - each.missed / 10)


def test_a_plan_that_takes_longer_than_the_patience_stops_no_chain():
    """The frames of the chains that play came meanwhile, and are taken before their silence is judged."""
    executor, lines = FakeStreams(TIERS), []

    class Slow:
        name = "slow"

        def decide(self, view):
            answer = FAIR.decide(view)
            executor.time += 0.0 if len(view.queries) < 3 else 2.0 * QUICK.quiet
            return answer

    feeds = [feed("a"), feed("b"), feed("c")]
    result, _, _ = run(executor, feeds, 200.0, Slow(), lambda now: feeds[: 2 + (now > 100.0)], lines)
    assert result.failures == 0
    assert not any("no frame" in line for line in lines)


def test_a_run_without_an_end_keeps_the_last_playings_only():
    for seconds, most in ((100.0, None), (math.inf, 10_000)):
        engine = LiveStreams(
            TIERS, lambda now: [], FakeStreams(TIERS), lambda feed, found: 1.0, seconds=seconds
        )
        assert (engine._judged.maxlen, engine._decisions.maxlen) == (most, most)

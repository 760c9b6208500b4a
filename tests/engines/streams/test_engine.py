"""The engine of streams in virtual time, under every mishap: no query is dead and nobody knows."""

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
    """Checks after each step what must always hold."""

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
                assert life.plays or life.starts or math.isfinite(life.rests), "dead, and nobody knows"
        held = {chain.key for life in self.lives for chain in life.chains()}
        assert set(executor.chains) <= held, "a chain runs that nobody knows of"


def run(executor, feeds, seconds, policy=FAIR, asked=None, said=None):
    engine = Watched(
        TIERS,
        asked or (lambda now: feeds),
        executor,
        lambda feed, found: len(found) / feed.frames,
        seconds=seconds,
        patience=QUICK,
        notify=(said if said is not None else []).append,
    )
    views = []
    result = drive(engine, {"plan": policy}, lambda decision, view, answer: views.append((view, answer)))
    assert executor.closed == 1
    return result, engine, views


def test_what_is_planned_runs_and_is_measured():
    feeds = [feed("a"), feed("b")]
    result, engine, views = run(FakeStreams(TIERS), feeds, 21.0)
    assert len(views) == len(result.decisions) == 1
    assert [life.state for life in engine.lives] == ["plays", "plays"]
    first, *others = [each for each in result.playings if each.query == "a"]
    # It takes a second to start: frames 0 to 2 are nobody's.
    assert (first.number, first.missed, first.undisturbed, first.accuracy) == (0, 3, False, 0.7)
    assert [each.number for each in others] == [1, 2, 3]
    for each in others:
        assert each.undisturbed
        assert (each.missed, each.accuracy) == (0, 1.0)
        assert each.planned == engine.lives[0].entry.options.accuracy[engine.lives[0].entry.choice]
        assert each.late == pytest.approx(0.1)


def test_a_chain_holds_each_component_where_it_is_planned():
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
    # Two nodes a cluster, two queries: components of each have a node of their own.
    nodes = [
        {part.node for part in order.segments if part.last > part.first} for _, order in executor.launched
    ]
    assert not nodes[0] & nodes[1]


def test_when_a_node_dies_a_new_plan_uses_what_is_left_and_says_why():
    said = []
    executor = FakeStreams(TIERS, [(12.2, "dies", CLOUD)])
    result, engine, views = run(executor, [feed("a"), feed("b")], 40.0, said=said)
    before, after = views
    cores = TIERS.resources.index("cloud.cores")
    assert (before[0].capacity[cores], after[0].capacity[cores]) == (8.0, 0.0)
    assert result.decisions[1].upon == ("node cloud-node lost",)
    assert result.decisions[1].noticed == pytest.approx(13.2)
    assert any("node cloud-node lost" in line for line in said)
    for life in engine.lives:
        assert CLOUD not in life.entry.options.place[life.entry.choice]
        assert life.state == "plays"
    torn = [each.number for each in result.playings if not each.undisturbed and each.number > 0]
    assert torn == [2, 2]
    assert all(each.missed == 0 for each in result.playings if each.undisturbed)


def test_a_query_whose_camera_died_says_so_and_plays_again_when_it_is_back():
    said = []
    executor = FakeStreams(TIERS, [(10.0, "dies", CAMERA), (20.0, "comes", CAMERA)])
    result, engine, views = run(executor, [feed("a")], 40.0, said=said)
    assert [decided.lines for decided in result.decisions][1] == (
        "a: cannot run (no living node at its camera camera)",
    )
    assert len(views) == 2, "nobody is asked where nothing can run"
    assert engine.lives[0].state == "plays"
    whole = [each.number for each in result.playings if each.undisturbed]
    assert whole == [1, 5, 6, 7]


def test_queries_come_and_go():
    def asked(now):
        return [feed("a"), *([feed("b")] if 10.0 <= now < 20.0 else [])]

    executor = FakeStreams(TIERS)
    result, engine, _ = run(executor, None, 40.0, asked=asked)
    assert [decided.upon for decided in result.decisions] == [
        ("query a added",),
        ("query b added",),
        ("query b removed",),
    ]
    assert [life.entry.name for life in engine.lives] == ["a"]
    # One chain takes over from another between two playings: of `a`, none is torn, and nothing is missed.
    own = [each for each in result.playings if each.query == "a"]
    assert all(each.undisturbed and each.missed == 0 for each in own[1:])
    assert len({each.planned for each in own}) == 2


class Fixed:
    name = "fixed"

    def __init__(self, choices, merged=False):
        self.choices = choices

    def decide(self, view):
        return Plan(tuple(self.choices[: len(view.queries)]), ("so",) * len(view.queries))


def test_nothing_of_a_plan_that_cannot_be_carried_out_is_begun():
    executor = FakeStreams(TIERS)
    everything_at_the_camera = [12, 12]
    with pytest.raises(PolicyError, match=r"'fixed' camera\.cores: .*capacity is 1"):
        run(executor, [feed("a"), feed("b")], 5.0, policy=Fixed(everything_at_the_camera))
    assert executor.launched == []
    assert executor.closed == 1


def test_a_query_that_the_policy_leaves_out_is_said_to_be():
    said = []
    _, engine, _ = run(FakeStreams(TIERS), [feed("a")], 5.0, policy=Fixed([-1]), said=said)
    assert any("a: cannot run (so)" in line for line in said)
    assert engine.lives[0].state == "cannot run"


def test_a_chain_that_fails_again_and_again_is_started_less_and_less_often():
    # It fails half a second after each start, for ever.
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
def test_what_hangs_or_falls_silent_is_started_again(what, why):
    said = []
    executor = FakeStreams(TIERS, [(0.0 if what == "hangs" else 5.0, what, 0)])
    _, engine, _ = run(executor, [feed("a")], 60.0, said=said)
    assert any(why in line for line in said)
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
def test_no_query_dies_in_silence(mishaps, per, start_s, notice, spans):
    """Whatever happens in the first minute, soon afterwards all that can run plays, and all else says why not."""
    executor = FakeStreams(TIERS, mishaps, per, start_s, notice=notice)
    feeds = [feed(f"q{at}") for at in range(len(spans))]

    def asked(now):
        return [
            one for one, (come, go) in zip(feeds, spans, strict=True) if come <= now and not come < go <= now
        ]

    result, engine, _ = run(executor, None, 150.0, asked=asked)
    assert {life.entry.name for life in engine.lives} == {one.query.name for one in asked(150.0)}
    able = [life for life in engine.lives if len(engine.book.possible(life.entry))]
    for life in engine.lives:
        possible = engine.book.possible(life.entry)
        # Who could run alone may need more than his part of what is left.
        fits = life.entry.options.demand[possible] * len(able) <= engine.book.capacity() + 1e-9
        assert life.state == ("plays" if fits.all(1).any() else "cannot run"), life.entry.summary
        if life.state == "plays":
            assert life.entry.choice in possible
            assert life.plays.choice == life.entry.choice
            assert executor.sound(life.plays.key)
            assert executor.time - life.plays.last_frame_at < 2.0
    # Every change of nodes brought a plan that knows of it.
    assert set(engine.book.nodes) == set(executor.living)
    for each in result.playings:
        assert not each.undisturbed or each.planned > 0
        assert 0 <= each.missed <= 10
        assert each.accuracy == pytest.approx(1.0 - each.missed / 10)

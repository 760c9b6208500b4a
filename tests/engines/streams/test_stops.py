"""Each abandoned chain is stopped on the executor exactly once."""

import pytest

from tests.engines.streams.cases import CAMERA, CLOUD, TIERS, feed
from tests.engines.streams.test_decided import QUICK, Chosen, Scripted, _furthest_up
from windlass.drive import drive
from windlass.engines.streams.engine import LiveStreams
from windlass.engines.streams.executor import ChainReady, NodeCame, NodeGone, StreamNode


def orders_of(*events, seconds=5.0, policy=None, queries_at=None):
    executor = Scripted(*events)
    if policy is None:
        policy = Chosen(0)
        policy.decide = _furthest_up
    engine = LiveStreams(
        TIERS, queries_at or (lambda now: [feed("a"), feed("b")]), executor, lambda own, found: 0.0, seconds=seconds,
        patience=QUICK,
    )  # fmt: skip
    drive(engine, {"plan": policy})
    return [
        (name, *(each.key if name == "launch" else each for each in given[:1]))
        for name, *given in executor.orders
    ]


STARTED = [("launch", 0), ("launch", 1)]


@pytest.mark.parametrize("gone", [CAMERA, CLOUD])
@pytest.mark.parametrize("plays", [True, False])
def test_chains_with_a_part_on_a_lost_node_are_stopped(gone, plays):
    ready = [(1.0, ChainReady(0)), (1.0, ChainReady(1))] if plays else []
    found = orders_of(*ready, (2.0, NodeGone(gone)))
    played = [("play", 0), ("play", 1)] if plays else []
    again = [] if gone == CAMERA else [("launch", 2), ("launch", 3)]
    assert found == [*STARTED, *played, ("stop", 0), ("stop", 1), *again, ("close",)]


def test_chains_without_a_part_on_a_lost_node_continue():
    found = orders_of((1.0, NodeCame(StreamNode(50, CLOUD, 1.0, "more"))), (2.0, NodeGone(50)))
    assert found == [*STARTED, ("close",)]


def test_all_chains_of_a_removed_query_are_stopped():
    def queries_at(now):
        return [feed("a")] if now < 2.5 else []

    more = NodeCame(StreamNode(50, CLOUD, 1.0, "more"))
    found = orders_of((1.0, ChainReady(0)), (2.0, more), policy=Chosen(0, 1), queries_at=queries_at)
    assert found == [("launch", 0), ("play", 0), ("launch", 1), ("stop", 0), ("stop", 1), ("close",)]


def test_a_chain_that_is_not_ready_in_time_is_stopped_before_another_is_launched():
    found = orders_of(seconds=7.5, queries_at=lambda now: [feed("a")])
    assert found == [("launch", 0), ("stop", 0), ("launch", 1), ("close",)]

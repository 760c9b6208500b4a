"""Each chain that is given up is stopped on the executor, once, by an executor that stops nothing by itself."""

import pytest

from tests.engines.streams.cases import CAMERA, CLOUD, TIERS, feed
from tests.engines.streams.test_decided import QUICK, Chosen, Scripted, _furthest_up
from windlass.drive import drive
from windlass.engines.streams.engine import LiveStreams
from windlass.engines.streams.executor import ChainReady, NodeCame, NodeGone, StreamNode


def orders_of(*events, seconds=5.0, policy=None, asked=None):
    executor = Scripted(*events)
    if policy is None:
        policy = Chosen(0)
        policy.decide = _furthest_up
    engine = LiveStreams(
        TIERS, asked or (lambda now: [feed("a"), feed("b")]), executor, lambda own, found: 0.0, seconds=seconds,
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
def test_chains_with_a_part_on_a_node_that_is_gone_are_stopped(gone, plays):
    ready = [(1.0, ChainReady(0)), (1.0, ChainReady(1))] if plays else []
    found = orders_of(*ready, (2.0, NodeGone(gone)))
    played = [("play", 0), ("play", 1)] if plays else []
    again = [] if gone == CAMERA else [("launch", 2), ("launch", 3)]
    assert found == [*STARTED, *played, ("stop", 0), ("stop", 1), *again, ("close",)]


def test_chains_without_a_part_on_a_node_that_is_gone_go_on():
    found = orders_of((1.0, NodeCame(StreamNode(50, CLOUD, 1.0, "more"))), (2.0, NodeGone(50)))
    assert found == [*STARTED, ("close",)]


def test_all_chains_of_a_query_that_goes_are_stopped():
    def asked(now):
        return [feed("a")] if now < 2.5 else []

    more = NodeCame(StreamNode(50, CLOUD, 1.0, "more"))
    found = orders_of((1.0, ChainReady(0)), (2.0, more), policy=Chosen(0, 1), asked=asked)
    assert found == [("launch", 0), ("play", 0), ("launch", 1), ("stop", 0), ("stop", 1), ("close",)]


def test_a_chain_that_is_not_ready_in_time_is_stopped_before_another_is_launched():
    found = orders_of(seconds=7.5, asked=lambda now: [feed("a")])
    assert found == [("launch", 0), ("stop", 0), ("launch", 1), ("close",)]

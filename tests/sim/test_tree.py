"""The winner tree of completions without pending ones: the winner of a node is the first worker below it."""

from __future__ import annotations

import pytest

from windlass.sim.events.tree import make_tree, next_time


@pytest.mark.parametrize("workers", [1, 2, 3, 5, 8, 9, 63, 64, 65, 1000])
def test_each_node_has_the_first_worker_below_it(workers: int) -> None:
    tree = make_tree(workers)
    leaves = len(tree.winner) // 2
    for node in range(1, 2 * leaves):
        leaf = node
        while leaf < leaves:
            leaf *= 2
        assert tree.winner[node] == leaf - leaves
    assert leaves >= workers
    assert next_time(tree) == float("inf")

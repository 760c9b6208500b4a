"""Every state of the model of the driver: no rule is broken, and from each state the queue settles."""

import pytest

from tests.adversary.model import explore, stuck


@pytest.mark.parametrize(
    ("jobs", "states"), [(1, 152), (2, None), pytest.param(3, None, marks=pytest.mark.slow)]
)
def test_no_rule_is_broken_and_the_queue_settles(jobs, states):
    graph, rule, path = explore(jobs)
    assert rule == "", path
    assert stuck(graph) == set()
    assert states in (None, len(graph))
    # Users, Slurm, kills and lost answers all occur.
    names = {name for found in graph.values() for name, _ in found}
    assert names >= {"kill", "command, unanswered", "user holds", "slurm starts", "stop", "end"}


@pytest.mark.parametrize(
    ("bug", "rule"),
    [
        ("journals no release", "journaled first"),
        ("journals no confirmation", "holds kept"),
        ("forgets confirmations", "holds kept"),
    ],
)
def test_a_bug_breaks_a_rule(bug, rule):
    _, found, path = explore(2, bug)
    assert found == rule
    assert path[-1] == "command"


def test_a_release_that_may_not_have_been_made_must_be_made_again():
    graph, rule, _ = explore(1, "takes each release for confirmed")
    assert rule == ""
    assert any(job.hold == "windlass" for state in stuck(graph) for job in state.jobs)

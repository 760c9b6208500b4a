"""Which replicas Serve may probe when none has room, without a running Serve."""

from types import SimpleNamespace

import pytest

pytest.importorskip("ray.serve", reason="Ray Serve is not installed (the extra `ray`)")

from windlass.engines.serve.router import LearningRouter


@pytest.mark.parametrize(
    ("lengths", "allowed", "probed"),
    [
        ({"a": 5, "b": 5, "c": 0}, {"a", "b"}, ["a", "b"]),
        # By now one of them has room: it is known to be full no longer.
        ({"a": 4, "b": 5, "c": 0}, {"a", "b"}, ["b"]),
        # No queue is known to be full: the ejected one, which is idle, must not be among them.
        ({"a": 4, "b": None, "c": 0}, {"a", "b"}, ["a", "b"]),
        # All of those that are allowed have gone.
        ({"a": 4, "c": 5}, {"b"}, ["c"]),
        # The policy failed, or is being loaded.
        ({"a": 4, "b": 4, "c": 0}, None, ["a", "b", "c"]),
    ],
)
def test_an_ejected_replica_is_not_probed_when_none_has_room(lengths, allowed, probed):
    candidates = [SimpleNamespace(replica_id=one, max_ongoing_requests=5) for one in lengths]
    router = SimpleNamespace(_guarded=lambda act: allowed, replica_queue_len_cache=lengths)
    assert [one.replica_id for one in LearningRouter._full(router, candidates)] == probed

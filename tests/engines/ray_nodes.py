"""A node provider for Ray's autoscaler: raylets on this machine, configured by this module's name."""

from ray.autoscaler._private.fake_multi_node.node_provider import FakeMultiNodeProvider


class Nodes(FakeMultiNodeProvider):
    """Ray's fake provider under a name that a configuration may give."""

"""Nodes for Ray's own autoscaler, which are raylets on this machine; named in its configuration by this module."""

from ray.autoscaler._private.fake_multi_node.node_provider import FakeMultiNodeProvider


class Nodes(FakeMultiNodeProvider):
    """As Ray's, under a name that a configuration may give."""

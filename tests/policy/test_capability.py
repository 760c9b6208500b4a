"""What a policy can do: :func:`capability` agrees with Python's own check."""

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

from windlass.policy.registry import capability, decisions


def runtime_protocols(base: Any = Protocol) -> Iterator[type]:
    for each in base.__subclasses__():
        if each.__module__.startswith("windlass.") and getattr(each, "_is_runtime_protocol", False):
            yield each
        yield from runtime_protocols(each)


def test_capabilities_are_those_of_isinstance():
    policies = [registry.find(name) for registry in decisions() for name in registry.names()]
    protocols = list(runtime_protocols())
    found = 0
    for policy in policies:
        for protocol in protocols:
            expected = isinstance(policy, protocol)
            assert (capability(policy, protocol) is policy) is expected, (policy, protocol)
            found += expected
    assert len(policies) > 60
    assert len(protocols) > 10
    assert 0 < found < len(policies) * len(protocols)


@runtime_checkable
class Counting(Protocol):
    """An attribute, which may be None, and a method."""

    total: int | None

    def count(self) -> int:
        """Return the total."""
        ...


def test_a_method_that_is_none_is_no_capability_and_an_attribute_may_be():
    class Counter:
        total = None

        def count(self) -> int:
            return 3

    able, unable, dynamic = Counter(), Counter(), Counter()
    unable.count = None  # type: ignore[assignment, method-assign]
    dynamic.__dict__["total"] = 4
    assert [capability(each, Counting) is each for each in (able, unable, dynamic, object())] == [
        isinstance(each, Counting) for each in (able, unable, dynamic, object())
    ]
    assert capability(unable, Counting) is None

"""What of a planner is compiled: the functions that its decisions call, so that they can be compiled ahead."""

from __future__ import annotations

from collections.abc import Callable

from windlass.jit import Kernel
from windlass.plan.lib.greedy import CLIMB
from windlass.plan.lib.search import IMPROVE, REPAIR
from windlass.policy.registry import optional


class Climbs:
    """A planner whose decisions call the greedy."""

    __slots__ = ()

    @classmethod
    def functions(cls) -> tuple[Kernel, ...]:
        """All that its decisions call."""
        return (CLIMB,)


class Refines:
    """A planner whose decisions refine what the greedy found."""

    __slots__ = ()

    @classmethod
    def functions(cls) -> tuple[Kernel, ...]:
        """All that its decisions call."""
        return (CLIMB, IMPROVE, REPAIR)


def functions_of(policy: object) -> tuple[Kernel, ...]:
    """What a planner needs compiled: its own ``functions``, or nothing where it has none.

    Parameters
    ----------
    policy
        A planner, of Windlass or not.

    Examples
    --------
    >>> from windlass.plan.policies.cascade import Cascade
    >>> len(functions_of(Cascade())), functions_of(object())
    (1, ())
    """
    own: Callable[[], tuple[Kernel, ...]] | None = optional(policy, "functions")
    return () if own is None else own()

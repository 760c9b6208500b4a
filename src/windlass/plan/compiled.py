"""What of a planner is compiled: the functions that its decisions call, so that they can be compiled ahead."""

from __future__ import annotations

from windlass.jit import Kernel
from windlass.plan.lib.greedy import CLIMB
from windlass.plan.lib.search import IMPROVE, REPAIR


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

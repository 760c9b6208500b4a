"""The compiled functions that planners call, so that they can be compiled ahead."""

from __future__ import annotations

from windlass.jit import Kernel
from windlass.plan.lib.compact import UNDOMINATED
from windlass.plan.lib.fair import FAIR
from windlass.plan.lib.greedy import BAND, CLIMB
from windlass.plan.lib.problem import DEMAND
from windlass.plan.lib.search import IMPROVE, REPAIR


class Formulates:
    """A planner whose decisions read a :class:`~windlass.plan.lib.problem.Problem`."""

    __slots__ = ()

    @classmethod
    def functions(cls) -> tuple[Kernel, ...]:
        """Return the compiled functions that its decisions call."""
        return (DEMAND,)


class Divides:
    """A planner whose decisions divide resources equally."""

    __slots__ = ()

    @classmethod
    def functions(cls) -> tuple[Kernel, ...]:
        """Return the compiled functions that its decisions call."""
        return (UNDOMINATED, DEMAND, FAIR)


class Climbs:
    """A planner whose decisions call the greedy."""

    __slots__ = ()

    @classmethod
    def functions(cls) -> tuple[Kernel, ...]:
        """Return the compiled functions that its decisions call."""
        return (UNDOMINATED, DEMAND, FAIR, BAND, CLIMB)


class Refines:
    """A planner whose decisions refine the greedy's plan."""

    __slots__ = ()

    @classmethod
    def functions(cls) -> tuple[Kernel, ...]:
        """Return the compiled functions that its decisions call."""
        return (DEMAND, FAIR, BAND, CLIMB, IMPROVE, REPAIR)

"""Parts whose steps are called in Python, although they have compiled ones, and exact comparison of logs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields, is_dataclass
from typing import Any
from unittest import mock

import numpy as np

from windlass.sim.instances.part import InstancesPart
from windlass.sim.queries.part import QueriesPart
from windlass.sim.shares.part import SharesPart
from windlass.sim.site.part import SitePart
from windlass.sim.workers.part import WorkersPart

KINDS = (QueriesPart, SharesPart, SitePart, WorkersPart, InstancesPart)


@contextmanager
def steps_in_python(*kinds: type) -> Iterator[None]:
    """Within this context, parts of these kinds have no compiled steps; by default parts of all kinds."""
    with ExitStack() as stack:
        for kind in kinds or KINDS:
            stack.enter_context(mock.patch.object(kind, "entries", return_value=None))
        yield


def bits(value: Any) -> Any:
    """Return a value with arrays as bytes, for exact comparison."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if is_dataclass(value):
        return type(value).__name__, tuple(bits(getattr(value, each.name)) for each in fields(value))
    if isinstance(value, tuple | list):
        return tuple(map(bits, value))
    # A number that is not one would differ from itself.
    return repr(value) if isinstance(value, float) else value

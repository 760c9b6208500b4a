"""Instance types, and the behaviour of their instances: launches, failures and interruptions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.model.values import number


@dataclass(frozen=True, slots=True, eq=False)
class Interruptions:
    """Changes of the number of instances that a provider allows, by type; one row per change.

    Parameters
    ----------
    time
        (m,) time of the change, s; not decreasing.
    kind
        (m,) index of the instance type in the fleet.
    limit
        (m,) instances allowed from then on; the last launched ones above it are interrupted.

    Examples
    --------
    >>> Interruptions.none().time.tolist()
    []
    """

    time: NDArray[np.float64]
    kind: NDArray[np.int64]
    limit: NDArray[np.int64]

    def __post_init__(self) -> None:
        if not (self.time.shape == self.kind.shape == self.limit.shape):
            raise InputError("interruptions: columns of different lengths")
        if not np.isfinite(self.time).all() or (np.diff(self.time) < 0).any():
            raise InputError("interruptions: expected finite times that do not decrease")
        if (self.limit < 0).any():
            raise InputError(f"interruptions: limit is {self.limit.min()}, expected at least 0")

    @staticmethod
    def none() -> Interruptions:
        """Return no changes."""
        return Interruptions(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class InstanceFleet:
    """Instance types of a cluster, and their behaviour.

    Parameters
    ----------
    types
        Instance types from the smallest to the largest: by GPUs, then cores, then memory.
    idle
        Time for which an unneeded instance may be empty before it ends, s.
    launch_spread
        Standard deviation of the logarithm of the time from launch to readiness; the median is the type's.
    boot_failure
        Share of launches that fail. A failure is noticed when the instance should be ready; it is paid for until then.
    notice
        Time from a warning to an interruption, s. Meanwhile no job starts on the instance, and jobs on it may end.
        With 0 jobs are killed at once; with infinity they all run to their end (*drain*).
    best_fit
        Place jobs on the instance with the least left (best fit) instead of the first that has room (first fit).
    interruptions
        Changes of the number of instances that the provider allows.

    Raises
    ------
    InputError
        A number is out of bounds, two types have the same name, or the types are not in order.

    Examples
    --------
    >>> InstanceFleet((InstanceType("large", cores=8), InstanceType("small", cores=4)))
    Traceback (most recent call last):
    windlass.model.errors.InputError: types: small follows large, expected the smallest first
    """

    types: tuple[InstanceType, ...]
    idle: float = 600.0
    launch_spread: float = 0.0
    boot_failure: float = 0.0
    notice: float = 0.0
    best_fit: bool = False
    interruptions: Interruptions = field(default_factory=Interruptions.none)

    def __post_init__(self) -> None:
        if not self.types:
            raise InputError("types: the fleet has none, expected at least one")
        number("idle", self.idle, 0.0)
        number("launch_spread", self.launch_spread, 0.0)
        if not 0.0 <= self.boot_failure < 1.0:
            raise InputError(f"boot_failure is {self.boot_failure}, expected at least 0, below 1")
        if not self.notice >= 0.0:
            raise InputError(f"notice is {self.notice}, expected at least 0")
        names = [kind.name for kind in self.types]
        if len(set(names)) < len(names):
            raise InputError(f"types: {', '.join(names)}: expected each name once")
        for before, after in zip(self.types, self.types[1:], strict=False):
            if tuple(before.vector()) > tuple(after.vector()):
                raise InputError(f"types: {after.name} follows {before.name}, expected the smallest first")
        kinds = self.interruptions.kind
        if len(kinds) and not 0 <= kinds.min() <= kinds.max() < len(self.types):
            raise InputError(f"interruptions: unknown type, expected 0 to {len(self.types) - 1}")

    def cores(self) -> tuple[int, ...]:
        """Return the whole cores of an instance of each type in the ledger."""
        return tuple(int(np.ceil(kind.cores)) for kind in self.types)

    def rows(self) -> list[int]:
        """Return the cores of each row that a ledger needs: for each type, its maximum number of instances.

        >>> InstanceFleet((InstanceType("small", cores=4, most=2), InstanceType("large", cores=8, most=1))).rows()
        [4, 4, 8]
        """
        of_types = zip(self.types, self.cores(), strict=True)
        return [cores for kind, cores in of_types for _ in range(kind.most)]


def sorted_types(types: tuple[InstanceType, ...]) -> tuple[InstanceType, ...]:
    """Return types from the smallest to the largest, and types of equal size by price.

    >>> [kind.name for kind in sorted_types((InstanceType("l", cores=8), InstanceType("s", cores=4)))]
    ['s', 'l']
    """
    return tuple(sorted(types, key=lambda kind: (*kind.vector().tolist(), kind.price, kind.name)))

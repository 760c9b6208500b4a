"""How instances behave, apart from what an autoscaler decides."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.model.values import number


@dataclass(frozen=True, slots=True, eq=False)
class Interruptions:
    """How many instances of a type their provider lets be, from when on: one row a change.

    Parameters
    ----------
    time
        (m,) when, s; not decreasing.
    kind
        (m,) the place of the type among the types.
    limit
        (m,) how many there may be from then on; those that were launched last go.

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
        """Nobody is interrupted."""
        return Interruptions(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class InstanceFleet:
    """Which instances can be had, and how they behave.

    Parameters
    ----------
    types
        From the smallest to the largest: by GPUs, then cores, then memory.
    idle
        Seconds that an instance may be empty where there are more than wanted, before it is taken away.
    launch_spread
        Standard deviation of the logarithm of the time from a launch to ready; the median is the type's.
    boot_failure
        Which part of launches fail. That shows when the instance should be ready, and it is paid for until then.
    notice
        Seconds from a warning to an interruption: until then nobody comes to the instance, and those who are there
        may end. With 0 they are killed at once; with infinity they stay until they end (*drain*).
    best_fit
        Whether jobs go to the instance on which they leave the least, and not to the first that has room.
    interruptions
        What their provider takes.

    Raises
    ------
    InputError
        A number is out of bounds, two types have one name, or they are not in order.

    Examples
    --------
    >>> InstanceFleet((InstanceType("large", cores=8), InstanceType("small", cores=4)))
    Traceback (most recent call last):
    windlass.model.errors.InputError: types: small comes after large, expected the smallest first
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
            raise InputError("types: there are none, expected at least one")
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
                raise InputError(
                    f"types: {after.name} comes after {before.name}, expected the smallest first"
                )
        kinds = self.interruptions.kind
        if len(kinds) and not 0 <= kinds.min() <= kinds.max() < len(self.types):
            raise InputError(f"interruptions: no such type, expected 0 to {len(self.types) - 1}")

    def cores(self) -> tuple[int, ...]:
        """Whole cores of one of each type in the ledger."""
        return tuple(int(np.ceil(kind.cores)) for kind in self.types)

    def rows(self) -> list[int]:
        """Cores of each row that a ledger needs: as many rows a type as there may be instances of it.

        >>> InstanceFleet((InstanceType("small", cores=4, most=2), InstanceType("large", cores=8, most=1))).rows()
        [4, 4, 8]
        """
        of_types = zip(self.types, self.cores(), strict=True)
        return [cores for kind, cores in of_types for _ in range(kind.most)]


def sorted_types(types: tuple[InstanceType, ...]) -> tuple[InstanceType, ...]:
    """The same from the smallest to the largest, those of one size by price.

    >>> [kind.name for kind in sorted_types((InstanceType("l", cores=8), InstanceType("s", cores=4)))]
    ['s', 'l']
    """
    return tuple(sorted(types, key=lambda kind: (*kind.vector().tolist(), kind.price, kind.name)))

"""Instances that a cluster rents: what each type has, costs, and how long it takes to start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.errors import InputError
from windlass.model.values import number, whole

#: Resources of jobs and instances, most expensive first: GPUs, CPU cores, bytes of memory.
RESOURCES = ("gpus", "cores", "memory")


@dataclass(frozen=True, slots=True)
class InstanceType:
    """A type of instance.

    Parameters
    ----------
    name
        As its provider calls it.
    gpus, cores, memory
        What one of them has; memory in bytes.
    price
        USD an hour, from the launch on.
    launch
        Seconds from the launch until jobs can run there.
    most
        How many there may be.

    Raises
    ------
    InputError
        A number is out of bounds, or it has nothing at all.

    Examples
    --------
    >>> InstanceType("small", cores=4, memory=16e9, price=0.2).vector().tolist()
    [0.0, 4.0, 16000000000.0]
    """

    name: str
    gpus: float = 0.0
    cores: float = 0.0
    memory: float = 0.0
    price: float = 0.0
    launch: float = 300.0
    most: int = 1_000_000

    def __post_init__(self) -> None:
        for field in (*RESOURCES, "price", "launch"):
            number(f"instance type {self.name}: {field}", getattr(self, field), 0.0)
        whole(f"instance type {self.name}: most", self.most, 0)
        if not any(self.vector()):
            raise InputError(f"instance type {self.name} has no resources, expected some of {RESOURCES}")

    def vector(self) -> NDArray[np.float64]:
        """(3,) what one has, in the order of :data:`RESOURCES`."""
        return np.array([self.gpus, self.cores, self.memory], dtype=np.float64)

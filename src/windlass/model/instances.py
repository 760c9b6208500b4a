"""Types of instances that a cluster rents: resources, price and launch time."""

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
        The provider's name for it.
    gpus, cores, memory
        Resources of one instance; memory in bytes.
    price
        Price from the launch on, USD/h.
    launch
        Time from the launch until jobs can run there, s.
    most
        Maximum number of instances.

    Raises
    ------
    InputError
        A number is out of bounds, or all resources are 0.

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
            raise InputError(
                f"instance type {self.name} has no resources, expected at least one of {', '.join(RESOURCES)}"
            )

    def vector(self) -> NDArray[np.float64]:
        """Return (3,) the resources of one instance, in the order of :data:`RESOURCES`."""
        return np.array([self.gpus, self.cores, self.memory], dtype=np.float64)

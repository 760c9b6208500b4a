"""The instances of the paper's Section 5.1: M5 and G4 of AWS.

The paper gives g4.xlarge 4 cores, 16 GB and one GPU, and calls an instance of 2 cores and 8 GB m5.xlarge, which AWS
calls m5.large. Types here are those of AWS. Prices are on demand, in us-east-1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.model.instances import InstanceType

_GIB = 2.0**30


def _types(family: str, sizes: Sequence[tuple[str, float, float, float, float]]) -> tuple[InstanceType, ...]:
    """Return types from name, GPUs, cores, GiB and USD per hour."""
    return tuple(
        InstanceType(f"{family}.{name}", gpus, cores, memory * _GIB, price)
        for name, gpus, cores, memory, price in sizes
    )


#: Instance types for jobs without GPUs.
M5 = _types(
    "m5",
    (
        ("large", 0, 2, 8, 0.096),
        ("xlarge", 0, 4, 16, 0.192),
        ("2xlarge", 0, 8, 32, 0.384),
        ("4xlarge", 0, 16, 64, 0.768),
        ("8xlarge", 0, 32, 128, 1.536),
        ("16xlarge", 0, 64, 256, 3.072),
        ("24xlarge", 0, 96, 384, 4.608),
    ),
)
#: Instance types for jobs with GPUs; 12xlarge has four of them and metal has eight, all others have one.
G4 = _types(
    "g4dn",
    (
        ("xlarge", 1, 4, 16, 0.526),
        ("2xlarge", 1, 8, 32, 0.752),
        ("4xlarge", 1, 16, 64, 1.204),
        ("8xlarge", 1, 32, 128, 2.176),
        ("16xlarge", 1, 64, 256, 4.352),
        ("12xlarge", 4, 48, 192, 3.912),
        ("metal", 8, 96, 384, 7.824),
    ),
)


def buckets(types: Sequence[InstanceType]) -> NDArray[np.float64]:
    """Return (k, 3) the GPUs, cores and bytes of memory of an instance of each type.

    >>> buckets(G4)[0].tolist()
    [1.0, 4.0, 17179869184.0]
    """
    return np.stack([each.vector() for each in types])


def prices(types: Sequence[InstanceType]) -> NDArray[np.float64]:
    """Return (k,) the price of each type, USD per hour.

    >>> float(prices(G4)[0])
    0.526
    """
    return np.array([each.price for each in types])

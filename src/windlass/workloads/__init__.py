"""What is drawn: arrivals, sizes, where tasks lie, estimates, sites, drops, and whole models of jobs.

- :mod:`~windlass.workloads.arrivals`: when tasks arrive.
- :mod:`~windlass.workloads.sizes`: how much work they are.
- :func:`lublin`: rigid jobs drawn from the model of Lublin and Feitelson.
"""

from windlass.workloads.lublin import lublin

__all__ = ["lublin"]

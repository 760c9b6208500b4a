"""Which job goes first?

Two views of one question: :mod:`windlass.order.site`, rigid jobs that wait for the processors of one site, and
:mod:`windlass.order.fleet`, jobs whose tasks are spread over many sites. Each has its view, its compiled form and its
policies.

Here the fleet's policies are functions on arrays: :func:`swag`, :func:`reordering`, :func:`global_srpt`,
:func:`independent_srpt`, :func:`fcfs`, :func:`optimal`, and :func:`finish_instants` to judge an order by.

>>> from windlass.order import swag
>>> swag([[1, 10, 1], [3, 8, 0], [7, 0, 6]], slots=1)
array([2, 1, 0])
"""

from windlass.order.fleet.functions import (
    fcfs,
    finish_instants,
    global_srpt,
    independent_srpt,
    optimal,
    reordering,
    swag,
)

__all__ = [
    "fcfs",
    "finish_instants",
    "global_srpt",
    "independent_srpt",
    "optimal",
    "reordering",
    "swag",
]

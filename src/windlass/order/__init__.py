"""Ordering: which job goes first.

:mod:`windlass.order.site` orders rigid jobs that wait for the processors of one site. :mod:`windlass.order.fleet`
orders jobs with tasks at many sites. Each defines its view, its compiled form and its policies.

The fleet's policies are available here as functions on arrays: :func:`swag`, :func:`reordering`, :func:`global_srpt`,
:func:`independent_srpt`, :func:`fcfs` and :func:`optimal`; :func:`finish_instants` evaluates an order.

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

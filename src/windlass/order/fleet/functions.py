"""Orders on arrays, for users of the library; :mod:`windlass.order` exports them.

Each function is defined in the file of its policy.

>>> from windlass.order.fleet.functions import finish_instants, swag
>>> order = swag([[1, 10, 1], [3, 8, 0], [7, 0, 6]], slots=1)
>>> finish_instants([[1, 10, 1], [3, 8, 0], [7, 0, 6]], slots=1, order=order).tolist()
[18.0, 10.0, 7.0]
"""

from windlass.order.fleet.lib.finish import finish_instants
from windlass.order.fleet.policies.fcfs import fcfs
from windlass.order.fleet.policies.global_srpt import global_srpt
from windlass.order.fleet.policies.independent_srpt import independent_srpt
from windlass.order.fleet.policies.optimal import optimal
from windlass.order.fleet.policies.reordering import reordering
from windlass.order.fleet.policies.swag import swag

__all__ = [
    "fcfs",
    "finish_instants",
    "global_srpt",
    "independent_srpt",
    "optimal",
    "reordering",
    "swag",
]

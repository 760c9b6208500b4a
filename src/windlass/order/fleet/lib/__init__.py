"""Algorithms shared by the order policies of a fleet.

- :mod:`~windlass.order.fleet.lib.validation`: validation of arrays passed by users.
- :mod:`~windlass.order.fleet.lib.finish`: finish times of jobs under an order.
- :mod:`~windlass.order.fleet.lib.greedy`: the search behind SWAG.
"""

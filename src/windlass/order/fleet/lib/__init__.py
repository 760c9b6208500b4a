"""What order policies of a fleet share.

- :mod:`~windlass.order.fleet.lib.validation`: arrays of users, checked and named in errors.
- :mod:`~windlass.order.fleet.lib.finish`: when jobs end under an order.
- :mod:`~windlass.order.fleet.lib.greedy`: the search behind SWAG.
"""

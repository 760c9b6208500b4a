"""What order policies of one site share.

- :mod:`~windlass.order.site.lib.profile`: idle processors over time, as plain arrays.
- :mod:`~windlass.order.site.lib.timeline`: the same in blocks, for long queues.
- :mod:`~windlass.order.site.lib.pools`: several resources at once.
- :mod:`~windlass.order.site.lib.pool_profile`: what is free of each over time.
- :mod:`~windlass.order.site.lib.in_order`: a queue in an order of its own.
- :mod:`~windlass.order.site.lib.reservations`: a reservation for every waiting job.
- :mod:`~windlass.order.site.lib.accounts`: users in the accounts that they work for.
"""

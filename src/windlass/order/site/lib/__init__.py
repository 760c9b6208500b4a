"""Algorithms shared by the order policies of one site.

- :mod:`~windlass.order.site.lib.timeline`: idle processors over time in blocks.
- :mod:`~windlass.order.site.lib.floors`: times before which no job of a kind fits.
- :mod:`~windlass.order.site.lib.sorting`: sorting of many numbers.
- :mod:`~windlass.order.site.lib.pools`: several resources at once.
- :mod:`~windlass.order.site.lib.pool_profile`: free amount of several resources over time.
- :mod:`~windlass.order.site.lib.in_order`: a reordered queue.
- :mod:`~windlass.order.site.lib.reserved_line`: the timeline with all reservations.
- :mod:`~windlass.order.site.lib.renewal`: the renewal of reservations that became invalid.
- :mod:`~windlass.order.site.lib.reservations`: a reservation for every waiting job.
- :mod:`~windlass.order.site.lib.accounts`: users numbered by account, and priorities of QOS.
- :mod:`~windlass.order.site.lib.limits`: jobs that the limits of a site admit.
"""

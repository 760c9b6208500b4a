"""Placement on arrays, for users of the library.

- :mod:`~windlass.place.functions.stage`: one stage, exact and fast.
- :mod:`~windlass.place.functions.whole`: a plan in whole tasks.
- :mod:`~windlass.place.functions.in_place`: tasks where their data is; the simulator places them so under a standing
  order.
- :mod:`~windlass.place.functions.replan`: a plan changed at a few sites only, when resources drop.
- :mod:`~windlass.place.functions.oracle`: the same programs through HiGHS, for tests and for further constraints.
"""

"""Placement on arrays, for users of the library.

- :mod:`~windlass.place.functions.stage`: placement of one stage, exact and fast.
- :mod:`~windlass.place.functions.whole`: conversion of a plan into whole tasks.
- :mod:`~windlass.place.functions.in_place`: placement of tasks at their data, also used by the simulator
  under a standing order.
- :mod:`~windlass.place.functions.replan`: a plan changed at a few sites only, when resources drop.
- :mod:`~windlass.place.functions.oracle`: the same programs solved by HiGHS, for tests and for additional
  constraints.
"""

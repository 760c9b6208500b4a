"""What placement policies and the functions on arrays share.

- :mod:`~windlass.place.lib.search`: the least time of a stage, exactly; :mod:`~windlass.place.lib.stage`: a map or
  reduce stage placed by it.
- :mod:`~windlass.place.lib.whole`: fractions of tasks to whole tasks.
- :mod:`~windlass.place.lib.replan`: a plan changed at a few sites only.
- :mod:`~windlass.place.lib.reverse`: the reduce stage first, and the map placements that it wants.
- :mod:`~windlass.place.lib.prefer`: input moved ahead for the shuffle behind a map stage.
- :mod:`~windlass.place.lib.decide`: Tetrium's decision at one instant; :mod:`~windlass.place.lib.options`: what it is
  asked for.
- :mod:`~windlass.place.lib.gather`: a shuffle placed with those behind it in mind.
- :mod:`~windlass.place.lib.leftover`: maps that would wait, on slots that nobody else wants.
- :mod:`~windlass.place.lib.pick`: which of a site's planned tasks start now.
- :mod:`~windlass.place.lib.fair`: slots shared fairly among jobs; :mod:`~windlass.place.lib.delay`: tasks that wait too
  long run away from their input.
"""

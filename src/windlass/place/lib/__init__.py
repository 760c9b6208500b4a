"""Parts that placement policies and the functions on arrays share.

- :mod:`~windlass.place.lib.search`: the exact minimum time of a stage; :mod:`~windlass.place.lib.stage`:
  placement of a map or reduce stage by it.
- :mod:`~windlass.place.lib.whole`: conversion of fractions of tasks into whole tasks.
- :mod:`~windlass.place.lib.replan`: a plan changed at a few sites only.
- :mod:`~windlass.place.lib.reverse`: planning of the reduce stage first, and map placements that suit it.
- :mod:`~windlass.place.lib.prefer`: input moved ahead for the shuffle behind a map stage.
- :mod:`~windlass.place.lib.decide`: a decision of Tetrium; :mod:`~windlass.place.lib.options`: its
  parameters.
- :mod:`~windlass.place.lib.gather`: placement of a shuffle that takes later shuffles into account.
- :mod:`~windlass.place.lib.leftover`: maps that would wait, placed on otherwise idle slots.
- :mod:`~windlass.place.lib.pick`: selection of the planned tasks of a site that start now.
- :mod:`~windlass.place.lib.fair`: fair sharing of slots among jobs; :mod:`~windlass.place.lib.delay`: remote
  starts of tasks that wait too long.
"""

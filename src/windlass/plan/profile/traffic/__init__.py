"""Synthetic clips of traffic, whose true tracks are known exactly.

- :mod:`~windlass.plan.profile.traffic.scene`: cars and people, their arrival and movement; true tracks.
- :mod:`~windlass.plan.profile.traffic.drawing`: pixels of the street, cars, people and their shadows.
- :mod:`~windlass.plan.profile.traffic.weather`: rain, snow, night, and camera noise.
- :mod:`~windlass.plan.profile.traffic.making`: writes a clip and its tracks to disk.

``scene`` needs no OpenCV; the others do.
"""

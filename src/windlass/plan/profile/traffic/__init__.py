"""Clips of traffic that are drawn, so that it is known exactly where everything is.

- :mod:`~windlass.plan.profile.traffic.scene`: cars and people, when they come and where they go; true tracks.
- :mod:`~windlass.plan.profile.traffic.drawing`: the street, cars, people and their shadows as pixels.
- :mod:`~windlass.plan.profile.traffic.weather`: rain, snow, night, and the camera's noise.
- :mod:`~windlass.plan.profile.traffic.making`: all of it into a clip and its tracks on disk.

``scene`` needs no OpenCV; the others do.
"""

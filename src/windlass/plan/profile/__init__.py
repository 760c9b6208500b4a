"""How accurate is each plan of a real video pipeline, and what does it cost?

A pipeline decodes a clip, detects what is on it, and associates from frame to frame what is the same. Each of these
can be done in several ways and with several values of knobs, which makes hundreds of plans. The profiler runs all of
them on a clip whose true tracks are known, and does what plans have in common once (thesis, section 5.6.1).

- :mod:`~windlass.plan.profile.table`: a profile on disk; :func:`stream_plans` reads it.
- :mod:`~windlass.plan.profile.tracks`: tracks, true ones on disk, and how well found ones fit them.
- :mod:`~windlass.plan.profile.clipinfo`, :mod:`~windlass.plan.profile.clip`: a clip by its numbers, and its frames.
- :mod:`~windlass.plan.profile.options`, :mod:`~windlass.plan.profile.pipeline`: what components there are with which
  knobs, and a pipeline's file; :mod:`~windlass.plan.profile.steps`: what components do.
- :mod:`~windlass.plan.profile.tree`: all plans as one tree; :mod:`~windlass.plan.profile.cache`: outputs that are worth
  keeping; :mod:`~windlass.plan.profile.running`: runs the tree.
- :mod:`~windlass.plan.profile.comparison`: the most accurate plans by cores, and plans run separately.
- :mod:`~windlass.plan.profile.traffic`: draws clips of traffic, with their true tracks.

``table``, ``tracks``, ``clipinfo`` and ``cache`` need no OpenCV; the others need the extra ``vision``, and nothing
imports them before a clip is to be looked at.
"""

from windlass.plan.profile.table import stream_plans, write_plans

__all__ = ["stream_plans", "write_plans"]

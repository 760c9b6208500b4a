"""Measured accuracy and cost of each plan of a real video pipeline.

A pipeline decodes a clip, detects objects, and associates them from frame to frame. Each of these components
has several implementations and knobs, which gives hundreds of plans. The profiler runs all of them on a clip
with known true tracks, and runs their common work once (thesis, section 5.6.1).

- :mod:`~windlass.plan.profile.table`: a profile on disk; :func:`stream_plans` reads it.
- :mod:`~windlass.plan.profile.tracks`: tracks, true ones on disk, and the score of found ones.
- :mod:`~windlass.plan.profile.clipinfo`, :mod:`~windlass.plan.profile.clip`: properties of a clip, and its
  frames.
- :mod:`~windlass.plan.profile.options`, :mod:`~windlass.plan.profile.pipeline`: the available components with
  their knobs, and the pipeline file; :mod:`~windlass.plan.profile.steps`: the steps of components.
- :mod:`~windlass.plan.profile.tree`: all plans as one tree; :mod:`~windlass.plan.profile.cache`: the outputs
  that are worth caching; :mod:`~windlass.plan.profile.running`: runs the tree.
- :mod:`~windlass.plan.profile.golden`: labels from a golden plan; :mod:`~windlass.plan.profile.agreement`:
  how well they replace true tracks; :mod:`~windlass.plan.profile.recheck`: whether a profile still holds on
  a new clip.
- :mod:`~windlass.plan.profile.comparison`: the most accurate plans by cores, and plans run separately.
- :mod:`~windlass.plan.profile.traffic`: draws clips of traffic with their true tracks.

``table``, ``tracks``, ``clipinfo``, ``cache``, ``comparison`` and ``agreement`` do not need OpenCV. The others
need the extra ``vision``, and are imported only when a clip is read.
"""

from windlass.plan.profile.table import stream_plans, write_plans

__all__ = ["stream_plans", "write_plans"]

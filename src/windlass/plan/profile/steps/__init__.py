"""Steps of the components of a tracker, each of which transforms the output of the step before.

A step is a frozen value whose fields are its knobs; equal steps after equal steps do the same work. ``start``
returns a function for one run, which holds the state between frames. A step that processes each frame
independently (``alone``) gives the same output whichever other frames are left out, so all samplings share
it.

- :mod:`~windlass.plan.profile.steps.step`: the protocol, and the values passed between steps.
- :mod:`~windlass.plan.profile.steps.decode`: frames of a size, sent as JPEG.
- :mod:`~windlass.plan.profile.steps.motion`: moving objects: MOG2, KNN, differences between frames.
- :mod:`~windlass.plan.profile.steps.people`: people, by HOG.
- :mod:`~windlass.plan.profile.steps.detections`: selection of detections, and how they are sent.
- :mod:`~windlass.plan.profile.steps.appearance`: descriptors of objects: colour histograms, ORB.
- :mod:`~windlass.plan.profile.steps.match`: association of objects between frames.

All but ``step`` need OpenCV (the extra ``vision``).
"""

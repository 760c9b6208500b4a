"""What the components of a tracker are made of: steps, each of which turns the output of the one before into its own.

A step is a frozen value, its knobs are its fields, and two equal steps after equal steps do the same work. ``start``
gives a function for one run; what it remembers from frame to frame is its own. A step that looks at each frame by
itself (``alone``) gives the same output whichever other frames are left out, so all samplings share it.

- :mod:`~windlass.plan.profile.steps.step`: the protocol, and what steps hand on.
- :mod:`~windlass.plan.profile.steps.decode`: frames of a size, as they would be sent: as JPEG.
- :mod:`~windlass.plan.profile.steps.motion`: what moves: MOG2, KNN, the difference from frame to frame.
- :mod:`~windlass.plan.profile.steps.people`: people by their outline (HOG).
- :mod:`~windlass.plan.profile.steps.found`: which of what was found counts, and how it is sent.
- :mod:`~windlass.plan.profile.steps.appearance`: what things look like: a histogram of colours, ORB.
- :mod:`~windlass.plan.profile.steps.match`: which thing is which from frame to frame.

All but ``step`` need OpenCV (the extra ``vision``).
"""

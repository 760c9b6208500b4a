"""Labels of a clip from a golden plan, which may be expensive and is known to be accurate. Needs OpenCV.

Source: thesis, section 5.6.1.
"""

from __future__ import annotations

from windlass.model import InputError
from windlass.plan.profile.clipinfo import ClipInfo
from windlass.plan.profile.pipeline import TrackerPlan
from windlass.plan.profile.running import profile
from windlass.plan.profile.tracks import Tracks


def golden_tracks(plan: TrackerPlan, clip: ClipInfo) -> Tracks:
    """Return the tracks that a plan finds in a clip, as labels; for a frame that it skips, its last answer counts.

    Accuracies with these labels are agreement with the golden plan. That plan itself has accuracy 1.

    Parameters
    ----------
    plan
        The golden plan.
    clip
        The clip.

    Raises
    ------
    InputError
        The clip cannot be read, or the plan finds no object in it.
    """
    found = tracks_of(plan, clip)
    if not len(found):
        raise InputError(
            f"{clip.path}: the golden plan ({plan.label}) finds no object, so accuracy cannot be measured; "
            "use a longer clip or true tracks"
        )
    return found


def tracks_of(plan: TrackerPlan, clip: ClipInfo) -> Tracks:
    """Return the tracks that a plan finds in each frame of a clip; there may be none."""
    return profile([plan], clip, Tracks.of([]), 0.0).plans[0].tracks.held(plan.every, clip.frames)

"""The actions, and what undoes each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ActionKind:
    """An action.

    Parameters
    ----------
    name
        One word.
    undo
        Name of the action that undoes it.
    of_job
        True if it concerns a job, False if it concerns an engine.
    summary
        What it does, one sentence.
    """

    name: str
    undo: str
    of_job: bool
    summary: str


#: The actions by name.
KINDS: Mapping[str, ActionKind] = {
    each.name: each
    for each in (
        ActionKind(
            "pause", "resume", False, "Stop an engine: it gives back what it holds and decides nothing."
        ),
        ActionKind("resume", "pause", False, "Start an engine that is paused or has failed."),
        ActionKind("hold", "unhold", True, "Hold a waiting job, so that no policy starts it."),
        ActionKind("unhold", "hold", True, "End such a hold: the policy decides about the job again."),
        ActionKind("release", "hold", True, "Release a held job, whatever the policy decides."),
    )
}

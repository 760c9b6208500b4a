"""The users, queues or size classes that wait longer under the best variant, in words."""

from __future__ import annotations

from windlass.report.phrases import listed, quoted
from windlass.report.units import counted, duration, plural
from windlass.results.group_losses import GroupLosses

#: Maximum number of groups that are named.
_NAMED = 5


def losses_sentence(found: GroupLosses | None) -> str:
    """Return the groups that wait longer under the best variant; empty without a comparison.

    Parameters
    ----------
    found
        From :func:`windlass.results.group_losses.group_losses`.

    Examples
    --------
    >>> from windlass.results.group_losses import GroupLoss
    >>> losses_sentence(GroupLosses("user", "easy", "fcfs", 9, (GroupLoss("ann", 60.0, 240.0),)))
    'Under easy, the mean wait of 1 of 9 users is longer than under fcfs: ann (4 min, +3 min).'
    >>> losses_sentence(GroupLosses("size", "easy", "fcfs", 3, ()))
    'Under easy, the mean wait of none of 3 size classes is longer than under fcfs.'
    """
    if found is None:
        return ""
    of = "size classes" if found.division == "size" else plural(found.division)
    count, names = len(found.losses), (quoted(found.best), quoted(found.reference))
    shown = [
        f"{each.group} ({duration(each.best_s)}, +{duration(each.best_s - each.reference_s)})"
        for each in found.losses[:_NAMED]
    ]
    if count > _NAMED:
        shown.append(counted(count - _NAMED, "other"))
    which = f": {listed(shown)}" if shown else ""
    return (
        f"Under {names[0]}, the mean wait of {count or 'none'} of {found.groups:,} {of} is longer than under "
        f"{names[1]}{which}."
    )

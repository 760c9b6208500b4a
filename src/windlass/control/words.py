"""Times and durations in words."""

from __future__ import annotations

from datetime import datetime, tzinfo

from windlass.control.journal import ActionRecord

#: Times below this many seconds (about 30 years) count from the start of a simulation, others from 1970.
_SIMULATED = 1e9


def clock_text(seconds: float, zone: tzinfo | None = None) -> str:
    """Return a time of an engine's clock: the day and the time of a simulation, or date and time of the site.

    Parameters
    ----------
    seconds
        The time, s.
    zone
        The time zone; None for that of this machine (``TZ``).

    Examples
    --------
    >>> from datetime import UTC
    >>> clock_text(0.0), clock_text(90061.9), clock_text(1.8e9, UTC)
    ('day 1 00:00:00', 'day 2 01:01:01', '2027-01-15 08:00:00')
    """
    if seconds < _SIMULATED:
        day, rest = divmod(int(seconds), 86_400)
        return f"day {day + 1} {rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{datetime.fromtimestamp(seconds, zone):%Y-%m-%d %H:%M:%S}"


def zone_text(seconds: float, zone: tzinfo | None = None) -> str:
    """Return a time as :func:`clock_text` does, with the name of the time zone if it has one.

    >>> from datetime import UTC, timedelta, timezone
    >>> zone_text(0.0), zone_text(1.8e9, UTC), zone_text(1.8e9, timezone(timedelta(hours=1), "CET"))
    ('day 1 00:00:00', '2027-01-15 08:00:00 UTC', '2027-01-15 09:00:00 CET')
    """
    return f"{clock_text(seconds, zone)} {zone_name(seconds, zone)}".rstrip()


def zone_name(seconds: float, zone: tzinfo | None = None) -> str:
    """Return the name of the time zone at a time, such as ``CEST``; empty for a time of a simulation."""
    if seconds < _SIMULATED:
        return ""
    return datetime.fromtimestamp(seconds, zone).astimezone(zone).strftime("%Z")


def action_line(action: ActionRecord) -> str:
    """Return an action as a line.

    >>> from windlass.control.journal import JobKey
    >>> pause = ActionRecord("k", 90061.0, JobKey("slurm"), "pause", "ann", "new nodes", outcome="paused", number=3)
    >>> action_line(pause)
    '3  day 2 01:01:01  pause slurm, by ann: new nodes; paused'
    """
    job = f"job {action.job.id} of " if action.job.id else ""
    undoes = "" if action.undoes is None else f", undoes {action.undoes}"
    outcome = action.outcome or "under way"
    return (
        f"{action.number}  {clock_text(action.time)}  {action.action} {job}{action.job.engine}{undoes}, "
        f"by {action.by}: {action.reason}; {outcome}{', undone' if action.undone else ''}"
    )


def span_text(seconds: float) -> str:
    """Return a duration, in a form that has one width for most values.

    >>> span_text(59.9), span_text(3720.0), span_text(180000.0), span_text(-1.0)
    ('59 s', '1 h 02 min', '2 d 2 h', '0 s')
    """
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min"
    if whole < 86_400:
        return f"{whole // 3600} h {whole // 60 % 60:02} min"
    return f"{whole // 86_400} d {whole // 3600 % 24} h"


def until_text(time: float, now: float) -> str:
    """Return how far a time is ahead; ``now`` for one that has passed.

    >>> until_text(130.0, 10.0), until_text(5.0, 10.0)
    ('2 min', 'now')
    """
    return span_text(time - now) if time > now else "now"

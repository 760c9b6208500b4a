"""A fitted site in words."""

from __future__ import annotations

import math
from collections.abc import Iterator

from windlass.experiment.site_fit.calibrate import TOLERANCE, CalibratedSite
from windlass.experiment.site_fit.evidence import use_in_closed_hours
from windlass.experiment.site_fit.idle_waiting import IdleWaiting
from windlass.experiment.site_fit.site_rules import SiteRules
from windlass.order.site import POLICIES
from windlass.report.units import counted, duration, number, percentage

#: A share of waiting time, of the error of one user, or of time, from which it is reported.
_IDLE, _ONE_USER, _OVER = 0.2, 0.5, 0.001
#: A share of their mean processors that long jobs hold in closed hours, from which the hours have changed.
_OPENED = 0.1
#: A share of waiting time from which its cause is named.
_NAMED = 0.01
#: A relative change of what the schedule shows, from which it is reported.
_CHANGED = 0.1


def verdict_sentence(found: CalibratedSite) -> str:
    """Return whether the replay of the jobs that were not fitted has the recorded mean wait.

    Parameters
    ----------
    found
        The fitted site.
    """
    judged = found.judged
    means = f"{duration(judged.replayed_mean)} replayed, {duration(judged.recorded_mean)} recorded"
    if found.close:
        return (
            f"The fitted site replays within {percentage(TOLERANCE)} of the recorded mean wait on the part not"
            f" fitted: {means} ({signed(judged.mean_error)})."
        )
    return (
        f"The fitted site does not reproduce the mean wait of the part not fitted: {means}"
        f" ({signed(judged.mean_error)}), expected within {percentage(TOLERANCE)}."
    )


def sentences(found: CalibratedSite) -> Iterator[str]:
    """Yield the verdict, how the fit was made, and what the log lacks.

    Parameters
    ----------
    found
        The fitted site.
    """
    yield verdict_sentence(found)
    plain = found.plain_judged
    yield (
        f"EASY on all {counted(found.workload.processors, 'processor')}, without a fit: {signed(plain.mean_error)}"
        f" ({duration(plain.replayed_mean)})."
    )
    yield (
        f"Fitted on {counted(found.fitted.jobs, 'job')} of the first part by {counted(found.replays, 'replay')};"
        f" judged once on the {counted(found.judged.jobs, 'later job')}."
    )
    yield f"As a policy: {found.model.policy().choice(POLICIES).label}"
    yield from lacking(found)


def parameters(model: SiteRules, processors: int) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each quantity of a fitted site.

    Parameters
    ----------
    model
        The site.
    processors
        Processors that the log states.

    Examples
    --------
    >>> dict(parameters(SiteRules(90), 100))["usable processors"]
    '90 of 100'
    """
    yield "usable processors", f"{model.processors:,} of {processors:,}"
    yield "time from decision to start", duration(model.latency)
    own = SiteRules(model.processors, priority=model.priority, backfill=model.backfill).policy()
    yield "order of the queue", own.choice(POLICIES).label
    limits = model.limits
    if "closed" in limits:
        yield "no jobs above", duration(limits["long"])
        yield "  in these hours of the week", str(limits["closed"])
        yield "  opening kept free", "yes" if limits["drain"] else "no"
    else:
        yield "hours closed to long jobs", "none"
    for name, label in (
        ("jobs_per_user", "running jobs per user"),
        ("procs_per_user", "processors per user"),
    ):
        yield label, f"at most {limits[name]:,}" if name in limits else "no limit"


def lacking(found: CalibratedSite) -> Iterator[str]:
    """Yield what the log lacks, or what changed after the fitted part, as far as its schedule shows it.

    Parameters
    ----------
    found
        The fitted site.
    """
    gaps, of = found.gaps, found.workload.of
    absent = [
        name
        for name, members in (("users", of.user), ("queues", of.queue or of.partition))
        if members is None
    ]
    if absent:
        yield f"The log has no {' and no '.join(absent)}, so that no order by them was tried."
    if (found.workload.jobs.request == found.workload.jobs.run).all():
        yield "The log has no requested times; their actual run times are used."
    if gaps.idle.total >= _IDLE:
        yield (
            f"{percentage(gaps.idle.total)} of the waiting time passed while enough of the log's"
            f" {counted(found.workload.processors, 'processor')} for the waiting job were idle: {_causes(gaps.idle)}."
            f" In the replay it is {percentage(gaps.idle_replayed.total)}."
        )
        if not found.close:
            yield (
                "The log does not state what held these jobs: reserved or broken nodes, memory, types of nodes,"
                " dependencies, or users' holds."
            )
    if gaps.over_share >= _OVER:
        yield (
            f"Jobs held more processors than the {found.workload.processors:,} that the log states in"
            f" {percentage(gaps.over_share)} of the time, {found.shown.used:,} at once in the fitted part."
        )
    before, after = found.shown.busy, found.shown_later.busy
    if before > 0 and abs(after / before - 1) >= _CHANGED:
        yield (
            f"While waiting jobs requested at least {counted(found.workload.processors, 'processor')} in total, running"
            f" jobs held {number(before)} in the fitted part and {number(after)} later: the number of usable processors"
            " may have changed."
        )
    limits = found.model.limits
    if "closed" in limits:
        early, late = (
            use_in_closed_hours(part, limits["long"], limits["closed"]) for part in (found.part, found.rest)
        )
        if late - early >= _OPENED:
            yield (
                f"In the hours closed to long jobs, these held {percentage(early)} of their mean processors in the"
                f" fitted part and {percentage(late)} later: the hours changed."
            )
    if not found.close:
        errors = ", ".join(signed(waits.mean_error) for _, waits in found.quarters)
        yield f"Errors of the mean in the quarters of the part not fitted, in order: {errors}."
    if not found.close and gaps.user_share >= _ONE_USER:
        yield (
            f"{percentage(gaps.user_share)} of the error is in jobs of user {gaps.user}, which are"
            f" {percentage(gaps.user_jobs)} of the jobs."
        )


def _causes(idle: IdleWaiting) -> str:
    """Return the shares of waiting time by cause, those of 1 % or more."""
    shares = (
        (idle.closed, "before or in hours closed to long jobs"),
        (idle.limited, "of users at a limit"),
        (idle.standstill, "while no job started for an hour or more"),
        (idle.unexplained, "without a cause that the log shows"),
    )
    return ", ".join(f"{percentage(share)} {cause}" for share, cause in shares if share >= _NAMED)


def signed(error: float) -> str:
    """Format a relative error with its sign, such as ``+12 %``.

    Examples
    --------
    >>> signed(0.123), signed(-0.004), signed(math.inf)
    ('+12 %', '−0.4 %', '∞')
    """
    if not math.isfinite(error):
        return number(error)
    return f"{'−' if error < 0 else '+'}{percentage(abs(error))}"

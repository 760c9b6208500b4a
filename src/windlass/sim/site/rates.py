"""Changing speeds of running jobs, and jobs that run on the processors of others.

A *guest* runs on processors of its *host*. While both run, these processors belong to the guest in the ledger and in
the list of running jobs, and the host has the rest of its own. So every processor has one holder whichever job ends
first. An ordering policy sees when each processor is expected back: a guest's at the latest at the promised time.
"""

from __future__ import annotations

import numpy as np

from windlass.jit import index, inlined
from windlass.sim.cores import hold_none, lend
from windlass.sim.events.tree import schedule_any
from windlass.sim.site.state import NO_ROW, ROUNDING


@inlined
def _place_of(site, row):
    """Return the position of a job among the running jobs, by expected end and processors."""
    end, procs = site.expected_end[row], site.procs[row]
    low, high = 0, site.counts[0].running
    while low < high:
        middle = (low + high) >> 1
        other = site.running[middle]
        other_end = site.expected_end[other]
        if other_end < end or (other_end == end and site.procs[other] <= procs):
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def list_running(site, row):
    """Insert a job among the running jobs, which must have room."""
    counts, place = site.counts[0], _place_of(site, row)
    # Where indices are unsigned, the compiler moves the entries as one block.
    for other in range(counts.running, place, -1):
        site.running[index(other)] = site.running[index(other - 1)]
    site.running[place] = row
    counts.running += 1


@inlined
def unlist_running(site, row):
    """Remove a running job, whose processors and expected end are as when it was inserted."""
    counts, place = site.counts[0], _place_of(site, row) - 1
    while site.running[place] != row:
        place -= 1
    counts.running -= 1
    for other in range(place, counts.running):
        site.running[index(other)] = site.running[index(other + 1)]


@inlined
def begin_rated(site, row, now):
    """Start a job at full speed, without a host or a guest."""
    site.rate[row], site.since[row], site.left[row] = 1.0, now, site.work[row]
    site.pace[row], site.allowance[row], site.stop[row] = 1.0, site.request[row], now + site.limit[row]
    site.host[row] = site.guest[row] = NO_ROW


@inlined
def set_rate(run, row, rate, pace, now):
    """Change the speed of a running job and the pace of its limit; its end moves, but not beyond the limit."""
    site = run.site
    left = max(0.0, site.left[row] - (now - site.since[row]) * site.rate[row])
    # A rest due to rounding must not keep a job that comes to a stop.
    if left < ROUNDING * (abs(now) + 1.0):
        left = 0.0
    site.allowance[row] -= (now - site.since[row]) * site.pace[row]
    # With the same pace, the instant of the stop stays equal to the bit.
    if pace != site.pace[row]:
        stops = pace > 0.0 and site.limit[row] < np.inf
        site.stop[row] = now + max(0.0, site.allowance[row]) / pace if stops else np.inf
    site.rate[row], site.since[row], site.left[row], site.pace[row] = rate, now, left, pace
    end = now + left / rate if left > 0.0 else now
    schedule_any(run.tree, site.slot[row], max(now, min(end, site.stop[row])))


@inlined
def take_in(run, host, guest, promise, now):
    """Start a job with a slot on processors of a running job, at speed and pace 0 until these are set."""
    site = run.site
    unlist_running(site, host)
    site.procs[host] -= site.procs[guest]
    list_running(site, host)
    site.start[guest] = now
    site.expected_end[guest] = promise
    list_running(site, guest)
    hold_none(run.pieces, site.slot[guest], site.slot[host])
    lend(run.pieces, site.slot[host], site.slot[guest], site.procs[guest])
    begin_rated(site, guest, now)
    site.host[guest], site.guest[host] = host, guest
    set_rate(run, guest, 0.0, 0.0, now)


@inlined
def part_pair(run, row, now):
    """Separate a job that has ended or was killed from its guest or host, which continues alone."""
    site = run.site
    guest, host = site.guest[row], site.host[row]
    if guest != NO_ROW:
        site.guest[row] = site.host[guest] = NO_ROW
        # The job regains its width, as it may return to the queue.
        site.procs[row] += site.procs[guest]
        set_rate(run, guest, 1.0, 1.0, now)
        unlist_running(site, guest)
        site.expected_end[guest] = min(site.expected_end[guest], now + max(0.0, site.allowance[guest]))
        list_running(site, guest)
    if host != NO_ROW:
        site.host[row] = site.guest[host] = NO_ROW
        lend(run.pieces, site.slot[row], site.slot[host], site.procs[row])
        unlist_running(site, host)
        site.procs[host] += site.procs[row]
        list_running(site, host)

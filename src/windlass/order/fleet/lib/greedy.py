"""SWAG's order, exactly, in far fewer steps than the plain loop over all jobs.

Every waiting job is filed under the site that was its bottleneck when it was last examined. Of two jobs under one
site, the one with fewer tasks there has the smaller (queue + tasks) / slots, however the queue has grown since. A
heap per site, by tasks, therefore stays in order without updates, and the least of the tops is a lower bound for all.
If the job with the least bound still has its bottleneck there, it is the next one; otherwise it is filed
again. A makespan over all sites is moreover at least that of the job last chosen, the *level*. All jobs that fit under
the level tie, and the one with the fewest tasks goes first, so these jobs have a heap of their own, by tasks.

Heaps are skew heaps (Sleator and Tarjan, "Self-adjusting heaps", 1986), which merge in place.
"""

import numpy as np

from windlass.jit import allocating, helper, inlined, lean

_NONE = -1
#: Per choice, one in ``_PATIENCE`` of the waiting jobs may be filed again; beyond that, ``_PLAIN_CHOICES`` jobs are
#: chosen by the plain loop, which bounds each job over ``_FEW_SITES`` sites first.
_PATIENCE, _PLAIN_CHOICES, _FEW_SITES = 64, 64, 4
#: After the plain choices, one in ``_RETRY`` of the waiting jobs may be filed again before the plain loop returns, so
#: that filing is retried at little cost and continues where it helps.
_RETRY = 16
#: A quotient times its divisor may be slightly below the dividend.
_ROUNDING = 1.0 + 1e-12


@inlined
def _makespan(queue, tasks, rank, slots, alike, own_sites, ends, bits):
    """Return the maximum over sites of (queue + tasks of a job) / slots; if all slots are equal, divide once.

    Non-negative floats compare as their bits do; ``bits`` is an integer view of ``ends`` (m + 1,). Integer comparisons
    are vectorised, whereas floats are compared one by one because of NaN.
    """
    sites = len(queue)
    for site in range(sites):
        ends[site] = queue[site] + tasks[rank, site]
    if not alike:
        for site in range(sites):
            ends[site] /= slots[site]
    if own_sites:
        for site in range(sites):
            ends[site] = ends[site] if tasks[rank, site] > 0.0 else 0.0
    longest = np.int64(0)
    for site in range(sites):
        longest = bits[site] if bits[site] > longest else longest
    bits[sites] = longest
    return ends[sites] / slots[0] if alike else ends[sites]


@lean
def _bottleneck(queue, tasks, slots, own_sites, span):
    """Return the first site that gives this makespan."""
    site = 0
    while (queue[site] + tasks[site]) / slots[site] != span or (own_sites and tasks[site] <= 0.0):
        site += 1
    return site


@inlined
def _before(key, one, other):
    return key[one] < key[other] or (key[one] == key[other] and one < other)


@lean
def _merge(key, left, right, one, other):
    """Merge two skew heaps and return the root."""
    root = other
    if one != _NONE:
        root = one
        if other != _NONE:
            if _before(key, other, one):
                one, other = other, one
            root = one
            while True:
                under = right[one]
                right[one] = left[one]
                if under == _NONE:
                    left[one] = other
                    break
                if _before(key, other, under):
                    under, other = other, under
                left[one] = under
                one = under
    return root


@lean
def _push(heap, key, left, right, place, rank, value):
    key[rank], left[rank], right[rank] = value, _NONE, _NONE
    heap[place] = _merge(key, left, right, heap[place], rank)


@lean
def _pop(heap, key, left, right, place):
    rank = heap[place]
    heap[place] = _merge(key, left, right, left[rank], right[rank])
    return rank


@lean
def _first_filed(heap, key, queue, slots, under, level):
    """Return the heap whose top has the least bound, and that bound."""
    place, bound = under, level
    if heap[under] == _NONE:
        bound = np.inf
        for site in range(under):
            top = heap[site]
            if top != _NONE:
                own = (queue[site] + key[top]) / slots[site]
                if own < bound or (own == bound and top < heap[place]):
                    place, bound = site, own
    return place, bound


@lean
def _refile(heap, key, left, right, queue, slots, under, level):
    """Move jobs that may fit under the level to the heap of those that do."""
    for site in range(under):
        while heap[site] != _NONE and (queue[site] + key[heap[site]]) / slots[site] <= level:
            _push(heap, key, left, right, under, _pop(heap, key, left, right, site), 0.0)


@lean
def _by_queue(busiest, queue, slots):
    """Sort sites by queue length, longest first; they are nearly sorted since the last call."""
    for place in range(1, len(busiest)):
        site = busiest[place]
        length = queue[site] / slots[site]
        slot = place
        while slot > 0 and queue[busiest[slot - 1]] / slots[busiest[slot - 1]] < length:
            busiest[slot] = busiest[slot - 1]
            slot -= 1
        busiest[slot] = site


@allocating
def _columns(tasks, done, own_sites):
    """Return (m, n) tasks by site; infinity for a finished job, minus infinity for a site that does not count."""
    jobs, sites = tasks.shape
    columns = np.empty((sites, jobs))
    for rank in range(jobs):
        for site in range(sites):
            amount = tasks[rank, site]
            columns[site, rank] = -np.inf if own_sites and amount <= 0.0 else amount
            if done[rank]:
                columns[site, rank] = np.inf
    return columns


@lean
def _bounds(columns, queue, slots, busiest, alike, ends, bounds):
    """Compute (n,) the makespan of each job over the busiest sites, times the slots if all sites have equally many."""
    bits, greatest = ends.view(np.int64), bounds.view(np.int64)
    for rank in range(len(bounds)):
        greatest[rank] = 0
    for place in range(min(_FEW_SITES, len(busiest))):
        site = busiest[place]
        length, share = queue[site], slots[site]
        for rank in range(len(bounds)):
            ends[rank] = length + columns[site, rank]
        if not alike:
            for rank in range(len(bounds)):
                ends[rank] /= share
        for rank in range(len(bounds)):
            greatest[rank] = bits[rank] if bits[rank] > greatest[rank] else greatest[rank]


@lean
def _scan(bounds, queue, tasks, slots, busiest, alike, own_sites, level):
    """Run the plain loop: return the job with the least makespan and that makespan; few jobs pass their bound.

    The job with the least bound is examined first: it is nearly the best, so that hardly any other passes.
    """
    greatest = bounds.view(np.int64)
    first = 0
    for rank in range(len(bounds)):
        first = rank if greatest[rank] < greatest[first] else first
    best, least, most = first, np.inf, np.inf
    for turn in range(-1, len(bounds)):
        rank = first if turn < 0 else turn
        if bounds[rank] > most or turn == first:
            continue
        span = 0.0
        for site in busiest:
            end = (queue[site] + tasks[rank, site]) / slots[site]
            if end > span and not (own_sites and tasks[rank, site] <= 0.0):
                span = end
                if span > least:
                    break
        if span < least or (span == least and rank < best):
            best, least = rank, span
            most = span * slots[0] * _ROUNDING if alike else span
        # In order, so that the first job under the level is returned even if it was examined out of order.
        if least <= level and turn >= best:
            break
    return best, least


@helper
def greedy(subjobs, slots, backlog, own_sites, by_size, out):
    """Write SWAG's order to ``out``.

    Jobs are identified by rank in ``by_size`` (n,), the order that breaks ties. If only ``own_sites`` count,
    there is no level, and the heap of those under it holds jobs without tasks.

    If every job has much to do everywhere, bottlenecks move with each choice and filing does not help: the next
    few jobs are then chosen by the plain loop.
    """
    jobs, sites = subjobs.shape
    tasks = np.empty((jobs, sites))
    queue = backlog.copy()
    ends = np.empty(sites + 1)
    bits = ends.view(np.int64)
    alike = True
    level = 0.0
    for site in range(sites):
        alike = alike and slots[site] == slots[0]
        if not own_sites:
            level = max(queue[site] / slots[site], level)
    under = sites
    heap = np.full(sites + 1, _NONE)
    key, left, right = np.empty(jobs), np.empty(jobs, np.int64), np.empty(jobs, np.int64)
    for rank in range(jobs):
        for site in range(sites):
            tasks[rank, site] = subjobs[by_size[rank], site]
        # The bottleneck is computed when the job reaches the top of the heap.
        _push(heap, key, left, right, under, rank, 0.0)
    done = np.zeros(jobs, np.bool_)
    busiest = np.arange(sites)
    columns, lengths, bounds = np.empty((sites, 0)), np.empty(0), np.empty(0)
    chosen = plain = 0
    patience = jobs
    filed = level
    while chosen < jobs:
        if plain > 0:
            plain -= 1
            patience = (jobs - chosen) // _RETRY
            _by_queue(busiest, queue, slots)
            _bounds(columns, queue, slots, busiest, alike, lengths, bounds)
            rank, span = _scan(bounds, queue, tasks, slots, busiest, alike, own_sites, level)
        else:
            if filed < level:
                _refile(heap, key, left, right, queue, slots, under, level)
                filed = level
            place, bound = _first_filed(heap, key, queue, slots, under, level)
            rank = _pop(heap, key, left, right, place)
            if done[rank]:
                continue
            span = _makespan(queue, tasks, rank, slots, alike, own_sites, ends, bits)
            if span > bound:
                site = _bottleneck(queue, tasks[rank], slots, own_sites, span)
                _push(heap, key, left, right, site, rank, tasks[rank, site])
                patience -= 1
                if patience < 0:
                    plain = _PLAIN_CHOICES
                    if len(bounds) == 0:
                        columns = _columns(tasks, done, own_sites)
                        lengths, bounds = np.empty(jobs), np.empty(jobs)
                continue
        for site in range(sites):
            queue[site] += tasks[rank, site]
        out[chosen] = by_size[rank]
        done[rank] = True
        if len(bounds) > 0:
            columns[:, rank] = np.inf
        chosen += 1
        if plain == 0:
            patience = min(max(patience, 0) + (jobs - chosen) // _PATIENCE + 1, jobs)
        if not own_sites:
            level = max(span, level)

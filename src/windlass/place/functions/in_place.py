"""Where the tasks of a shuffle run when they run where their data is: compiled, for policies and for the simulator."""

from windlass.compiled import lean
from windlass.place.lib.search import total_of
from windlass.place.lib.whole import round_shares


@lean
def shuffle_in_place(data, slots, tasks, started, waiting, want):
    """Fill ``want`` (n,) with the tasks of a shuffle that each site still runs, in proportion to the data there.

    ``data`` (n,) bytes that it reads at each site, of which only proportions count; ``slots`` (n,) float64 of each site,
    one without any gets no task; both are written over. ``tasks`` of the whole stage; ``started`` (n,) those begun at
    each site; ``waiting`` those not begun.
    """
    total = total_of(data)
    for x in range(len(data)):
        data[x] = data[x] / total if total > 0.0 and slots[x] > 0.0 else 0.0
    if total_of(data) <= 0.0:
        for x in range(len(data)):
            data[x] = slots[x]
    # Of the whole stage, so that what has begun does not shift what is left.
    round_shares(data, tasks, slots, want)
    less_begun(started, waiting, want)


@lean
def less_begun(started, waiting, want):
    """Take what has begun off what is wanted of a whole stage."""
    for x in range(len(want)):
        want[x] = max(0, want[x] - started[x])
    # Where resources changed since, more may have begun at a site than it has now to run.
    over = total_of(want) - waiting
    while over > 0:
        widest = 0
        for x in range(len(want)):
            if want[x] > want[widest]:
                widest = x
        want[widest] -= 1
        over -= 1

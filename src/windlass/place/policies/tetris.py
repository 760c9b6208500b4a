"""Multi-resource packing (Tetris)."""

from typing import ClassVar, NamedTuple

import numpy as np

from windlass.jit import Kernel, lean
from windlass.place.compiled import PLACE, CompiledPlacement
from windlass.place.lib.decide import open_now
from windlass.place.lib.pick import LOCAL, REMOTE, SHUFFLE, put
from windlass.place.lib.search import total_of
from windlass.place.lib.stage import by_size
from windlass.place.policies.tetrium import between


class TetrisOptions(NamedTuple):
    """Parameters of the packing; see :class:`Tetris`."""

    penalty: float
    srtf: float
    network: float
    local_reads: float


@lean
def _options_of(parameters):
    return TetrisOptions(parameters[0], parameters[1], parameters[2], parameters[3])


@lean
def _best_source(sites, ready, row, y, waiting, up_free):
    """Return the remote site with input of the stage and the most uplink left; -1 for none."""
    source = -1
    for x in range(len(up_free)):
        usable = x != y and waiting[row, x] > 0 and up_free[x] > 0.0
        if usable and (source < 0 or up_free[x] > up_free[source]):
            source = x
    return source


@lean
def _fits(room, rate):
    """Return how many tasks that read at this rate fit; all if they read nothing."""
    return int(min(max(room, 0.0) / rate + 1e-9, 1e9)) if rate > 0.0 else 1_000_000_000


def _place(now, sites, ready, changed, parameters, starts):
    m, n = ready.here.shape
    options, open_slots = _options_of(parameters), open_now(sites.free)
    up_free, down_free = sites.up_free.copy(), sites.down_free.copy()
    waiting = ready.here.copy()
    left = ready.waiting.copy()
    rate, part, work = np.empty(m), np.zeros((m, n)), np.empty(m)
    for row in range(m):
        total = total_of(ready.data[row])
        work[row] = ready.waiting[row] * ready.task_s[row]
        # The rate of a task that reads for as long as it computes.
        rate[row] = total / max(work[row], 1e-9)
        for x in range(n):
            part[row, x] = ready.data[row, x] / total if total > 0.0 else 0.0
    mean_work = max(total_of(work) / max(m, 1), 1e-9)
    count = 0
    # Entry 2 row: tasks local to the site, or of a shuffle; entry 2 row + 1: remote tasks.
    score, source = np.empty(2 * m), np.empty(2 * m, np.int64)
    for y in range(n):
        if open_slots[y] <= 0:
            continue
        slot_part = (1.0 / sites.slots[y]) * (open_slots[y] / sites.slots[y])
        link_left = down_free[y] / sites.down[y] if sites.down[y] > 0.0 else 0.0
        link_part = options.network * link_left
        for row in range(m):
            score[2 * row] = score[2 * row + 1] = -np.inf
            source[2 * row] = source[2 * row + 1] = -1
            ahead = options.srtf * (work[row] / mean_work)
            if ready.shuffles[row]:
                away = 1.0 - part[row, y]
                read = (
                    away * rate[row] / sites.down[y] if sites.down[y] > 0.0 else (np.inf if away > 0 else 0.0)
                )
                if read < np.inf:
                    if options.local_reads > 0.0 and sites.down[y] > 0.0:
                        # With local reads, all input counts at the same rate.
                        read = rate[row] / sites.down[y]
                    aligned = slot_part + read * link_part
                    score[2 * row] = aligned * (1.0 - options.penalty * away) - ahead * slot_part
                continue
            if waiting[row, y] > 0:
                aligned = slot_part
                if options.local_reads > 0.0 and sites.down[y] > 0.0:
                    aligned += rate[row] / sites.down[y] * link_part
                score[2 * row] = aligned - ahead * slot_part
                source[2 * row] = y
            other = _best_source(sites, ready, row, y, waiting, up_free)
            if other >= 0 and sites.down[y] > 0.0:
                aligned = slot_part + rate[row] / sites.down[y] * link_part
                score[2 * row + 1] = aligned * (1.0 - options.penalty) - ahead * slot_part
                source[2 * row + 1] = other
        order = by_size(score)
        for rank in range(2 * m):
            entry = order[rank]
            row = entry // 2
            if score[entry] == -np.inf or open_slots[y] <= 0:
                break
            if ready.shuffles[row]:
                take = min(open_slots[y], left[row], _fits(down_free[y], (1.0 - part[row, y]) * rate[row]))
                for x in range(n):
                    if x != y:
                        take = min(take, _fits(up_free[x], part[row, x] * rate[row]))
                if take <= 0 and sites.free[y] == sites.slots[y] and total_of(ready.running[row]) == 0:
                    # On an idle site, a task that never fits would wait forever.
                    take = min(1, left[row])
                for x in range(n):
                    if x != y:
                        up_free[x] -= take * part[row, x] * rate[row]
                down_free[y] -= take * (1.0 - part[row, y]) * rate[row]
                count = put(starts, count, row, -1, y, take, SHUFFLE)
            elif entry % 2 == 0:
                take = min(open_slots[y], waiting[row, y])
                waiting[row, y] -= take
                count = put(starts, count, row, y, y, take, LOCAL)
            else:
                x = source[entry]
                fits = min(_fits(down_free[y], rate[row]), _fits(up_free[x], rate[row]))
                take = min(open_slots[y], waiting[row, x], fits)
                if take <= 0 and sites.slots[x] <= 0 and total_of(ready.running[row]) == 0:
                    take = min(1, waiting[row, x])
                waiting[row, x] -= take
                up_free[x] -= take * rate[row]
                down_free[y] -= take * rate[row]
                count = put(starts, count, row, x, y, take, REMOTE)
            left[row] -= take
            open_slots[y] -= take
    return count


class Tetris(CompiledPlacement):
    """Packs tasks into the free slots and links of each site by how well their demand aligns with free resources.

    For each site with free slots, the next task is the one with the highest score: the dot product of its
    demand (a slot, and the rate at which it would read if it read for as long as it computes) and of the
    site's free resources, both as fractions of the site's capacity; less ``penalty`` for remote reads, and
    less a term for the job's remaining work. A task starts only if its whole demand fits, so links are never
    overbooked.

    Source: Grandl et al., "Multi-resource packing for cluster schedulers", SIGCOMM 2014, sections 3.2-3.3.
    The thesis (4.6.3) compares with it without describing how sites and links map to machines; here a site is
    a machine.

    Parameters
    ----------
    penalty
        Fraction of the score that a remote read costs.
    srtf
        Weight of the job's remaining work relative to alignment.
    network
        Whether the score includes the links; demand must fit the links in either case.
    local_reads
        Whether local reads count in that term as remote ones do. If not, a remote read scores higher than a
        local one whenever the penalty is less than what the link adds.

    Raises
    ------
    InputError
        A parameter is out of bounds; the message names it.

    Examples
    --------
    >>> from windlass.place.view import PlaceView, Ready, Sites
    >>> sites = Sites.of(slots=[4, 4], up=[1e9, 1e9], down=[1e9, 1e9])
    >>> ready = Ready.of(shuffles=[0, 0], task_s=1, here=[[8, 0], [0, 1]], task_bytes=1e8)
    >>> Tetris().decide(PlaceView(0.0, sites, ready)).starts.tolist()
    [[1, 1, 0, 1], [0, 0, 0, 3], [0, 0, 1, 4]]
    """

    name: ClassVar[str] = "tetris"
    place: ClassVar[Kernel] = Kernel(_place, PLACE)

    def __init__(
        self, penalty: float = 0.1, srtf: float = 1.0, network: bool = True, local_reads: bool = False
    ) -> None:
        options = TetrisOptions(
            between("penalty", penalty, 0.0, 1.0),
            between("srtf", srtf, 0.0, np.inf),
            between("network", network, 0, 1),
            between("local_reads", local_reads, 0, 1),
        )
        self.parameters = np.array(options)

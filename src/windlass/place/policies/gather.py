"""Shuffles that gather, so that later ones need not move."""

from typing import ClassVar, NamedTuple

import numpy as np

from windlass.jit import Kernel
from windlass.place.compiled import PLACE, CompiledPlacement
from windlass.place.lib import options as tetrium
from windlass.place.lib.decide import open_now
from windlass.place.lib.gather import Shuffle, best_share, expected_links, expected_slots
from windlass.place.lib.leftover import start_rest
from windlass.place.lib.pick import REASONS, SHUFFLE, put, start_maps
from windlass.place.lib.search import SOLVED, total_of
from windlass.place.lib.stage import StageLoad, StageResources, by_size, solve_map
from windlass.place.lib.whole import move_least, whole, whole_within
from windlass.place.policies.tetrium import between


class GatherOptions(NamedTuple):
    """Parameters, all floats; see :class:`Gather`."""

    ahead: float
    slots_back: float
    links_left: float
    patience: float


#: Order of map tasks: local ones first, remote ones spread over their sources.
_MAPS = tetrium.PlacementOptions(
    epsilon=1.0,
    rho=1.0,
    local_share=0.0,
    remote_first=0.0,
    spread=1.0,
    direction=0.0,
    fair_order=0.0,
    iridium=0.0,
    keep_sites=0.0,
)


def _place(now, sites, ready, changed, parameters, starts):
    m, n = ready.here.shape
    options = GatherOptions(parameters[0], parameters[1], parameters[2], parameters[3])
    open_slots = open_now(sites.free)
    slots, up, down, share, most = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    counts, take, flow = np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, n), np.int64)
    expected_links(sites.up, sites.up_free, options.links_left, up)
    expected_links(sites.down, sites.down_free, options.links_left, down)
    left = np.empty(m)
    for row in range(m):
        left[row] = -ready.left[row] * ready.waiting[row] * ready.task_s[row]
    order, count = by_size(left), 0
    for place in range(m):
        row = order[place]
        if total_of(open_slots) == 0:
            break
        expected_slots(sites, open_slots, options.slots_back, slots)
        resources, waiting, data = StageResources(slots, up, down), ready.waiting[row], ready.data[row].copy()
        if ready.shuffles[row]:
            written = total_of(data) / max(waiting, 1) * ready.total[row] * ready.ratio[row]
            after = ready.left[row] - 1.0
            shuffle = Shuffle(data, ready.started[row], waiting, ready.task_s[row], written, after)
            if not best_share(shuffle, resources, options.ahead, share):
                continue
            whole(share, waiting, counts)
            for y in range(n):
                tasks = min(counts[y], open_slots[y])
                open_slots[y] -= tasks
                count = put(starts, count, row, -1, y, tasks, SHUFFLE)
            continue
        for x in range(n):
            if slots[x] <= 0.0 and sites.up[x] <= 0.0:
                data[x] = 0.0
        load = StageLoad(waiting * ready.task_s[row], np.inf, 1.0 / max(waiting, 1))
        if solve_map(data, resources, load, share, most)[2] != SOLVED:
            continue
        whole_within(share, most, waiting, counts)
        move_least(ready.here[row], counts, sites.up, flow)
        for y in range(n):
            take[y] = 0
            for x in range(n):
                # Tasks whose input cannot leave wait for a slot at its site.
                if x != y and (sites.up[x] <= 0.0 or sites.down[y] <= 0.0):
                    flow[x, y] = 0
                take[y] += flow[x, y]
            take[y] = min(take[y], open_slots[y])
            open_slots[y] -= take[y]
        count = start_maps(starts, count, row, flow, take, sites.up, _MAPS)
    return start_rest(sites, ready, order, options.patience, open_slots, starts, count)


class Gather(CompiledPlacement):
    """Places each stage for the least time of this and all later stages of its job: shuffles gather at few sites.

    A stage that is placed only for itself spreads over slots, and so does its output, which every later stage
    of the job shuffles again. Here a shuffle's own optimum competes with gathering at one site, or at the few
    with the most slots, by the time of this stage and of all later shuffles, assuming that each of those runs
    where the one before wrote. Data at one site does not move any more.

    Maps are placed by Tetrium's program, and local ones start first. Slots that other tasks hold count in
    part, because they will be free soon; of links, unused bandwidth counts. Jobs with the least remaining
    work come first: the waiting work of the stage times the number of stages left.

    Source: Windlass. The programs of single stages are Tetrium's (thesis, section 4.3).

    Parameters
    ----------
    ahead
        Whether later shuffles count.
    slots_back
        Fraction of the slots held by other tasks that a stage counts on.
    links_left
        Minimum fraction of a link that a stage counts on, whatever is in use.
    patience
        A map that would wait at its input starts on an otherwise idle slot if reading over idle links takes
        at most this fraction of its compute time; 0 for never.

    Raises
    ------
    InputError
        A parameter is out of bounds; the message names it.

    Examples
    --------
    >>> from windlass.place.view import PlaceView, Ready, Sites
    >>> sites = Sites.of(slots=[9, 9, 9], up=[1e8] * 3, down=[1e8] * 3)
    >>> ready = Ready.of(1, 1.0, [[0, 0, 0]], data=[[6e7, 6e7, 6e7]], waiting=9, left=4)
    >>> Gather().decide(PlaceView(0.0, sites, ready)).starts.tolist()
    [[0, -1, 0, 9]]
    >>> Gather(ahead=False).decide(PlaceView(0.0, sites, ready)).starts.tolist()
    [[0, -1, 0, 3], [0, -1, 1, 3], [0, -1, 2, 3]]
    """

    name: ClassVar[str] = "gather"
    place: ClassVar[Kernel] = Kernel(_place, PLACE)
    reasons: ClassVar[tuple[str, ...]] = (*REASONS, "no free slot at its input, and reading is fast")
    largest_first = True

    def __init__(
        self, ahead: bool = True, slots_back: float = 0.3, links_left: float = 0.2, patience: float = 0.0
    ) -> None:
        options = GatherOptions(
            between("ahead", ahead, 0, 1),
            between("slots_back", slots_back, 0.0, 1.0),
            between("links_left", links_left, 0.0, 1.0),
            between("patience", patience, 0.0, np.inf),
        )
        self.parameters = np.array(options)

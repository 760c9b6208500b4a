"""The cores of a ledger that the tasks of a fleet hold, one a task.

The slots of a site are the cores that the fleet holds there and the idle ones that it may take. Other parts take cores
and give them back, so slots vary; policies see a change as one of the timetable. Tasks that have started take their
cores together, in the order of their start; each remembers the row, and each row the tasks on it, the latest first.
"""

from __future__ import annotations

from windlass.jit import inlined, lean
from windlass.sim.cores import give_to, take_one


@inlined
def match_slots(state, nodes, number):
    """Set the slots of a site to the cores held and idle; return whether their number has changed."""
    run, site = state.run[0], state.sites[number]
    held, free = site.slots - site.free, nodes.total[site.ledger]
    if nodes.counts[0].limited != 0 and nodes.most[site.ledger, run.part] >= 0:
        free = min(free, max(nodes.most[site.ledger, run.part] - held, 0))
    changed = held + free != site.slots
    if changed:
        run.closed += (held + free == 0) - (site.slots == 0)
        site.slots = held + free
        state.slots[number] = max(site.slots, 1)
        run.wanted = run.resources = run.moved = 1
    site.free = free
    return changed


@inlined
def note_start(state, number):
    """Note that a task has started and takes a core next, if the fleet is on a ledger."""
    run = state.run[0]
    if run.bound != 0:
        state.cores[run.begins].new = number
        run.begins += 1


@lean
def hold_cores(state, nodes):
    """Take cores for the tasks that have started, each on the first row of its site with an idle one."""
    run = state.run[0]
    for place in range(run.begins):
        number = state.cores[place].new
        row = take_one(nodes, state.sites[state.tasks[number].site].ledger, run.part)
        core = state.cores[number]
        core.row, core.later, core.earlier = row, -1, state.on_row[row]
        if core.earlier >= 0:
            state.cores[core.earlier].later = number
        state.on_row[row] = number
    run.begins = 0


@inlined
def give_core(state, nodes, number):
    """Give the core of a task back to the ledger."""
    core = state.cores[number]
    if core.later >= 0:
        state.cores[core.later].earlier = core.earlier
    else:
        state.on_row[core.row] = core.earlier
    if core.earlier >= 0:
        state.cores[core.earlier].later = core.later
    give_to(nodes, core.row, nodes.site[core.row], state.run[0].part, 1)

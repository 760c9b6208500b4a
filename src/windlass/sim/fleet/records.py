"""Record types of the simulated fleet: run, site, job, stage, part, task, core, cell, flow, batch, change.

The comment above each type describes its fields, in their order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike


def _record(ints: str = "", floats: str = "", short: str = "") -> np.dtype[np.void]:
    kinds: list[tuple[str, DTypeLike]] = [(name, np.float64) for name in floats.split()]
    kinds += [(name, np.int64) for name in ints.split()]
    return np.dtype([*kinds, *((name, np.int32) for name in short.split())], align=True)


#: The whole run. Counts: jobs submitted and ended; changes of the timetable applied; rows of the tables in use; flows
#: and batches in use; lines of both logs; waiting stages, and jobs and sub-jobs among them; sites without slots; orders
#: in force (1, or one per site); decisions, and the jobs and sub-jobs in the views of all decisions.
#: Flags that change, 0 or 1: a placement is wanted; slots or links changed since the last decision; flows changed since
#: the last update of the links; jobs arrived or departed or stages became ready since the last order; an order was just
#: given; the room for flows or batches ran out.
#: Flags of the whole run, 0 or 1: reads are logged; pairs of sites have limits of their own; there are links; tasks
#: start by a standing order; a Python policy gives it; it sees expected seconds; each task belongs to a part of input.
#: On a ledger: whether the fleet's slots are cores of one; the part's number there; tasks that have started and take
#: their cores next; 1 if the instant `now` has to be processed (again); tasks that ended before the rest of it, and the
#: site of the last one; moves of input in progress; lines of the log of lost tasks; 1 if a decision outside is due; 1
#: while the loop processes the rest of an instant; address of the loop's machine code.
#: Times, s: now; last update of the links, the next one, the minimum time between two; last placement, the minimum time
#: between two; latest time of the next decision, set by the policy; next time at which an event or a decision may be
#: due; then seconds and number of all finished tasks; compute time of the shortest task.
RUN = _record(
    "submitted ended changes rows flows batches logged rates waits groups subjobs closed orders decisions jobs_reported"
    " subjobs_reported wanted resources flows_new moved answered short"
    " logs limited linked standing python by_seconds homes"
    " bound part begins again ahead ahead_site moves lost due deciding loop",
    "now looked look look_every decided decide_every wake next all_seconds all_tasks shortest",
)
#: A site: slots, idle slots; its position in the standing order; its number in the ledger; links, bytes/s; scratch
#: space for sharing links.
SITE = _record("slots free position ledger", "up down up_left down_left up_weight down_weight")
#: A job: its first stage, stages that have not ended; submission and end, s; bytes sent between sites; seconds and
#: number of its finished tasks; factor of the error in its expected seconds.
JOB = _record("stage0 stages_left", "submit end sent seconds tasks error")
#: A stage: its job, tasks, first task, first part, first child; whether it is a shuffle, and ready; parents that have
#: not ended; tasks begun, ended, and waiting; whether the largest begin first; its row in the tables; bytes written per
#: byte read; input of a task, bytes; latest start of a task, or when it became ready, s; seconds of its finished tasks.
STAGE = _record(
    "job tasks first part0 child0 shuffles ready parents_left begun done waiting largest row",
    "ratio task_bytes since seconds",
)
#: A part of a stage's input: its site, and the first task that reads it.
PART = _record("site task0")
#: A task: compute time, s; input relative to the stage's mean; when it took its slot, had read its input, and released
#: the slot, s; its stage; the sites where it ran and from which it read.
TASK = _record("", "duration size begun read computed", "stage site source")
#: A task of a fleet on a ledger: the row of its core; the tasks that took a core of the row after and before it, -1 for
#: none; the batch with which it reads, or -1, and the next task of that batch. Further lists: the task at each place of
#: the order in which tasks begin; tasks that have started and take their cores next.
CORE = _record("", "", "row later earlier batch after at new")
#: A stage at a site: tasks not begun, the first of them, tasks begun, running, planned; bytes to read.
CELL = _record("left coming started running plan", "data")
#: Rows of the tables, and lists of equal length: the stage of a row; free rows; waiting stages, in order of arrival;
#: jobs in the policy's view; place of each one's first waiting stage; scratch space to check an order.
ROW = _record("stage free wait job group0 seen")
#: A flow: its batch, the next flow of its pair of sites, free flows; the pair's progress at its end, bytes; its
#: start, s; bytes of a task, and of all.
FLOW = _record("batch after free", "ends began each carried")
#: A batch of tasks that read, or of input that moves: stage, site, number of tasks, running flows, first place in the
#: stage's order, whether it is a move; tasks that were not lost, and on a ledger the first of them; free batches.
BATCH = _record("stage site tasks under_way first is_move left head free")
#: A change of the timetable: site, its new slots; time, s; new uplink and downlink, bytes/s.
CHANGE = _record("site slots", "time up down")

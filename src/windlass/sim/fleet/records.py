"""What belongs to one thing of a fleet, side by side: a run, a site, a job, a stage, a task, and what is under way."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike


def _record(ints: str = "", floats: str = "", short: str = "") -> np.dtype[np.void]:
    kinds: list[tuple[str, DTypeLike]] = [(name, np.float64) for name in floats.split()]
    kinds += [(name, np.int64) for name in ints.split()]
    return np.dtype([*kinds, *((name, np.int32) for name in short.split())], align=True)


#: The whole run. How many so far: jobs submitted and ended, changes of the timetable done, rows of the tables in use,
#: flows and batches in use, lines of both logs, stages that wait, jobs and sub-jobs among them, sites without slots;
#: orders in force (1, or one a site); decisions, and over all of them jobs and sub-jobs told of.
#: What is so now, 0 or 1: a placement is wanted; slots or links changed since the last decision; flows changed since
#: the last look; jobs arrived, departed or can go on since the last order; an order was just given; room ran short.
#: What is so for the whole run, 0 or 1: reads are logged; pairs have limits of their own; there are links; tasks start
#: by a standing order; Python gives it; it is told expected seconds; tasks of a part are its own.
#: Times, s: the present; last look at the links, the next one, the least time between looks; last placement, the least
#: time between placements; when a policy wants to be asked at the latest; when something may happen or be due next;
#: seconds and number of all finished tasks.
RUN = _record(
    "submitted ended changes rows flows batches logged rates waits groups subjobs closed orders decisions jobs_reported"
    " subjobs_reported wanted resources flows_new moved answered short"
    " logs limited linked standing python by_seconds homes",
    "now looked look look_every decided decide_every wake next all_seconds all_tasks",
)
#: A site: slots, those idle; links, bytes/s; how far it has come in the standing order; room for sharing links.
SITE = _record("slots free position", "up down up_left down_left up_weight down_weight")
#: A job: when it came and ended, s; bytes sent; seconds and number of its finished tasks; by what its expected seconds
#: are off; its first stage, and stages left.
JOB = _record("stage0 stages_left", "submit end sent seconds tasks error")
#: A stage: whose, tasks, first task, first part, first child; whether it is a shuffle, and ready; parents that have
#: not ended; tasks begun, ended, and waiting; whether the largest begin first; its row in the tables; bytes written per
#: byte read, input of a task, when one began last or it became ready, s; seconds of its finished tasks.
STAGE = _record(
    "job tasks first part0 child0 shuffles ready parents_left begun done waiting largest row",
    "ratio task_bytes since seconds",
)
#: A part: where it lies, its first task.
PART = _record("site task0")
#: A task: how long it computes, s, what it reads over the mean; when it took its slot, had its input, gave the slot
#: back, s; its stage; where it ran, and read from.
TASK = _record("", "duration size begun read computed", "stage site source")
#: A stage at a site: tasks not begun, the next of them, bytes to read, tasks begun, running, planned.
CELL = _record("left coming started running plan", "data")
#: Rows of the tables, and lists of as many entries: the stage of a row; rows in stock; stages that wait, by arrival;
#: jobs told of, where the stages of each begin among those that wait; room to check an order.
ROW = _record("stage free wait job group0 seen")
#: A flow: its batch, the next of its pair, flows in stock; the pair's progress at its end, when it began, s.
FLOW = _record("batch after free", "ends began")
#: A batch of tasks that read, or of input that moves: stage, site, how many, flows under way, first place in the
#: stage's order, whether it moves; batches in stock.
BATCH = _record("stage site tasks under_way first is_move free")
#: A change of the timetable.
CHANGE = _record("site slots", "time up down")

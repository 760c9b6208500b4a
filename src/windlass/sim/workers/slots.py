"""Where each number is kept in ``counts`` and ``clock`` of :class:`~windlass.sim.workers.state.WorkersState`.

==================  ===========================================================================
in ``counts``       what it is
==================  ===========================================================================
``TASKS_ARRIVED``   tasks that have arrived; the number of the next one
``TASKS_DONE``      tasks that have ended
``WORKERS_UP``      workers that are not down
``LONGEST``         most tasks that were ever at one worker
``BENCHMARKS``      benchmark tasks that have ended
``DROPPED``         benchmark tasks that found their lane full, or were lost with their worker
``MOVED``           nodes that lost their worker and were held again
``NEXT_CHANGE``     row of the timetable that happens next
``NEXT_SAMPLE``     row that the next sample goes to
``FREE_NODE``       first node that no benchmark task has; the others are linked behind it
``WAIT_HEAD``       first node that is held for dispatch, or NOBODY
``WAIT_TAIL``       last such node
``LOG_FIRST``       entry of the log that schedulers see next
``LOG_SIZE``        entries of the log that they have not seen
``LAST_TASK``       task that ended last
``BINDS_LATE``      1 where nodes are reservations, else 0
``COPIES``          reservations of a task, at least 1
``LANE_ROOM``       benchmark tasks that may wait at one worker
``RECORD``          1 where it is kept when and where tasks start, else 0
``SIZES_HIDDEN``    1 where every task that ended counts as work of 1, else 0
``ASKS_PYTHON``     1 where the policy is asked outside of the loop, else 0
``ANSWER``          worker that such a policy chose, or NOBODY
``SUBJECT``         worker that it is told of; or the one chosen that cannot take a task
``EVENT``           what it is told of that worker: LEFT or JOINED
``POOLED``          1 where a reservation stands for any task of its scheduler, else 0
``SETTLED``         rows of the ledger, of those that changed, that are settled
==================  ===========================================================================

==================  ===========================================================================
in ``clock``        what it is
==================  ===========================================================================
``NOW``             the time, s
``DELAY``           how old what schedulers see is, s
``WORK``            work of the completion that a policy in Python is told of
``SECONDS``         and how long it took, s
``FLOOR``           least share of its speed that a worker keeps while others hold all cores of its node
==================  ===========================================================================
"""

TASKS_ARRIVED, TASKS_DONE, WORKERS_UP, LONGEST, BENCHMARKS, DROPPED, MOVED, NEXT_CHANGE = range(8)
NEXT_SAMPLE, FREE_NODE, WAIT_HEAD, WAIT_TAIL, LOG_FIRST, LOG_SIZE, LAST_TASK = range(8, 15)
BINDS_LATE, COPIES, LANE_ROOM, RECORD, SIZES_HIDDEN, ASKS_PYTHON, ANSWER, SUBJECT, EVENT, SETTLED = range(
    15, 25
)
POOLED, COUNTS = 25, 26

NOW, DELAY, WORK, SECONDS, FLOOR, CLOCKS = range(6)

"""Settings, counters and the exchange with a policy in Python: the single numbers of the state of workers."""

from __future__ import annotations

import numpy as np

from windlass.jit.schema import Scalars

#: No node, task, worker or event.
NONE = -1


class WorkersSettings(Scalars):
    """Settings of a simulation, which do not change; 1 for true.

    Attributes
    ----------
    probe_delay
        Age of the queue lengths and completions that schedulers know, s.
    fetch_delay
        How long a worker waits for a task that it fetches with a reservation, s; 0 without late binding.
    least_share
        Least share of its speed that a worker keeps while its node has cores.
    count_sent
        Whether a scheduler adds what it sent within the probe delay to the lengths that it knows.
    late_binding
        Whether nodes are reservations.
    central
        Whether tasks wait with their schedulers, see :mod:`windlass.sim.workers.central`.
    waits
        Whether tasks wait until a worker takes them: with reservations, or with their schedulers.
    requests_ahead
        Whether busy workers then request their next tasks ahead. False if fetching takes no time.
    copies
        Reservations of each task; 1 without late binding.
    low_room
        Benchmark tasks that may wait at one worker.
    record
        Whether the worker and the start of each task are stored.
    sizes_hidden
        Whether policies get 1 in place of the work of each task that is complete.
    python_policy
        Whether the policy is called in Python, outside of the loop.
    part
        The part's number in the ledger; -1 if it keeps no cores.
    kept
        Share of each node's cores that it keeps.
    refusing_at
        Place in a scheduler's ``ints`` of a number that is not 0 while tasks that arrive are refused; -1 if its policy
        never refuses.
    spills
        Whether the part spills tasks to others, or may get some, see :mod:`windlass.sim.workers.spill`.
    address, rank
        Address of the part's state, if so, and its number in the group of parts that spill to each other.
    spill_delay
        Time from a refusal to the arrival at the next part, s.
    window
        How long the part may run alone, s: the least delay of the parts that spill to each other.
    """

    probe_delay: float
    fetch_delay: float
    least_share: float
    count_sent: int
    late_binding: int
    central: int
    waits: int
    requests_ahead: int
    copies: int = 1
    low_room: int
    record: int
    sizes_hidden: int
    python_policy: int
    part: int = -1
    kept: float
    refusing_at: int = NONE
    spills: int
    address: int
    rank: int
    spill_delay: float
    window: float = np.inf


class WorkersProgress(Scalars):
    """Clock, counters, and the ends of lists.

    Attributes
    ----------
    now
        Time, s.
    arrived, completed, last_task
        Tasks that have arrived, which is the number of the next one; tasks complete or refused; the last complete one.
    refused
        Tasks that were refused.
    expected
        Tasks of the workload, and those that other parts have spilled to this one.
    workers_up
        Workers that are not down.
    unbound, known_unbound
        Tasks that wait with all schedulers; as schedulers know it.
    idle
        Workers that are up and run nothing, if tasks wait with their schedulers.
    waiting_head, waiting_tail
        First and last task that waits with its scheduler.
    longest_queue
        Most tasks that one worker had at any time.
    benchmarks, dropped
        Benchmark tasks complete; those dropped because their queue was full or their worker failed.
    moved
        Nodes that lost their worker and were held again.
    next_change, next_sample
        Next row of the timetable, and of the samples.
    free_node
        First node that no benchmark task uses; the others follow in ``after``.
    held_head, held_tail
        First and last node held for dispatch.
    log_first, log_size
        First entry of the log, and the number of entries in use.
    settled
        Rows of the ledger's changed ones that are settled.
    own_arrived
        Tasks of the part's own workload that have arrived, if it spills.
    guests, guest_head, guest_tail
        Tasks that other parts have spilled to this one; the first and the last that has not arrived.
    outgoing
        Tasks in the outbox.
    instant
        When the outbox was last delivered, s.
    """

    now: float
    arrived: int
    completed: int
    last_task: int
    refused: int
    expected: int
    workers_up: int
    unbound: int
    known_unbound: int
    idle: int
    waiting_head: int = NONE
    waiting_tail: int = NONE
    longest_queue: int
    benchmarks: int
    dropped: int
    moved: int
    next_change: int
    next_sample: int
    free_node: int = NONE
    held_head: int = NONE
    held_tail: int = NONE
    log_first: int
    log_size: int
    settled: int
    own_arrived: int
    guests: int
    guest_head: int = NONE
    guest_tail: int = NONE
    outgoing: int
    instant: float


class PolicyExchange(Scalars):
    """Arguments that the loop passes to a policy in Python, and its answer.

    Attributes
    ----------
    chosen
        Worker that the policy chose for the next task; NONE until it has.
    worker
        Worker of a completion or a change. In compiled policies too, a choice that is not a worker that is up.
    event
        Change of that worker: ``LEFT`` or ``JOINED`` of :mod:`windlass.dispatch.state`.
    work, seconds
        Work of the completed task, and its duration, s.
    """

    chosen: int = NONE
    worker: int
    event: int
    work: float
    seconds: float

"""What happens in a run: jobs, actions of users, and faults, all drawn from one seed."""

from dataclasses import dataclass, replace

import numpy as np

from tests.engines.slurm.releases import RELEASES

#: Faults of a command: the answer is lost before or after the command is carried out, late, that of an earlier call,
#: cut short, or a refusal; or the command is carried out twice.
COMMANDS = ("lost", "unanswered", "delayed", "stale", "cut", "refused", "twice")
#: The driver is killed before, within or after a write: a line of the journal, or a command that changes a job.
KILLS = ("killed before", "killed within", "killed after")
#: Other faults: the journal's disk is full, the driver receives SIGINT, Slurm's controller restarts, or restarts from
#: an earlier state, and a node is drained for a while.
OTHERS = ("disk full", "interrupted", "restarted", "rolled back", "drained")
FAULTS = (*COMMANDS, *KILLS, *OTHERS)
#: What users, administrators and Slurm do to a job.
ACTIONS = (
    "user holds",
    "user releases",
    "user requeues",
    "user requeues, held",
    "cancelled",
    "launch fails",
    "administrator holds",
    "administrator releases",
    "comment removed",
    "request changed",
    "depends",
)
#: When faults and actions end, s after the beginning.
QUIET_S = 90.0
CPUS = 4


@dataclass(frozen=True, slots=True)
class Job:
    """A job as submitted: times in s, `opted` if it is left to Windlass, `wide` if it requests more than there is."""

    number: int
    submit: float
    procs: int
    seconds: float
    opted: bool = True
    completing: float = 0.0


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault.

    `at` is the number of a command for a fault of :data:`COMMANDS`, that of a write for one of :data:`KILLS` and for
    a full disk, and otherwise a time, s. `size` is a time, s, or a share.
    """

    kind: str
    at: float
    size: float = 0.0


@dataclass(frozen=True, slots=True)
class Action:
    """Something that happens to a job at a time, s."""

    kind: str
    at: float
    job: int
    size: float = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """A run. `ends_held` runs stop the driver while jobs wait, all others when nothing is left to do."""

    seed: int
    release: str
    policy: str
    jobs: tuple[Job, ...]
    actions: tuple[Action, ...]
    faults: tuple[Fault, ...]
    ends_held: bool = False
    #: After each of this many ends of a driver, the command `give-back` is run; 0 for never.
    give_back_every: int = 0
    #: Size at which the journal is rotated, bytes.
    journal_limit: int = 8 << 20
    #: Polling interval, s.
    pace: float = 2.0

    def without(self, part):
        """Return the plan without a fault, an action or a job."""
        return replace(
            self,
            faults=tuple(each for each in self.faults if each is not part),
            actions=tuple(each for each in self.actions if each is not part),
            jobs=tuple(each for each in self.jobs if each is not part),
        )


def draw(seed):
    """Return the plan of a seed."""
    rng = np.random.default_rng(seed)

    def below(limit):
        return int(rng.integers(limit))

    def time(begin=0.0):
        # Tenths of a second, so that a printed plan is the plan.
        return round(begin + float(rng.random()) * (QUIET_S - begin), 1)

    jobs = []
    for number in range(1, 3 + below(5)):
        submit, seconds = (
            time() * (below(3) > 0) * 0.7,
            round(2.0 + float(rng.random()) * (20.0, 20.0, 90.0)[below(3)], 1),
        )
        ends = 3.0 if below(5) == 0 else 0.0
        jobs.append(Job(number, round(submit, 1), 1 + below(CPUS), seconds, below(6) > 0, ends))
    actions = []
    for _ in range(below(7)):
        job = jobs[below(len(jobs))]
        actions.append(
            Action(ACTIONS[below(len(ACTIONS))], time(job.submit), job.number, float(1 + below(20)))
        )
    faults = []
    for _ in range(below(12)):
        group = (COMMANDS, COMMANDS, KILLS, OTHERS)[below(4)]
        kind = group[below(len(group))]
        at = {COMMANDS: below(120), KILLS: below(40), OTHERS: time()}[group]
        if kind == "disk full":
            at = below(40)
        size = round(float(rng.random()), 2)
        faults.append(Fault(kind, at, size if kind in ("cut", "killed within", "refused") else 20.0 * size))
    return Plan(
        seed,
        RELEASES[below(len(RELEASES))] if below(3) == 0 else "22.05.9",
        ("fcfs", "easy")[below(2)],
        tuple(jobs),
        tuple(actions),
        tuple(faults),
        below(3) == 0,
        (0, 0, 2)[below(3)],
        (8 << 20, 700)[below(2)],
        (2.0, 2.0, 2.0, 45.0)[below(4)],
    )

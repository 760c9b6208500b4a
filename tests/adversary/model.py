"""A model of the Slurm driver: journal, release, watch; pure transitions between states that can be explored in full.

A job is held for Windlass, then released: first the journal, then the command, then its confirmation in the journal.
Meanwhile its user may hold and release it, Slurm starts it, answers are lost, and the driver is killed and restarted.
"""

from collections import deque
from dataclasses import dataclass, replace

#: The next step of a driver between two polls: none, the command of a release, or its confirmation.
IDLE, COMMAND, CONFIRM = "idle", "command", "confirm"


@dataclass(frozen=True, slots=True, order=True)
class Job:
    """A job in Slurm (`hold`, `phase`, `runs`), in the journal (`entry`), and in the driver (`belief`).

    `free` is true from a confirmed release on: the driver can know that a later hold is not Windlass's.
    """

    hold: str = "windlass"
    phase: str = "waits"
    runs: int = 0
    entry: str = ""
    belief: str = ""
    free: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """The jobs, whether a driver runs, its next step, the job of this step, and whether it gives the queue back."""

    jobs: tuple[Job, ...]
    up: bool = False
    step: str = IDLE
    at: int = 0
    stopping: bool = False

    def having(self, at, **changes):
        """Return the state with a job changed."""
        jobs = (*self.jobs[:at], replace(self.jobs[at], **changes), *self.jobs[at + 1 :])
        return replace(self, jobs=jobs)


def known(job, bug=""):
    """Return what a driver believes of a job that it lists: from the journal, and from its own belief so far."""
    if job.phase != "waits":
        return job.phase
    if not job.hold:
        return "released"
    was_free = job.entry == "released" or job.belief == "released"
    if bug == "takes each release for confirmed":
        was_free = was_free or job.entry == "releasing"
    if job.entry == "withheld" or (was_free and bug != "forgets confirmations"):
        return "withheld"
    return "queued"


def sorted_jobs(state):
    """Return the state with its jobs in order, the job of the present step first: jobs have no names."""
    if state.step == IDLE:
        return replace(state, jobs=tuple(sorted(state.jobs)), at=0)
    others = (*state.jobs[: state.at], *state.jobs[state.at + 1 :])
    return replace(state, jobs=(state.jobs[state.at], *sorted(others)), at=0)


def steps(state, bug=""):
    """Yield the transitions of a state: a name, and the next state. A bug changes one of them."""
    for at, job in enumerate(state.jobs):
        if job.phase == "waits" and not job.hold:
            yield "user holds", state.having(at, hold="user")
            yield "slurm starts", state.having(at, phase="runs", runs=job.runs + 1)
        if job.hold == "user" and job.phase == "waits":
            yield "user releases", state.having(at, hold="")
        if job.phase == "runs":
            yield "slurm ends", state.having(at, phase="over")
    if not state.up:
        yield "start", polled(replace(state, up=True), bug)
        return
    killed = replace(state, up=False, step=IDLE, at=0, stopping=False)
    yield "kill", replace(killed, jobs=tuple(replace(job, belief="") for job in state.jobs))
    job = state.jobs[state.at]
    if state.step == COMMAND:
        freed = state.having(state.at, hold="") if job.phase == "waits" else state
        yield "command", replace(freed, step=CONFIRM)
        # The answer is lost, so the client sends it again.
        yield "command, unanswered", freed
    elif state.step == CONFIRM:
        entry = job.entry if bug == "journals no confirmation" else "released"
        confirmed = state.having(state.at, entry=entry, belief="released", free=True)
        yield "confirm", replace(confirmed, step=IDLE, at=0)
    else:
        yield "poll", polled(state, bug)
        yield "stop", polled(replace(state, stopping=True), bug)
        for at, each in enumerate(state.jobs):
            if each.belief == "queued":
                entry = each.entry if bug == "journals no release" else "releasing"
                yield "journal", replace(state.having(at, entry=entry), step=COMMAND, at=at)
        if state.stopping and not any(each.belief == "queued" for each in state.jobs):
            yield "end", killed


def polled(state, bug=""):
    """Return the state after a poll: beliefs, and holds of users in the journal."""
    found = state
    for at, job in enumerate(state.jobs):
        belief = known(job, bug)
        entry = {"withheld": "withheld", "over": "over"}.get(belief, job.entry)
        found = found.having(at, belief=belief, entry=entry)
    return found


def broken(before, name, after):
    """Return the rule that a transition breaks; empty if it breaks none."""
    if any(job.runs > 1 for job in after.jobs):
        return "ran once"
    if name.startswith("command"):
        job = before.jobs[before.at]
        if job.entry != "releasing":
            return "journaled first"
        if job.hold == "user" and job.free:
            return "holds kept"
    if name == "end" and any(job.belief == "queued" for job in before.jobs):
        return "nothing held"
    return ""


def explore(count, bug=""):
    """Return all states of `count` jobs with their transitions, and the first broken rule with the path to it."""
    first = State(tuple(Job() for _ in range(count)))
    graph, came, queue = {}, {first: ()}, deque([first])
    while queue:
        state = queue.popleft()
        graph[state] = [(name, sorted_jobs(after)) for name, after in steps(state, bug)]
        for name, after in graph[state]:
            if rule := broken(state, name, after):
                return graph, rule, _path(came, state, name)
            if after not in came:
                came[after] = state, name
                queue.append(after)
    return graph, "", ()


def stuck(graph):
    """Return the states from which the queue does not settle once faults and users stop.

    It is settled if every job is over, or held by its user, and no driver has anything to write.
    """
    faults = ("kill", "command, unanswered", "stop", "end", "user holds", "user releases")
    before, settled = {state: [] for state in graph}, []
    for state, found in graph.items():
        good = [(name, after) for name, after in found if name not in faults]
        for _, after in good:
            before[after].append(state)
        at_rest = all(job.phase == "over" or job.hold == "user" for job in state.jobs)
        if state.up and at_rest and all(after == state for _, after in good):
            settled.append(state)
    reached, queue = set(settled), deque(settled)
    while queue:
        new = [state for state in before[queue.popleft()] if state not in reached]
        reached.update(new)
        queue.extend(new)
    return graph.keys() - reached


def _path(came, state, name):
    names = [name]
    while came[state]:
        state, name = came[state]
        names.append(name)
    return tuple(reversed(names))

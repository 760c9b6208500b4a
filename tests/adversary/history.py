"""What a driver's journal and Slurm's own records say together: a pure function, without a driver or a Slurm."""

from dataclasses import dataclass
from itertools import pairwise

from tests.adversary.records import Actor
from windlass.engines.slurm.entries import Began, GivenBack, Holding, Refused, Released, Releasing, Returning

#: Actors that release jobs for Windlass, and those whose holds Windlass must keep.
_OURS = (Actor.DRIVER, Actor.GIVE_BACK)
_KEPT = {Actor.USER: "user", Actor.ADMINISTRATOR: "administrator", Actor.SLURM: "Slurm"}
#: A job that the controller holds again after it lost a release looks like one that a user holds.
_MAY_STAY = {*_KEPT, Actor.ROLLBACK}


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a history breaks: its name, the job, and what happened."""

    rule: str
    job: int
    what: str

    def __str__(self):
        return f"{self.rule}: job {self.job}: {self.what}"


@dataclass(frozen=True, slots=True)
class Jobs:
    """Sets of jobs that a history is about.

    `due` must have run by the end, unless another holds them; `lost` were forgotten by Slurm; `others` were never left
    to Windlass.
    """

    due: frozenset = frozenset()
    lost: frozenset = frozenset()
    others: frozenset = frozenset()


def check(entries, ran, holds, left, jobs=Jobs(), given_back=False, blind=25.0):
    """Return the violations of a history.

    Parameters
    ----------
    entries
        The journal, in order.
    ran
        The runs of all jobs, as Slurm's accounting has them.
    holds
        The changes of holds, as the controller's log has them, in order.
    left
        The jobs that Slurm lists in the end.
    jobs
        Sets of jobs.
    given_back
        True if the driver gave the queue back in the end, and nothing happened since.
    blind
        How old the list of jobs may be that a release is based on, s.
    """
    found = [*_ran_once(ran), *_journaled(entries, holds), *_holds_kept(entries, holds, blind)]
    found += [*_began(entries, ran, jobs.lost), *_all_ran(ran, holds, jobs.due - jobs.lost)]
    found += [
        Violation("left alone", each.job, f"it was {'held' if each.held else 'released'} at {each.at:.1f}")
        for each in holds
        if each.by in _OURS and each.job in jobs.others
    ]
    if given_back:
        found += _nothing_held(holds, left)
    return found


def _ran_once(ran):
    """A run that is not the job's last one was requeued."""
    runs = {}
    for each in ran:
        runs.setdefault(each.job, []).append(each)
    for job, of_job in runs.items():
        for before, after in pairwise(sorted(of_job, key=lambda each: (each.end, each.start))):
            if before.state != "REQUEUED":
                yield Violation("ran once", job, f"{before.state} at {before.end:.1f}, ran again")
            if after.start < before.end:
                yield Violation("ran once", job, f"two runs at {after.start:.1f}")


def _journaled(entries, holds):
    """A driver writes a release down before it makes it, and makes it no more once Slurm has confirmed it."""
    written = {}
    for entry in entries:
        jobs = entry.jobs if isinstance(entry, GivenBack) else (getattr(entry, "job", None),)
        for job in jobs if isinstance(entry, Releasing | GivenBack | Released | Refused) else ():
            written.setdefault(job, []).append((entry.at, isinstance(entry, Releasing | GivenBack)))
    for each in holds:
        if each.by is not Actor.DRIVER or each.held:
            continue
        before = [is_due for at, is_due in written.get(each.job, []) if at < each.at]
        if not before or not before[-1]:
            yield Violation("journaled first", each.job, f"released at {each.at:.1f} without an entry")


def _holds_kept(entries, holds, blind):
    """A driver lifts no hold of another.

    Slurm does not show that a user holds a job which is held already. A user's hold can be known only from the
    journal: since Slurm confirmed a release, and until a driver holds the job again, each hold is another's. An
    administrator's hold is shown, to a driver that lists the jobs after it.
    """
    holder, since, known = {}, {}, _confirmed(entries)
    for each in holds:
        by = holder.get(each.job)
        if not each.held and each.by in _OURS and by in _KEPT:
            last = [is_free for at, is_free in known.get(each.job, []) if at < each.at]
            seen = each.at - since[each.job] > blind if by is Actor.ADMINISTRATOR else bool(last and last[-1])
            if seen:
                yield Violation(
                    "holds kept", each.job, f"the hold of {_KEPT[by]} was lifted at {each.at:.1f}"
                )
        holder[each.job], since[each.job] = each.by if each.held else None, each.at


def _confirmed(entries):
    """Return, for each job, when the journal learned that it was free, or wrote down that it is held again.

    The entry that a release is about to be made says neither: it repeats what the driver believes.
    """
    known = {}
    for entry in entries:
        if isinstance(entry, Released | Holding | Returning):
            known.setdefault(entry.job, []).append((entry.at, isinstance(entry, Released)))
    return known


def _began(entries, ran, lost):
    """A job that began, by the journal, has a run in the accounting."""
    runs = {each.job for each in ran} | lost
    for entry in entries:
        if isinstance(entry, Began) and entry.job not in runs:
            yield Violation("began", entry.job, "Slurm has no run of it")


def _holders(holds):
    return {each.job: each.by if each.held else None for each in holds}


def _all_ran(ran, holds, due):
    holder, over = _holders(holds), {each.job for each in ran if each.state != "REQUEUED"}
    for job in sorted(due - over):
        if holder.get(job) not in _MAY_STAY:
            yield Violation("all ran", job, "it has not run to its end")


def _nothing_held(holds, left):
    holder = _holders(holds)
    for each in left:
        by = holder.get(each.job, Actor.SUBMISSION)
        if each.opted and each.held and by not in _MAY_STAY:
            yield Violation("nothing held", each.job, "it is held after the queue was given back")

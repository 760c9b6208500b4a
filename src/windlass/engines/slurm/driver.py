"""A policy in charge of Slurm's queue: from the lock to the queue given back."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from windlass.drive import Engine, Named, drive
from windlass.engines.batch.book import Book
from windlass.engines.batch.engine import LiveSite
from windlass.engines.batch.result import BatchRun
from windlass.engines.batch.sharing import Pair, Shares
from windlass.engines.linux.groups import found
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.journal import Decided, Journal, Record, Unwritten
from windlass.engines.slurm.lock import DriverLock
from windlass.engines.slurm.shares import SlurmShares
from windlass.engines.slurm.state import ShareState, read_state, write_state
from windlass.engines.slurm.system import Options, SlurmSystem
from windlass.engines.slurm.use import SlurmUse
from windlass.model import BatchError
from windlass.order.site import POLICIES as ORDER
from windlass.order.site.view import SiteView, Start
from windlass.registry import optional
from windlass.share import POLICIES as SHARE
from windlass.share import Share, ShareView, Sharing
from windlass.share.meter import ClassUse

Tell = Callable[[str], None]
#: On the way out Slurm is asked for so long to take its queue back, s.
_GIVE_BACK_S = 60.0


@dataclass(frozen=True, slots=True)
class Driving:
    """How Slurm is driven.

    Parameters
    ----------
    policies
        By the name of the decision. ``order`` must be among them.
    journal
        The file of decisions.
    options
        How Slurm is looked at.
    keep_held
        Whether jobs that still wait stay held when the driver stops; Slurm starts them by itself otherwise.
    checkpoint
        Where ``share`` is among the policies: seconds between two measurements of all that runs and may share.
    """

    policies: Mapping[str, Named]
    journal: Path
    options: Options
    keep_held: bool = False
    checkpoint: float = 5.0


class Recorded:
    """An engine whose decisions are in a journal before they are carried out.

    Parameters
    ----------
    engine
        Whose orders are written down.
    journal
        Where.
    policy
        What the policy is called.
    """

    def __init__(self, engine: Engine[BatchRun], journal: Record, policy: str) -> None:
        self._engine, self._journal, self._policy = engine, journal, policy
        self.wait, self.view, self.result, self.close = engine.wait, engine.view, engine.result, engine.close

    def act(self, decision: str, answer: Any) -> None:
        """Write down who starts and why, then carry it out."""
        if decision == ORDER.key and isinstance(answer, Start) and answer.jobs:
            jobs = tuple(str(job) for job in answer.jobs)
            why = tuple(str(reason) for reason in answer.reasons())
            self._journal.append(Decided(time.time(), self._policy, jobs, why))
        self._engine.act(decision, answer)


def cluster_name(client: Client) -> str:
    """What names a cluster: its name, and where its controller listens."""
    return ":".join(client.setting(name) for name in ("ClusterName", "SlurmctldHost[0]", "SlurmctldPort"))


def default_journal(cluster: str) -> Path:
    """A cluster's journal where none is named: in the user's folder for state."""
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    name = "".join(sign if sign.isalnum() else "-" for sign in cluster)
    return Path(home) / "windlass" / f"slurm-{name}.journal"


def drive_slurm(client: Client, driving: Driving, tell: Tell) -> BatchRun:
    """Start Slurm's jobs in a policy's order, until nobody is left or for ever.

    However it ends, but by being killed, jobs that still wait are given back to Slurm; those that run go on.

    Parameters
    ----------
    client
        Slurm.
    driving
        Policies, journal, and how to look.
    tell
        Told of each decision that starts somebody, and of what is worth a user's eye.

    Raises
    ------
    InputError
        Another driver has this cluster, or the journal cannot be used.
    PolicyError
        A policy's answer cannot be carried out.
    BatchError
        Slurm stays away, or does not start a job.
    """
    driving.journal.parent.mkdir(parents=True, exist_ok=True)
    with DriverLock(cluster_name(client)), Journal(driving.journal) as journal:
        _say_found(journal, tell)
        system = SlurmSystem(client, journal, driving.options, tell=tell)
        policy = driving.policies[ORDER.key]
        with contextlib.ExitStack() as stack:
            # On the way out quotas are lifted first, then the queue is given back, and then the lock is.
            if not driving.keep_held:
                stack.callback(
                    _give_back,
                    dataclasses.replace(client, patience=_GIVE_BACK_S),
                    journal,
                    driving.options,
                    tell,
                )
            site = _site(system, client, driving, journal, tell)
            stack.callback(site.close)
            engine = Recorded(site, journal, policy.name)
            return drive(
                engine, driving.policies, lambda decision, view, answer: _say(decision, view, answer, tell)
            )


def _site(system: SlurmSystem, client: Client, driving: Driving, journal: Record, tell: Tell) -> LiveSite:
    """The site, with who shares beside it where a policy says so."""
    policy: Any = driving.policies.get(SHARE.key)
    if policy is None:
        return LiveSite(system)
    file, state = _learned(driving, policy)
    uses, saved = ClassUse(state.uses), optional(policy, "saved")

    def keep(pairs: Sequence[Pair]) -> None:
        learned = saved() if saved else ""
        write_state(file, ShareState(policy.name, tuple(pairs), learned, uses.totals()))

    shares = SlurmShares(system, client, found(), keep=keep, tell=tell)

    def beside(book: Book) -> Shares:
        return Shares(
            book,
            shares,
            policy,
            every=driving.checkpoint,
            tell=lambda view, answer: _note_shares(view, answer, policy.name, journal),
            left=state.pairs,
            uses=uses,
        )

    return LiveSite(system, beside=beside)


def _learned(driving: Driving, policy: Any) -> tuple[Path, ShareState]:
    """What drivers before this one knew, given to the policy where it is the same one; and the file of it."""
    file = driving.journal.with_name(f"{driving.journal.name}.shares")
    state = read_state(file) or ShareState(policy.name)
    if state.policy == policy.name and state.learned:
        optional(policy, "restore")(state.learned)
    return file, state


def _note_shares(view: ShareView, answer: Sharing, policy: str, journal: Record) -> None:
    new = changed(view, answer)
    jobs = [f"{share.guest} on {share.host} at {share.quota} %" for share in new]
    jobs += [f"{back.guest} back" for back in answer.back]
    why = [share.why for share in new] + [back.why for back in answer.back]
    if jobs:
        journal.append(Decided(time.time(), policy, tuple(jobs), tuple(why)))


def plan_slurm(client: Client, driving: Driving) -> list[str]:
    """What policies would do now, a line each. Nothing is changed or written.

    Where one of them says who shares, jobs are watched for one checkpoint's time first.
    """
    look = dataclasses.replace(driving.options, only_look=True)
    policy: Any = driving.policies[ORDER.key]
    lines = LiveSite(SlurmSystem(client, Unwritten(driving.journal), look)).plan(policy).lines()
    return [*lines, *_plan_shares(client, driving, look)]


def _plan_shares(client: Client, driving: Driving, look: Options) -> list[str]:
    policy: Any = driving.policies.get(SHARE.key)
    if policy is None:
        return []
    _, state = _learned(driving, policy)
    system = SlurmSystem(client, Unwritten(driving.journal), look)
    every, uses = driving.checkpoint, ClassUse(state.uses)

    def beside(book: Book) -> Shares:
        return Shares(book, SlurmUse(system, client), policy, every=every, left=state.pairs, uses=uses)

    found = LiveSite(system, beside=beside).ask_beside(policy, every)
    lines: list[str] = []
    if found is not None:
        view, answer = found
        answer.check(view)
        _say_shares(Sharing(tuple(changed(view, answer)), answer.back), lines.append)
    return lines


def give_back(client: Client, journal: Path, options: Options) -> tuple[int, ...]:
    """Release all jobs that wait for Windlass, where no driver runs; which."""
    with DriverLock(cluster_name(client)):
        return SlurmSystem(client, Unwritten(journal), options).give_back()


def _say_found(journal: Journal, tell: Tell) -> None:
    if journal.torn:
        tell(journal.torn)
    if journal.under_way:
        jobs = ", ".join(str(job) for job in sorted(journal.under_way))
        tell(f"{journal.path}: a driver before this one let go and saw no end of: {jobs}")


def _say(decision: str, view: Any, answer: Any, tell: Tell) -> None:
    if decision == ORDER.key:
        _say_started(view, answer, tell)
        return
    _say_shares(answer, tell)


def _say_shares(answer: Sharing, tell: Tell) -> None:
    for share in answer.shares:
        tell(
            f"job {share.guest} has {share.quota} % of the cores that it shares with {share.host}: {share.why}"
        )
    for back in answer.back:
        tell(f"job {back.guest} is put back in the queue: {back.why}")


def changed(view: ShareView, answer: Sharing) -> list[Share]:
    """Of an answer, guests that start and quotas that are others than before."""
    quotas = {host.guest.job.job: host.guest.quota for host in view.running if host.guest is not None}
    return [share for share in answer.shares if quotas.get(share.guest) != share.quota]


def _say_started(view: SiteView, answer: Start, tell: Tell) -> None:
    if not answer.jobs:
        return
    started = "; ".join(f"{job}: {why}" for job, why in zip(answer.jobs, answer.reasons(), strict=True))
    waiting = len(view.waiting.job) - len(answer.jobs)
    tell(f"start {started} ({waiting} wait)")


def _give_back(client: Client, journal: Record, options: Options, tell: Tell) -> None:
    with _undisturbed():
        try:
            jobs = SlurmSystem(client, journal, options).give_back()
        except BatchError as error:
            tell(f"jobs may still be held; `windlass slurm give-back` releases them: {error}")
            return
    if jobs:
        tell(f"given back to Slurm: {', '.join(str(job) for job in jobs)}")


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """A second Ctrl-C does not leave the queue half given back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = [(number, signal.signal(number, signal.SIG_IGN)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)

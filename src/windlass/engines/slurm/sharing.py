"""The co-scheduler of a Slurm driver: it restores learned state, decides on pairs, and reports them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from windlass.engines.batch.book import BatchBook
from windlass.engines.batch.engine import LiveSite
from windlass.engines.batch.entries import Decided
from windlass.engines.batch.owners import LiveOwners
from windlass.engines.batch.sharing import Shares
from windlass.engines.batch.sharing_backend import Pair
from windlass.engines.linux.files import GroupError
from windlass.engines.linux.groups import detect_groups
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.entries import Taking
from windlass.engines.slurm.journal import Record, Unwritten
from windlass.engines.slurm.settings import Driving, Notify, cluster_name, group_name
from windlass.engines.slurm.shares import SlurmShares
from windlass.engines.slurm.state import SHARES, ShareState, saved_shares, share_text
from windlass.engines.slurm.system import SlurmOptions, SlurmSystem
from windlass.engines.slurm.use import SlurmUse
from windlass.model import InputError
from windlass.policy.registry import capability
from windlass.share import POLICIES as SHARE
from windlass.share import Share, ShareView, Sharing
from windlass.share.learned import Persistent
from windlass.share.usage import ClassUse
from windlass.share.view import Back


def sharing_site(
    system: SlurmSystem,
    client: Client,
    driving: Driving,
    journal: Record,
    notify: Notify,
    owners: LiveOwners | None = None,
) -> LiveSite:
    """Return the site, with a co-scheduler if there is a ``share`` policy.

    Raises
    ------
    InputError
        Quotas cannot be set here; the message has the reason.
    """
    policy: Any = driving.policies.get(SHARE.key)
    if policy is None:
        return LiveSite(system, forgets=driving.forgets, owners=owners)
    state = _learned(driving, policy, journal)
    uses, learner = ClassUse(state.uses), capability(policy, Persistent)

    def keep(pairs: Sequence[Pair]) -> None:
        learned = "" if learner is None else learner.saved()
        journal.save(SHARES, share_text(ShareState(policy.name, tuple(pairs), learned, uses.totals())))

    try:
        groups = detect_groups(name=group_name(cluster_name(client)))
        shares = SlurmShares(system, client, groups, keep=keep, notify=notify)
    except GroupError as error:
        raise InputError(f"--policies: share: {error}") from error

    taken = system.guests.known()

    def co_scheduler(book: BatchBook) -> Shares:
        return Shares(
            book,
            shares,
            policy,
            every=driving.checkpoint,
            notify=lambda view, answer: _note_shares(view, answer, policy.name, journal),
            report_back=lambda back: _note_back(back, policy.name, journal, notify),
            left=_left(state, taken),
            promises={job: each.until for job, each in taken.items()},
            uses=uses,
        )

    return LiveSite(system, side_decision=co_scheduler, forgets=driving.forgets, owners=owners)


def _learned(driving: Driving, policy: Any, journal: Record) -> ShareState:
    """Restore what earlier drivers learned, if the policy is the same; return the saved state."""
    file = driving.journal.with_name(f"{driving.journal.name}.shares")
    state = saved_shares(journal, file) or ShareState(policy.name)
    learner = capability(policy, Persistent)
    if learner is not None and state.policy == policy.name and state.learned:
        learner.restore(state.learned)
    return state


def _left(state: ShareState, taken: Mapping[int, Taking]) -> tuple[Pair, ...]:
    """Return earlier pairs: the saved ones, and guests started just before a driver was killed."""
    known = {pair.guest for pair in state.pairs}
    new = [Pair(each.host, each.job, each.quota) for each in taken.values() if each.job not in known]
    return (*state.pairs, *new)


def _note_back(back: Back, policy: str, journal: Record, notify: Notify) -> None:
    journal.append(Decided(time.time(), policy, (f"{back.guest} back",), (back.why,)))
    report_shares(Sharing((), (back,)), notify)


def _note_shares(view: ShareView, answer: Sharing, policy: str, journal: Record) -> None:
    new = changed(view, answer)
    jobs = [f"{share.guest} on {share.host} at {share.quota} %" for share in new]
    jobs += [f"{back.guest} back" for back in answer.back]
    why = [share.why for share in new] + [back.why for back in answer.back]
    if jobs:
        journal.append(Decided(time.time(), policy, tuple(jobs), tuple(why)))


def measuring_site(
    system: SlurmSystem,
    client: Client,
    driving: Driving,
    journal: Record,
    owners: LiveOwners | None = None,
) -> LiveSite:
    """Return the site for a dry run: a co-scheduler measures jobs, and each change is refused.

    Raises
    ------
    InputError
        Usage of jobs cannot be measured here.
    """
    policy: Any = driving.policies.get(SHARE.key)
    if policy is None:
        return LiveSite(system, forgets=driving.forgets, owners=owners)
    state = _learned(driving, policy, journal)
    every, uses = driving.checkpoint, ClassUse(state.uses)

    def co_scheduler(book: BatchBook) -> Shares:
        left = _left(state, system.guests.known())
        return Shares(book, SlurmUse(system, client), policy, every=every, left=left, uses=uses)

    return LiveSite(system, side_decision=co_scheduler, forgets=driving.forgets, owners=owners)


def plan_shares(client: Client, driving: Driving, options: SlurmOptions) -> list[str]:
    """Return the pairs that would share, a line each, once jobs were measured for one interval; nothing is changed."""
    policy: Any = driving.policies.get(SHARE.key)
    if policy is None:
        return []
    journal = Unwritten(driving.journal)
    system = SlurmSystem(client, journal, options)
    found = measuring_site(system, client, driving, journal).preview_sharing(policy, driving.checkpoint)
    lines: list[str] = []
    if found is not None:
        view, answer = found
        answer.check(view)
        report_shares(Sharing(tuple(changed(view, answer)), answer.back), lines.append)
    return lines


def report_shares(answer: Sharing, notify: Notify) -> None:
    """Report each guest that starts, has another quota, or is requeued."""
    for share in answer.shares:
        notify(
            f"job {share.guest} has {share.quota} % of the cores that it shares with {share.host}: {share.why}"
        )
    for back in answer.back:
        notify(f"job {back.guest} is requeued: {back.why}")


def changed(view: ShareView, answer: Sharing) -> list[Share]:
    """Return the guests of an answer that start or get another quota."""
    quotas = {host.guest.job.job: host.guest.quota for host in view.running if host.guest is not None}
    return [share for share in answer.shares if quotas.get(share.guest) != share.quota]

"""The driver of a queue of Kubernetes Jobs: it resumes them by a policy, and gives the queue back on request."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from windlass.drive import Named, drive
from windlass.engines.batch.engine import LiveSite
from windlass.engines.batch.journal_folder import make_journal_folder
from windlass.engines.batch.journal_lock import journal_lock
from windlass.engines.batch.journaled import JournaledEngine
from windlass.engines.batch.owners import LiveOwners, live_owners
from windlass.engines.batch.result import BatchRun
from windlass.engines.batch.started import report_started
from windlass.engines.batch.status import DriverStatus
from windlass.engines.kubernetes.jobs.client import JobsClient
from windlass.engines.kubernetes.jobs.journal import JobJournal, UnwrittenJobs
from windlass.engines.kubernetes.jobs.models import QueuedJob, read_job
from windlass.engines.kubernetes.jobs.system import JobsOptions, KubernetesJobs
from windlass.engines.kubernetes.pods import name_of
from windlass.model import InputError
from windlass.model.state_folder import state_folder
from windlass.order.site import POLICIES as ORDER

Notify = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class JobsDriving:
    """The settings of a driver of Jobs.

    Parameters
    ----------
    policies
        Policies by the name of their decision; only ``order`` is used.
    journal
        The journal's file.
    options
        How the server is polled.
    """

    policies: Mapping[str, Named]
    journal: Path
    options: JobsOptions = field(default_factory=JobsOptions)


@dataclass(frozen=True, slots=True)
class JobsReturn:
    """The result of a give-back.

    Parameters
    ----------
    released
        The Jobs that were resumed, in order of submission.
    left
        Those that stay suspended although they wait for Windlass, with the reason of each.
    """

    released: tuple[str, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)


def default_journal(namespace: str | None) -> Path:
    """Return the default path of a journal, in the user's state folder."""
    return state_folder() / f"k8s-{namespace or 'all'}.journal"


def drive_jobs(
    client: JobsClient,
    driving: JobsDriving,
    notify: Notify,
    status: DriverStatus | None = None,
    *,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> BatchRun:
    """Resume suspended Jobs in a policy's order, until no Job is left or until interrupted.

    Waiting Jobs stay suspended at the end, for the next driver; :func:`give_back_jobs` resumes them.

    Parameters
    ----------
    client
        The API server.
    driving
        Policies, journal, and polling options.
    notify
        Called with a line for each decision that starts Jobs, and for each warning.
    status
        Updated while the driver runs, for its metrics; its ``contact`` must be the client's.
    clock
        Returns the Unix time, s.
    sleep
        Waits for this many seconds between polls.

    Raises
    ------
    InputError
        The journal cannot be used.
    PolicyError
        The policy's answer cannot be carried out.
    BatchError
        The server stays unreachable, does not release a Job, or another driver leads.
    """
    make_journal_folder(driving.journal, "--journal")
    status = status or DriverStatus(contact=client.contact)
    with journal_lock(driving.journal), JobJournal(driving.journal) as journal:
        for notice in journal.notices:
            notify(notice)
        system = KubernetesJobs(
            client, journal, driving.options, notify=notify, clock=clock, sleep=sleep, status=status
        )
        policy = driving.policies[ORDER.key]
        owners = live_owners(policy, journal)
        site = LiveSite(system, forgets=True, owners=owners)
        engine = JournaledEngine(site, journal, policy.name, status, clock, system.title)

        def report(decision: str, view: Any, answer: Any) -> None:
            report_started(view, answer, system.title, notify)

        try:
            return drive(engine, {ORDER.key: owners.order()}, report)
        finally:
            # On a full disk, at most the use of the last minute is lost.
            with contextlib.suppress(InputError):
                owners.save()


def plan_jobs(client: JobsClient, driving: JobsDriving) -> list[str]:
    """Return what the policy would do now, one line each, without any change or journal entry."""
    owners = LiveOwners(driving.policies[ORDER.key])
    system = KubernetesJobs(client, UnwrittenJobs(), driving.options)
    plan = LiveSite(system, owners=owners).plan(owners.order())
    rows = zip(plan.jobs, plan.procs, plan.why, strict=True)
    lines = [
        f"{system.title(job)}, {procs} {'core' if procs == 1 else 'cores'}: {why}" for job, procs, why in rows
    ]
    return [*lines, *plan.command.splitlines()]


def give_back_jobs(
    client: JobsClient, clock: Callable[[], float] = time.time, *, dry_run: bool = False
) -> JobsReturn:
    """Resume all Jobs that wait for Windlass, so that Kubernetes starts them.

    Jobs without the label, Jobs of Kueue, and Jobs that their users suspended after a release stay as they are. A
    driver that runs meanwhile is no danger, as each Job is resumed once; but it goes on with new Jobs.

    Parameters
    ----------
    client
        The API server.
    clock
        Returns the Unix time, s.
    dry_run
        True to change nothing; the result then lists what would be resumed.

    Raises
    ------
    ServerAwayError
        The server does not answer.
    """
    found, left = _waiting(client)
    if dry_run:
        return JobsReturn(tuple(job.title for job in found), left)
    released = []
    for job in found:
        if why := client.release(job, clock()):
            left[job.title] = why
        else:
            released.append(job.title)
    return JobsReturn(tuple(released), left)


def _waiting(client: JobsClient) -> tuple[list[QueuedJob], dict[str, str]]:
    """Return the Jobs that wait, in order of submission, and those that cannot be read, with the error."""
    found, invalid = [], {}
    for tree in client.jobs():
        try:
            job = read_job(tree)
        except InputError as error:
            invalid[name_of(tree)] = str(error)
            continue
        if job.waits_for_us:
            found.append(job)
    return sorted(found, key=lambda job: (job.created, job.namespace, job.name)), invalid

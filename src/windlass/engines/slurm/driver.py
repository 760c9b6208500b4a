"""The driver of Slurm's queue: it takes the lock, starts jobs by a policy, and gives the queue back at its end."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from windlass.drive import StopRequest, drive, interruptible_sleep
from windlass.engines.batch.batches import listed
from windlass.engines.batch.driver_lock import DriverLock
from windlass.engines.batch.engine import LiveSite
from windlass.engines.batch.give_back_record import last_record, recorded_if_possible
from windlass.engines.batch.journal_folder import make_journal_folder
from windlass.engines.batch.journal_lock import journal_lock
from windlass.engines.batch.journaled import JournaledEngine
from windlass.engines.batch.owners import live_owners
from windlass.engines.batch.queue_return import QueueReturn, report_return
from windlass.engines.batch.result import BatchRun
from windlass.engines.batch.started import report_started
from windlass.engines.batch.status import DriverStatus
from windlass.engines.linux.files import GroupError
from windlass.engines.linux.groups import detect_groups
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.give_back import return_queue
from windlass.engines.slurm.journal import Journal, Record, Unwritten
from windlass.engines.slurm.observer import DriverObserver, Unobserved
from windlass.engines.slurm.settings import Driving, Notify, cluster_name, group_name
from windlass.engines.slurm.sharing import plan_shares, report_shares, sharing_site
from windlass.engines.slurm.system import SlurmOptions, SlurmSystem
from windlass.order.site import POLICIES as ORDER

#: Time limit for giving the queue back, s.
_GIVE_BACK_S = 60.0
#: What releases the jobs that a driver could not give back.
BY_HAND = "`windlass slurm give-back` releases them"


def drive_slurm(
    client: Client,
    driving: Driving,
    notify: Notify,
    status: DriverStatus | None = None,
    *,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
    stop: StopRequest | None = None,
    observer: DriverObserver | None = None,
) -> BatchRun:
    """Start Slurm's jobs in a policy's order, until no job is left or until interrupted.

    Unless the process is killed, waiting jobs are given back to Slurm at the end; running jobs continue.

    Parameters
    ----------
    client
        Slurm.
    driving
        Policies, journal, and polling options.
    notify
        Called with a line for each decision that starts jobs, and for each warning.
    status
        Updated while the driver runs, for its metrics; its ``contact`` must be the client's.
    clock
        Returns the Unix time, s.
    sleep
        Waits for this many seconds between polls.
    stop
        Ends the driver from another thread: its waits for Slurm end at once, and then the queue is given back, unless
        the stop hands it over to the next driver. A stop replaces ``sleep``.
    observer
        Notified of each poll and of each entry of the journal; an error that it raises ends the driver.

    Raises
    ------
    InputError
        Another driver runs on this cluster, or the journal cannot be used.
    PolicyError
        A policy's answer cannot be carried out.
    BatchError
        Slurm stays unreachable.
    EngineStoppedError
        A stop was requested, and the queue was given back.
    """
    make_journal_folder(driving.journal, "--journal")
    status = status or DriverStatus(contact=client.contact)
    observer = observer or Unobserved()
    with (
        DriverLock("slurm", cluster_name(client)),
        journal_lock(driving.journal),
        Journal(driving.journal, appended=observer.appended) as journal,
    ):
        _report_found(journal, notify)
        with contextlib.ExitStack() as stack:
            if not driving.keep_held:
                # The queue is given back without interruption.
                stack.callback(
                    _give_back_unless,
                    lambda: stop is not None and stop.hands_over,
                    dataclasses.replace(client, patience=_GIVE_BACK_S),
                    journal,
                    driving.options,
                    notify,
                    status,
                    clock,
                )
            status.inherited = False
            return _drive(client, driving, journal, notify, status, clock, sleep, stop, observer)


def _drive(
    client: Client,
    driving: Driving,
    journal: Journal,
    notify: Notify,
    status: DriverStatus,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
    stop: StopRequest | None,
    observer: DriverObserver,
) -> BatchRun:
    """Drive until no job is left, or until a stop. On exit, quotas are lifted, before the queue is given back."""
    if stop is not None:
        sleep = interruptible_sleep(stop)
        client = dataclasses.replace(client, sleep=sleep)
    policy = driving.policies[ORDER.key]
    owners = live_owners(policy, journal)
    with contextlib.ExitStack() as stack:
        stack.callback(owners.save_at_end, notify)
        system = SlurmSystem(
            client,
            journal,
            driving.options,
            notify=notify,
            clock=clock,
            sleep=sleep,
            status=status,
            polled=observer.polled,
        )
        site = sharing_site(system, client, driving, journal, notify, owners)
        stack.callback(site.close)
        engine = JournaledEngine(site, journal, policy.name, status, clock, decided=observer.decided)
        return drive(
            engine,
            {**driving.policies, ORDER.key: owners.order()},
            lambda decision, view, answer: _report(decision, view, answer, notify),
            stop,
        )


def plan_slurm(client: Client, driving: Driving) -> list[str]:
    """Return what the policies would do now, one line each, without any change or journal entry.

    If a sharing policy is set, jobs are measured for one checkpoint interval first.
    """
    options = dataclasses.replace(driving.options, dry_run=True)
    journal = Unwritten(driving.journal)
    owners = live_owners(driving.policies[ORDER.key], journal)
    system = SlurmSystem(client, journal, options)
    lines = LiveSite(system, owners=owners).plan(owners.order()).lines()
    return [*lines, *plan_shares(client, driving, options)]


def give_back(
    client: Client,
    journal: Path,
    options: SlurmOptions,
    notify: Notify,
    clock: Callable[[], float] = time.time,
) -> QueueReturn[int]:
    """Release all jobs held for Windlass and lift remaining quotas, when no driver runs; return the jobs.

    The releases are recorded in the driver's journal, so that the next driver keeps holds that come later. A journal
    that is damaged or cannot be read is no obstacle: its warning is passed to ``notify``. Jobs that users hold are then
    released too if only the journal knew about the hold.

    Raises
    ------
    InputError
        A driver runs.
    BatchError
        Slurm does not list its jobs.
    """
    cluster = cluster_name(client)
    with DriverLock("slurm", cluster):
        with contextlib.suppress(GroupError):  # without cgroups there are no quotas to lift
            detect_groups(name=group_name(cluster)).release_all()
        with last_record(
            journal, lambda: _opened(journal), lambda: Unwritten(journal, notify), notify
        ) as record:
            return _given_back(client, record, journal, options, notify, clock)


def _report_found(journal: Journal, notify: Notify) -> None:
    for notice in journal.notices:
        notify(notice)
    if journal.under_way:
        jobs = listed(sorted(journal.under_way))
        notify(f"{journal.path}: a previous driver released these jobs and recorded no end: {jobs}")


def _report(decision: str, view: Any, answer: Any, notify: Notify) -> None:
    if decision == ORDER.key:
        report_started(view, answer, int, notify)
        return
    report_shares(answer, notify)


def _give_back_unless(
    hands_over: Callable[[], bool],
    client: Client,
    journal: Journal,
    options: SlurmOptions,
    notify: Notify,
    status: DriverStatus,
    clock: Callable[[], float],
) -> None:
    if hands_over():
        notify("waiting jobs stay held for the next driver")
    else:
        _give_back(client, journal, options, notify, status, clock)


def _give_back(
    client: Client,
    journal: Journal,
    options: SlurmOptions,
    notify: Notify,
    status: DriverStatus | None = None,
    clock: Callable[[], float] = time.time,
) -> None:
    report_return(
        lambda: _given_back(client, journal, journal.path, options, notify, clock),
        "Slurm",
        BY_HAND,
        notify,
        status or DriverStatus(),
    )


def _opened(path: Path) -> contextlib.AbstractContextManager[Record]:
    return Journal(path)


def _given_back(
    client: Client,
    record: Record,
    path: Path,
    options: SlurmOptions,
    notify: Notify,
    clock: Callable[[], float],
) -> QueueReturn[int]:
    return recorded_if_possible(
        lambda record: return_queue(client, record, options.partition, notify, clock),
        record,
        lambda: Unwritten(path, notify),
        notify,
    )

"""The driver of a queue with holds: it takes the lock, starts jobs by a policy, and gives the queue back at its end."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from windlass.drive import StopRequest, drive, interruptible_sleep
from windlass.engines.batch.driver_lock import DriverLock
from windlass.engines.batch.engine import LiveSite
from windlass.engines.batch.give_back_record import last_record, recorded_if_possible
from windlass.engines.batch.holds.give_back import return_queue
from windlass.engines.batch.holds.journal import HoldJournal, HoldRecord, UnwrittenHolds
from windlass.engines.batch.holds.settings import HoldDriving, Notify
from windlass.engines.batch.holds.site import HoldSite, HoldWords
from windlass.engines.batch.holds.system import HoldSystem
from windlass.engines.batch.journal_folder import make_journal_folder
from windlass.engines.batch.journal_lock import journal_lock
from windlass.engines.batch.journaled import JournaledEngine
from windlass.engines.batch.owners import LiveOwners, live_owners
from windlass.engines.batch.queue_return import QueueReturn, report_return
from windlass.engines.batch.result import BatchRun
from windlass.engines.batch.started import report_started
from windlass.engines.batch.status import DriverStatus
from windlass.order.site import POLICIES as ORDER

#: Time limit for giving the queue back, s.
_GIVE_BACK_S = 60.0


def drive_holds(
    site: HoldSite,
    driving: HoldDriving,
    notify: Notify,
    status: DriverStatus | None = None,
    *,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
    stop: StopRequest | None = None,
) -> BatchRun:
    """Start held jobs of a queue in a policy's order, until no job is left or until interrupted.

    Unless the process is killed, waiting jobs are given back to the system at the end; running jobs continue.

    Parameters
    ----------
    site
        The queue.
    driving
        Policies, journal, and polling options.
    notify
        Called with a line for each decision that starts jobs, and for each warning.
    status
        Updated while the driver runs, for its metrics; its ``contact`` must be the queue's.
    clock
        Returns the Unix time, s.
    sleep
        Waits for this many seconds between polls.
    stop
        Ends the driver from another thread: its waits end at once, and then the queue is given back, unless the stop
        hands it over to the next driver. A stop replaces ``sleep``.

    Raises
    ------
    InputError
        Another driver runs on this queue, the journal cannot be used, or no node may run jobs of the queue.
    PolicyError
        The policy's answer cannot be carried out.
    BatchError
        The system stays unreachable.
    EngineStoppedError
        A stop was requested.
    """
    make_journal_folder(driving.journal, "--journal")
    status = status or DriverStatus(contact=site.contact)
    polled = site
    if stop is not None:
        sleep = interruptible_sleep(stop)
        polled = site.waiting(sleep)
    with (
        DriverLock(site.words.command, polled.identity()),
        journal_lock(driving.journal),
        HoldJournal(driving.journal) as journal,
        contextlib.ExitStack() as stack,
    ):
        for notice in journal.notices:
            notify(notice)
        if not driving.keep_held:
            # The queue is given back without interruption.
            stack.callback(
                _give_back, site.patient(_GIVE_BACK_S), journal, driving, notify, status, clock, stop
            )
        status.inherited = False
        system = HoldSystem(
            polled, journal, driving.options, notify=notify, clock=clock, sleep=sleep, status=status
        )
        policy = driving.policies[ORDER.key]
        owners = live_owners(policy, journal)
        stack.callback(owners.save_at_end, notify)
        live = LiveSite(system, forgets=driving.forgets, owners=owners)
        engine = JournaledEngine(live, journal, policy.name, status, clock, system.title)

        def report(decision: str, view: Any, answer: Any) -> None:
            report_started(view, answer, system.title, notify)

        return drive(engine, {ORDER.key: owners.order()}, report, stop)


def plan_holds(site: HoldSite, driving: HoldDriving) -> list[str]:
    """Return what the policy would do now, one line each, without any change or journal entry."""
    options = dataclasses.replace(driving.options, dry_run=True)
    owners = LiveOwners(driving.policies[ORDER.key])
    system = HoldSystem(site, UnwrittenHolds(driving.journal), options)
    plan = LiveSite(system, owners=owners).plan(owners.order())
    rows = zip(plan.jobs, plan.procs, plan.why, strict=True)
    lines = [
        f"{system.title(job)}, {procs} {'CPU' if procs == 1 else 'CPUs'}: {why}" for job, procs, why in rows
    ]
    return [*lines, plan.command] if lines else []


def give_back_holds(
    site: HoldSite, journal: Path, notify: Notify, clock: Callable[[], float] = time.time
) -> QueueReturn[str]:
    """Lift the hold of all jobs of a queue that are held for Windlass, when no driver runs; return the jobs.

    The releases are recorded in the driver's journal, so that the next driver keeps holds that come later. A journal
    that is damaged or cannot be read is no obstacle: its warning is passed to ``notify``. Jobs that others hold
    in the driver's way are then released, too.

    Raises
    ------
    InputError
        A driver runs.
    SystemAwayError
        The system does not list its jobs.
    """
    with (
        DriverLock(site.words.command, site.identity()),
        last_record(
            journal, lambda: _opened(journal), lambda: UnwrittenHolds(journal, notify), notify
        ) as record,
    ):
        return _given_back(site, record, journal, notify, clock)


def _give_back(
    site: HoldSite,
    journal: HoldJournal,
    driving: HoldDriving,
    notify: Notify,
    status: DriverStatus,
    clock: Callable[[], float],
    stop: StopRequest | None,
) -> None:
    if stop is not None and stop.hands_over:
        notify("waiting jobs stay held for the next driver")
        return
    report_return(
        lambda: _given_back(site, journal, driving.journal, notify, clock),
        site.words.system,
        by_hand(site.words),
        notify,
        status,
    )


def by_hand(words: HoldWords) -> str:
    """Return what releases the jobs that a driver could not give back."""
    return f"`windlass {words.command} give-back` releases them"


def _opened(path: Path) -> contextlib.AbstractContextManager[HoldRecord]:
    return HoldJournal(path)


def _given_back(
    site: HoldSite, record: HoldRecord, path: Path, notify: Notify, clock: Callable[[], float]
) -> QueueReturn[str]:
    return recorded_if_possible(
        lambda record: return_queue(site, record, notify, clock),
        record,
        lambda: UnwrittenHolds(path, notify),
        notify,
    )

"""The engine of a live Slurm: the driver of ``windlass slurm drive``, or its dry run, under the control plane."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from windlass.agent.stop import Stop
from windlass.control.engine import EngineStoppedError
from windlass.control.hurry import hurried_sleep
from windlass.control.journal import EngineStatus, EventRecord, JobKey, JournalReader, JournalWriter
from windlass.control.predicted_starts import kernels_of_replays
from windlass.control.slurm.job_actions import SlurmJobs
from windlass.control.slurm.observer import SlurmObserver
from windlass.control.slurm.queue import ReplayedQueue
from windlass.control.slurm.starts import LiveStarts
from windlass.control.taken_over import queue_taken_over, still_held
from windlass.drive import Named, interruptible_sleep
from windlass.engines.batch.commands import CommandRunner
from windlass.engines.batch.status import DriverStatus
from windlass.engines.slurm.client import AwayError, Client
from windlass.engines.slurm.commands import Commands
from windlass.engines.slurm.driver import BY_HAND, drive_slurm
from windlass.engines.slurm.log import EndedJob, read_log
from windlass.engines.slurm.observer import DriverObserver, SlurmPoll, Unobserved
from windlass.engines.slurm.preview import preview_slurm
from windlass.engines.slurm.settings import Driving, Notify, cluster_name, default_journal
from windlass.engines.slurm.system import SlurmOptions
from windlass.experiment.worlds.policy import PolicySpec
from windlass.jit import Compiling, prepare
from windlass.model import BatchError, InputError
from windlass.model.nearest import did_you_mean
from windlass.order.site import POLICIES as ORDER
from windlass.policy.registry import Registry
from windlass.share import POLICIES as SHARE

#: The decisions that can be driven on Slurm.
DECISIONS: Mapping[str, Registry] = {ORDER.key: ORDER, SHARE.key: SHARE}
#: Time until a Slurm that stayed unreachable for all of the driver's patience is driven again, s.
_AGAIN_S = 30.0


@dataclass(frozen=True, slots=True)
class SlurmSettings:
    """The settings of an engine; those of ``windlass slurm drive``, and a name.

    Parameters
    ----------
    policies
        By decision: ``order``, and perhaps ``share``.
    options
        How Slurm is polled.
    name
        Name of the engine.
    keep_held, checkpoint
        See :class:`~windlass.engines.slurm.settings.Driving`.
    patience
        How long to retry while Slurm does not answer, s; afterwards the queue counts as given up, and a new driver is
        started once Slurm answers.
    book
        The driver's own journal; None for the default of the cluster.
    conf
        A ``slurm.conf``; None for that of the environment or the system.
    accounting
        True to read the finished jobs of the cluster once, at the start, for the prediction of starts.
    gives_up
        True to end with an error when Slurm stayed unreachable for all of ``patience``.
    """

    policies: Mapping[str, PolicySpec]
    options: SlurmOptions = field(default_factory=SlurmOptions)
    name: str = "slurm"
    keep_held: bool = False
    checkpoint: float = 5.0
    patience: float = 300.0
    book: Path | None = None
    conf: Path | None = None
    accounting: bool = True
    gives_up: bool = False

    def made(self) -> dict[str, Named]:
        """Return new policies.

        Raises
        ------
        InputError
            A decision cannot be driven on Slurm, that of order is missing, or a policy or a parameter does not exist.

        Examples
        --------
        >>> SlurmSettings({"order": PolicySpec(name="easy")}).made()["order"].name
        'easy'
        >>> SlurmSettings({"admit": PolicySpec(name="pronto")}).made()
        Traceback (most recent call last):
        windlass.model.errors.InputError: policies.admit: cannot be driven on Slurm, expected order and perhaps share
        """
        for decision in self.policies:
            if decision not in DECISIONS:
                hint = did_you_mean(decision, DECISIONS)
                raise InputError(
                    f"policies.{decision}: cannot be driven on Slurm, expected order and perhaps share{hint}"
                )
        if ORDER.key not in self.policies:
            raise InputError("policies: no policy of order, expected one such as order: easy")
        return {
            decision: spec.make(DECISIONS[decision], np.random.default_rng(1))
            for decision, spec in self.policies.items()
        }


class ObservedDriver:
    """Passes what a driver sees and does on to the journal and to the predictions.

    Parameters
    ----------
    observer
        Writes the journal.
    starts
        Predicts starts.
    """

    def __init__(self, observer: SlurmObserver, starts: LiveStarts) -> None:
        self.appended, self.decided = observer.appended, observer.decided
        self._observer, self._starts = observer, starts

    def polled(self, poll: SlurmPoll) -> None:
        """Pass on a poll."""
        self._observer.polled(poll)
        self._starts.polled(poll)


class SlurmEngine:
    """A live Slurm, see :class:`~windlass.control.engine.ControlledEngine`.

    Parameters
    ----------
    settings
        The settings.
    acts
        True to drive the queue; False to decide only, without a change of Slurm or of the driver's journal.
    report
        Called with each line of the driver's log.
    runner
        Runs Slurm's commands; None for processes.
    clock
        Returns the Unix time, s.
    new_status
        Returns the status that a driver updates, for its metrics.

    Raises
    ------
    InputError
        A policy cannot be made.

    Examples
    --------
    >>> settings = SlurmSettings({"order": PolicySpec(name="easy")})
    >>> SlurmEngine(settings, acts=False, report=print).about
    'Slurm, order by easy; decides only'
    """

    def __init__(
        self,
        settings: SlurmSettings,
        *,
        acts: bool,
        report: Callable[[str], None],
        runner: CommandRunner | None = None,
        clock: Callable[[], float] = time.time,
        new_status: Callable[[], DriverStatus] = DriverStatus,
    ) -> None:
        self.name, self._settings, self._acts = settings.name, settings, acts
        self._report, self._clock, self._new_status = report, clock, new_status
        self._runner = Commands(settings.conf) if runner is None else runner
        names = ", ".join(f"{decision} by {policy.name}" for decision, policy in settings.made().items())
        where = f" partition {settings.options.partition}" if settings.options.partition else ""
        self.about = f"Slurm{where}, {names}; {'drives the queue' if acts else 'decides only'}"
        self.scope = ("slurm", settings.conf, settings.options.partition)
        self.jobs = SlurmJobs(lambda: Client(self._runner, 0.0), settings.options.partition) if acts else None

    def prepare(self, compiling: Callable[[Compiling], None] | None = None) -> None:
        """Compile what predictions need, see :class:`~windlass.control.engine.ControlledEngine`."""
        prepare(kernels_of_replays([self._settings.policies[ORDER.key]]), compiling)

    @property
    def now(self) -> float:
        """Unix time, s."""
        return self._clock()

    def run(self, journal: JournalWriter | None, stop: Stop) -> None:
        """Drive the queue, or decide only, until a stop; a Slurm that stays unreachable is tried again.

        Raises
        ------
        EngineStoppedError
            A stop was requested, and the queue was given back.
        PolicyError
            A policy raised, or gave an answer that cannot be carried out; the queue was given back.
        BatchError
            Slurm does not start a job, or jobs could not be given back.
        """
        status = self._new_status()
        gives_back = self._acts and not self._settings.keep_held
        with queue_taken_over(
            stop, status, gives_back, BY_HAND, lambda line: self._first_lines(journal, line)
        ):
            self._run(journal, stop, status)

    def _run(self, journal: JournalWriter | None, stop: Stop, status: DriverStatus) -> None:
        while True:
            try:
                self._run_once(journal, stop, status)
                return
            except AwayError as error:
                if self._settings.gives_up:
                    raise
                self._note_away(journal, str(error))
            if stop.wait(_AGAIN_S):
                raise EngineStoppedError("stopped on request")

    def _run_once(self, journal: JournalWriter | None, stop: Stop, status: DriverStatus) -> None:
        client = Client(
            self._runner,
            self._settings.patience,
            notify=lambda line: self._first_lines(journal, line),
            sleep=interruptible_sleep(stop),
            contact=status.contact,
        )
        cluster, policies = cluster_name(client), self._settings.made()
        with self._recorded(journal, client, policies, stop) as (observer, notify):
            driving = self._driving(policies, cluster)
            client = Client(
                self._runner,
                self._settings.patience,
                notify=notify,
                sleep=hurried_sleep(stop, "Slurm", AwayError),
                traits=client.traits,
                contact=status.contact,
            )
            try:
                if self._acts:
                    drive_slurm(
                        client, driving, notify, status, clock=self._clock, stop=stop, observer=observer
                    )
                else:
                    preview_slurm(client, driving, notify, observer, stop, clock=self._clock)
            except EngineStoppedError:
                if status.left_held:
                    raise BatchError(still_held(BY_HAND)) from None
                raise

    @contextmanager
    def _recorded(
        self, journal: JournalWriter | None, client: Client, policies: Mapping[str, Named], stop: Stop
    ) -> Iterator[tuple[DriverObserver, Notify]]:
        """Yield what the driver notifies: the journal, the predictions and the log, or only the log."""
        if journal is None:
            yield Unobserved(), self._report
            return
        site = client.setting("ClusterName")
        journal.flush()
        with JournalReader(journal.path) as reader:
            order = self._settings.policies[ORDER.key]
            starts = LiveStarts(
                lambda job: JobKey(self.name, site, job),
                order,
                journal,
                reader,
                lambda: self._ended(stop),
                time.monotonic,
            )
            observer = SlurmObserver(
                self.name,
                self.about,
                site,
                {decision: policy.name for decision, policy in policies.items()},
                journal,
                reader,
                ReplayedQueue(order, lambda: starts.latest_ended),
                acts=self._acts,
                clock=self._clock,
            )

            def notify(line: str) -> None:
                self._report(line)
                observer.noted(line)

            with starts:
                yield ObservedDriver(observer, starts), notify

    def _driving(self, policies: Mapping[str, Named], cluster: str) -> Driving:
        settings = self._settings
        book = settings.book or default_journal(cluster)
        return Driving(
            policies, book, settings.options, settings.keep_held, settings.checkpoint, forgets=True
        )

    def _ended(self, stop: Stop) -> Sequence[EndedJob]:
        """Return the finished jobs that the cluster has a record of, of the partition.

        Raises
        ------
        InputError
            It has none, or the settings forbid to read it.
        """
        if not self._settings.accounting:
            raise InputError("accounting: is off, so no finished job is read")
        client = Client(self._runner, 0.0, sleep=interruptible_sleep(stop))
        partition = self._settings.options.partition
        return [job for job in read_log(client).jobs if partition in (None, job.partition)]

    def _first_lines(self, journal: JournalWriter | None, line: str) -> None:
        """Take note of a line from before the name of the cluster is known."""
        self._report(line)
        if journal is not None:
            journal.append(EngineStatus(self.name, "unreachable", self._clock(), self.about, line))

    def _note_away(self, journal: JournalWriter | None, why: str) -> None:
        text = f"{why}; tried again in {_AGAIN_S:g} s"
        self._report(text)
        now = self._clock()
        if journal is not None:
            journal.append(
                EventRecord(now, JobKey(self.name), "error", text),
                EngineStatus(self.name, "unreachable", now, self.about, text),
            )

"""What ``windlass pbs`` and ``windlass htcondor`` have in common: a driver of held jobs, and its give-back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from windlass.cli.log_format import LogFormat
from windlass.cli.metrics import metrics_address, metrics_served
from windlass.cli.output import log_json, log_line, note, print_lines

if TYPE_CHECKING:
    from windlass.drive import Named
    from windlass.engines.batch.holds.site import HoldSite


@dataclass(frozen=True, slots=True)
class QueueChoices:
    """The options of ``drive`` that all systems have, as they were given.

    Parameters
    ----------
    policies
        Policies, as in ``order=easy``.
    journal
        The journal's file; None for the default one.
    look
        Polling interval, s.
    dry_run, until_idle, keep_held
        As in :class:`~windlass.engines.batch.holds.settings.HoldDriving` and its options.
    metrics
        Address of the metrics; None for none.
    log
        The format of the log.
    """

    policies: str
    journal: Path | None
    look: float
    dry_run: bool
    until_idle: bool
    keep_held: bool
    metrics: str | None
    log: LogFormat

    @property
    def notify(self) -> Callable[[str], None]:
        """What logs a line."""
        return log_json if self.log is LogFormat.JSON else log_line


def drive_queue(
    context: typer.Context, chosen: QueueChoices, system: str, open_site: Callable[[], HoldSite]
) -> None:
    """Drive a queue until it is idle or interrupted, or print what would be done now.

    Parameters
    ----------
    context
        The context of the command.
    chosen
        Its options.
    system
        The system's name, for errors.
    open_site
        Returns the queue; called once the options are checked.
    """
    from windlass.cli.one_engine import run_engine
    from windlass.cli.option_checks import RUN, check_apart
    from windlass.cli.slurm_policies import read_policies
    from windlass.control.held_queue import HeldQueueEngine
    from windlass.control.serve import Reload
    from windlass.engines.batch.holds.driver import plan_holds
    from windlass.engines.batch.holds.settings import HoldDriving, HoldOptions, default_journal
    from windlass.engines.batch.metrics import driver_metrics
    from windlass.engines.batch.status import DriverStatus
    from windlass.model.values import number
    from windlass.order.site import POLICIES as ORDER

    check_apart(context, "--dry-run", ("--until-idle", "--keep-held", "--metrics", "--log"), RUN)
    read = partial(read_policies, chosen.policies, (ORDER,), system)
    policies = read()
    number("--look", chosen.look, 0.0, open_below=True)
    where = metrics_address(chosen.metrics)
    site = open_site()
    command = site.words.command
    file = chosen.journal or default_journal(command, site.identity())
    options = HoldOptions(chosen.look, chosen.until_idle)
    driving = HoldDriving(policies, file, options, chosen.keep_held, forgets=True)
    if chosen.dry_run:
        lines = plan_holds(site, driving) or ["no job would start now"]
        print_lines([*lines, "Nothing was changed."])
        return
    status, named = DriverStatus(contact=site.contact), list[str]()
    words: dict[str, Any] = {"report": log_json} if chosen.log is LogFormat.JSON else {}

    def engine(policies: Mapping[str, Named]) -> HeldQueueEngine:
        named[:] = (f"{decision}={policy.name}" for decision, policy in policies.items())
        return HeldQueueEngine(site, replace(driving, policies=policies), chosen.notify, status)

    reload = Reload(
        lambda: [engine(read())],
        subject="the driver goes",
        done=lambda: f"reloaded; waiting jobs stayed held: {', '.join(named)}",
    )
    with metrics_served(where, driver_metrics(command, system, status)):
        # After SIGTERM, status 0 means that no job is left held by mistake.
        run_engine(
            engine(policies),
            "interrupted; running jobs continue",
            chosen.notify,
            left_held=lambda: status.left_held > 0,
            reload=reload,
            **words,
        )


def give_back_queue(site: HoldSite, journal: Path | None) -> None:
    """Release the jobs of a queue that are held for Windlass, and print them.

    Raises
    ------
    BatchError
        A job could not be released.
    """
    from windlass.engines.batch.holds.driver import give_back_holds
    from windlass.engines.batch.holds.settings import default_journal
    from windlass.model import BatchError

    file = journal or default_journal(site.words.command, site.identity())
    found = give_back_holds(site, file, note)
    if found.released:
        print_lines([f"released: {', '.join(found.released)}"])
    if found.held:
        raise BatchError(found.problem())
    if not found.released:
        print_lines(["no job is held for Windlass"])

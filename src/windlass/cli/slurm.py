"""``windlass slurm``: a private Slurm to try with, a policy in charge of a queue, and the log of what ended."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from windlass.cli.terminal import say
from windlass.model.text import printable

if TYPE_CHECKING:
    from windlass.drive import Named
    from windlass.engines.slurm.client import Client

slurm_app = typer.Typer(
    help="Order policies on a real Slurm: drive its queue, read its log; or bring up a private one to try with.",
    no_args_is_help=True,
)

_Dir = Annotated[
    Path | None,
    typer.Option("--dir", help="The private Slurm's folder.", show_default="~/.cache/windlass/slurm"),
]
_Conf = Annotated[
    Path | None, typer.Option("--conf", help="A slurm.conf.", show_default="$SLURM_CONF, or the system's")
]
_Journal = Annotated[
    Path | None,
    typer.Option(
        "--journal", help="File of decisions.", show_default="~/.local/state/windlass/slurm-….journal"
    ),
]
_Partition = Annotated[
    str | None, typer.Option("--partition", help="This partition alone.", show_default="all")
]


@slurm_app.command()
def up(
    nodes: Annotated[int, typer.Option("--nodes", help="Nodes that it pretends to have.")] = 4,
    cpus: Annotated[int, typer.Option("--cpus", help="Processors of each.")] = 2,
    folder: _Dir = None,
    accounting: Annotated[
        bool,
        typer.Option("--accounting", help="With a slurmdbd on a MariaDB of its own, so that sacct answers."),
    ] = False,
) -> None:
    """Bring up a private Slurm on this host, on 127.0.0.1 alone; needs root, slurm-wlm and munge."""
    from windlass.cli.signals import stopped_by_signals
    from windlass.engines.slurm import cluster

    with stopped_by_signals(True):
        found, started = cluster.up(_folder(folder), nodes, cpus, accounting)
    books = ", with accounting" if found.accounting else ""
    what = f"{found.nodes} nodes of {found.cpus} CPUs{books}, in {found.folder}"
    print(f"Slurm is up{'' if started else ' already'}: {what}", file=sys.stderr)
    print(found.export)


@slurm_app.command()
def down(folder: _Dir = None) -> None:
    """Cancel a private Slurm's jobs and stop what `windlass slurm up` started; nothing else."""
    from windlass.engines.slurm import cluster

    for line in cluster.down(_folder(folder)):
        print(printable(line))


@slurm_app.command()
def drive(
    context: typer.Context,
    policies: Annotated[
        str, typer.Option("--policies", help="As in order=easy,share=pairs, or order=./mine.py.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would start now; change nothing.")
    ] = False,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when no job is left that is Windlass's to start.")
    ] = False,
    keep_held: Annotated[
        bool, typer.Option("--keep-held", help="Leave waiting jobs held at the end; do not give them back.")
    ] = False,
    partition: _Partition = None,
    journal: _Journal = None,
    conf: _Conf = None,
    checkpoint: Annotated[
        float, typer.Option("--checkpoint", help="Where jobs share: how often all are measured, s.")
    ] = 5.0,
    look: Annotated[
        float, typer.Option("--look", help="How often Slurm is asked while there is a job to look after, s.")
    ] = 0.25,
    patience: Annotated[
        float, typer.Option("--patience", help="How long Slurm may stay away before this ends, s.")
    ] = 300.0,
) -> None:
    """Start the jobs that were submitted with `sbatch -H --comment=windlass`, in a policy's order."""
    from windlass.cli.option_checks import RUN, check_apart, given_in
    from windlass.cli.signals import stopped_by_signals
    from windlass.engines.slurm.driver import drive_slurm, plan_slurm
    from windlass.engines.slurm.settings import Driving, cluster_name, default_journal
    from windlass.engines.slurm.system import SlurmOptions
    from windlass.model import InputError
    from windlass.model.values import number
    from windlass.order.site import POLICIES as ORDER
    from windlass.share import POLICIES as SHARE

    check_apart(context, "--dry-run", ("--until-idle", "--keep-held"), RUN)
    chosen = read_policies(policies)
    if "--checkpoint" in given_in(context) and SHARE.key not in chosen:
        raise InputError("--checkpoint: has no effect here, it is for --policies with share=…")
    if ORDER.key not in chosen:
        raise InputError("--policies: no order=… is given, expected one")
    number("--look", look, 0.0, open_below=True)
    client = _client(conf, patience)
    file = journal or default_journal(cluster_name(client))
    options = SlurmOptions(pace=look, until_idle=until_idle, partition=partition)
    settings = Driving(chosen, file, options, keep_held, checkpoint)
    if dry_run:
        print("\n".join(map(printable, plan_slurm(client, settings))) or "nobody would start now")
        print("Nothing was changed.")
        return
    with stopped_by_signals(True, "interrupted; jobs that run go on"):
        drive_slurm(client, settings, say)


@slurm_app.command("give-back")
def give_back(partition: _Partition = None, journal: _Journal = None, conf: _Conf = None) -> None:
    """Release all jobs that wait for Windlass, so that Slurm starts them by itself: after a driver was killed."""
    from windlass.engines.slurm import driver, settings
    from windlass.engines.slurm.system import SlurmOptions

    client = _client(conf, 60.0)
    file = journal or settings.default_journal(settings.cluster_name(client))
    jobs = driver.give_back(client, file, SlurmOptions(partition=partition))
    print(f"released: {', '.join(str(job) for job in jobs)}" if jobs else "no job waits for Windlass")


@slurm_app.command()
def log(
    out: Annotated[Path | None, typer.Option("--out", help="File.", show_default="standard output")] = None,
    conf: _Conf = None,
    duplicates: Annotated[
        bool, typer.Option("--duplicates", help="Every run of a requeued job, not its last alone.")
    ] = False,
) -> None:
    """Write jobs that have ended as CSV, which `windlass run` reads."""
    from windlass.engines.slurm.log import read_log, write_log
    from windlass.io import check_file, write_text

    if out is not None:
        check_file("--out", out, begins=b"job,submit,start,")
    found = read_log(_client(conf, 60.0), duplicates)
    table = io.StringIO()
    write_log(found.jobs, table)
    if out is None:
        sys.stdout.write(table.getvalue())
    else:
        write_text(table.getvalue(), out)
    what, why = ("runs", "never ran") if duplicates else ("jobs", "never ran or ran again")
    say(f"{len(found.jobs)} {what}; {found.left_out} records left out, of jobs that {why}")


def read_policies(text: str) -> dict[str, Named]:
    """Policies by decision, of an option such as ``order=easy``.

    Raises
    ------
    InputError
        A decision that Slurm is not driven by, one given twice, or no such policy.

    Examples
    --------
    >>> read_policies("order=easy")["order"].name
    'easy'
    """
    import numpy as np

    from windlass.model import InputError
    from windlass.order.site import POLICIES as ORDER
    from windlass.share import POLICIES as SHARE

    # More decisions that are asked of Slurm get a registry here.
    registries = {ORDER.key: ORDER, SHARE.key: SHARE}
    found: dict[str, Named] = {}
    for entry in text.split(","):
        decision, equals, name = entry.strip().partition("=")
        if not equals:
            decision, name = ORDER.key, decision
        if decision not in registries:
            raise InputError(
                f"--policies: no decision {decision!r} on Slurm, expected one of {', '.join(registries)}"
            )
        if decision in found:
            raise InputError(f"--policies: {decision} is given twice, expected one policy")
        found[decision] = registries[decision].make(name, np.random.default_rng(1))
    return found


def _client(conf: Path | None, patience: float) -> Client:
    from windlass.engines.slurm.client import Client, Commands
    from windlass.model import InputError

    if conf is not None and not conf.is_file():
        raise InputError(f"--conf: {conf}: no such file")
    return Client(Commands(conf), patience=patience, tell=say)


def _folder(folder: Path | None) -> Path:
    import os

    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return folder or Path(cache) / "windlass" / "slurm"

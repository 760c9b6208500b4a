"""``windlass slurm``: a private Slurm for trials, a policy that orders a queue, and the log of finished jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from windlass.cli import completion
from windlass.cli.as_file import AsFile, policy_fields, print_file
from windlass.cli.log_format import Log, LogFormat
from windlass.cli.metrics import Metrics, metrics_address
from windlass.cli.output import log_json, log_line, note, print_lines
from windlass.cli.slurm_log import Conf, client_of, log
from windlass.cli.slurm_when import when

slurm_app = typer.Typer(
    help="Order Slurm's queue by a policy, read its log, or start a private Slurm for trials.",
    no_args_is_help=True,
)

_Dir = Annotated[
    Path | None,
    typer.Option("--dir", help="Folder of the private Slurm.", show_default="~/.cache/windlass/slurm"),
]
_Journal = Annotated[
    Path | None,
    typer.Option(
        "--journal", help="File to log decisions to.", show_default="~/.local/state/windlass/slurm-….journal"
    ),
]
_Partition = Annotated[
    str | None, typer.Option("--partition", help="Only jobs of this partition.", show_default="all")
]


@slurm_app.command()
def up(
    nodes: Annotated[int, typer.Option("--nodes", help="Emulated nodes.")] = 4,
    cpus: Annotated[int, typer.Option("--cpus", help="Processors per node.")] = 2,
    folder: _Dir = None,
    accounting: Annotated[
        bool,
        typer.Option("--accounting", help="Also start slurmdbd and a private MariaDB, for sacct."),
    ] = False,
) -> None:
    """Start a private Slurm on 127.0.0.1; requires root, slurm-wlm and munge."""
    from windlass.cli.signals import stopped_by_signals
    from windlass.engines.slurm import cluster

    with stopped_by_signals(True):
        found, started = cluster.up(_folder(folder), nodes, cpus, accounting)
    accounted = ", with accounting" if found.accounting else ""
    what = f"{found.nodes} nodes of {found.cpus} CPUs{accounted}, in {found.folder}"
    note(f"Slurm is {'running' if started else 'already running'}: {what}")
    print_lines([found.export])


@slurm_app.command()
def down(folder: _Dir = None) -> None:
    """Cancel the jobs of the private Slurm and stop what windlass slurm up started; nothing else."""
    from windlass.engines.slurm import cluster

    print_lines(cluster.down(_folder(folder)))


@slurm_app.command()
def drive(
    context: typer.Context,
    policies: Annotated[
        str,
        typer.Option(
            "--policies",
            help="Policies by decision, as in order=easy,share=pairs(budget=0.05) or order=./mine.py.",
            autocompletion=completion.policies,
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the jobs that would start now, and change nothing.")
    ] = False,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="Exit when no job is left to start.")
    ] = False,
    keep_held: Annotated[
        bool, typer.Option("--keep-held", help="Keep waiting jobs held on exit; do not release them.")
    ] = False,
    partition: _Partition = None,
    journal: _Journal = None,
    conf: Conf = None,
    checkpoint: Annotated[
        float, typer.Option("--checkpoint", help="Interval for measuring jobs that share nodes (s).")
    ] = 5.0,
    look: Annotated[float, typer.Option("--look", help="Polling interval (s).")] = 0.25,
    patience: Annotated[
        float, typer.Option("--patience", help="Give up after Slurm has been unreachable this long (s).")
    ] = 300.0,
    metrics: Metrics = None,
    log_format: Log = LogFormat.TEXT,
    as_file: AsFile = False,
) -> None:
    """Start jobs that were submitted with sbatch -H --comment=windlass, in the order of a policy."""
    from windlass.cli.option_checks import RUN, check_apart, given_in
    from windlass.cli.slurm_engine import run_slurm
    from windlass.cli.slurm_policies import policy_specs, read_policies
    from windlass.control.slurm.engine import SlurmSettings
    from windlass.engines.slurm.driver import plan_slurm
    from windlass.engines.slurm.settings import Driving, cluster_name, default_journal
    from windlass.engines.slurm.system import SlurmOptions
    from windlass.model import InputError
    from windlass.model.values import number
    from windlass.share import POLICIES as SHARE

    check_apart(context, "--dry-run", ("--until-idle", "--keep-held", "--metrics", "--log"), RUN)
    chosen = read_policies(policies)
    if "--checkpoint" in given_in(context) and SHARE.key not in chosen:
        raise InputError("--checkpoint: has no effect here, it is for --policies with share=…")
    number("--look", look, 0.0, open_below=True)
    number("--patience", patience, 0.0)
    if as_file:
        print_file(
            context,
            ("--dry-run", "--until-idle", "--metrics", "--log"),
            engine="slurm",
            policies=policy_fields(policies),
            **{"period": look, "partition": partition, "checkpoint": checkpoint, "patience": patience},
            **{"keep_held": keep_held, "book": journal, "conf": conf},
        )
        return
    where = metrics_address(metrics)
    notify = log_json if log_format is LogFormat.JSON else log_line
    options = SlurmOptions(pace=look, until_idle=until_idle, partition=partition)
    client = client_of(conf, patience, notify)
    if dry_run:
        file = journal or default_journal(cluster_name(client))
        settings = Driving(chosen, file, options, keep_held, checkpoint, forgets=True)
        lines = plan_slurm(client, settings) or ["no job would start now"]
        print_lines([*lines, "Nothing was changed."])
        return
    words: dict[str, Any] = {"report": log_json} if log_format is LogFormat.JSON else {}
    run_slurm(
        lambda: SlurmSettings(
            policy_specs(policies),
            options,
            keep_held=keep_held,
            checkpoint=checkpoint,
            patience=patience,
            book=journal,
            conf=conf,
            gives_up=True,
        ),
        client,
        notify,
        where,
        **words,
    )


@slurm_app.command("give-back")
def give_back(partition: _Partition = None, journal: _Journal = None, conf: Conf = None) -> None:
    """Release all jobs that Windlass holds, so that Slurm starts them; for use after the driver was killed."""
    from windlass.engines.slurm import driver, settings
    from windlass.engines.slurm.system import SlurmOptions
    from windlass.model import BatchError

    client = client_of(conf, 60.0)
    file = journal or settings.default_journal(settings.cluster_name(client))
    found = driver.give_back(client, file, SlurmOptions(partition=partition), note)
    if found.released:
        print_lines([f"released: {', '.join(str(job) for job in found.released)}"])
    if found.held:
        raise BatchError(found.problem())
    if not found.released:
        print_lines(["no job is held for Windlass"])


slurm_app.command()(log)
slurm_app.command()(when)


def _folder(folder: Path | None) -> Path:
    import os

    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return folder or Path(cache) / "windlass" / "slurm"

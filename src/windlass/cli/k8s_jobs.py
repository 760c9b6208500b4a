"""``windlass k8s drive`` and ``give-back``: a policy that orders a queue of Kubernetes Jobs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from windlass.cli import completion
from windlass.cli.log_format import Log, LogFormat
from windlass.cli.metrics import Metrics, metrics_address, metrics_served
from windlass.cli.output import log_json, log_line, print_lines

#: Patience of commands that end after one answer, s.
_ONCE_S = 10.0
Kubeconfig = Annotated[
    str | None,
    typer.Option(
        "--kubeconfig", help="File kubeconfig.", show_default="service account of the pod, or ~/.kube/config"
    ),
]
Context = Annotated[str | None, typer.Option("--context", help="Context in the kubeconfig.")]
Lease = Annotated[
    float,
    typer.Option(
        "--lease",
        help="Duration of the Lease by which one driver acts at a time (s); another takes over after it. 0 for none.",
    ),
]
_Namespace = Annotated[
    str | None, typer.Option("--namespace", help="Only Jobs of this namespace.", show_default="all")
]


def drive(
    context: typer.Context,
    policies: Annotated[
        str,
        typer.Option(
            "--policies",
            help="Policy of the order, as in order=easy or order=./mine.py.",
            autocompletion=completion.policies,
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the Jobs that would start now, and change nothing.")
    ] = False,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="Exit when no Job is left to start.")
    ] = False,
    namespace: _Namespace = None,
    journal: Annotated[
        Path | None,
        typer.Option(
            "--journal",
            help="File to log decisions to.",
            show_default="~/.local/state/windlass/k8s-….journal",
        ),
    ] = None,
    kubeconfig: Kubeconfig = None,
    kube_context: Context = None,
    look: Annotated[float, typer.Option("--look", help="Polling interval (s).")] = 1.0,
    patience: Annotated[
        float, typer.Option("--patience", help="Give up after the server has been unreachable this long (s).")
    ] = 300.0,
    lease: Lease = 15.0,
    lease_namespace: Annotated[
        str | None,
        typer.Option(
            "--lease-namespace",
            help="Namespace of the Lease.",
            show_default="that of --namespace, or default",
        ),
    ] = None,
    user_key: Annotated[
        str | None,
        typer.Option(
            "--user-key",
            help="Annotation or label that names the user of a Job.",
            show_default="its namespace is the user",
        ),
    ] = None,
    metrics: Metrics = None,
    log_format: Log = LogFormat.TEXT,
) -> None:
    """Resume suspended Jobs with the label windlass/queue=true, in the order of a policy."""
    from windlass.cli.option_checks import RUN, check_apart
    from windlass.cli.signals import stopped_by_signals
    from windlass.cli.slurm_policies import read_policies
    from windlass.engines.batch.metrics import driver_metrics
    from windlass.engines.batch.status import DriverStatus
    from windlass.engines.kubernetes.jobs.client import JobsClient
    from windlass.engines.kubernetes.jobs.driver import JobsDriving, default_journal, drive_jobs, plan_jobs
    from windlass.engines.kubernetes.jobs.system import JobsOptions
    from windlass.engines.kubernetes.lease import leaders_server
    from windlass.engines.kubernetes.server import ApiServer
    from windlass.model.values import number
    from windlass.order.site import POLICIES as ORDER

    check_apart(
        context, "--dry-run", ("--until-idle", "--lease", "--lease-namespace", "--metrics", "--log"), RUN
    )
    chosen = read_policies(policies, (ORDER,), "Kubernetes")
    number("--look", look, 0.0, open_below=True)
    number("--patience", patience, 0.0)
    where = metrics_address(metrics)
    server = ApiServer(kubeconfig, kube_context)
    settings = JobsDriving(
        chosen, journal or default_journal(namespace), JobsOptions(look, until_idle, user_key)
    )
    if dry_run:
        lines = plan_jobs(JobsClient(server, namespace, _ONCE_S), settings) or ["no Job would start now"]
        print_lines([*lines, "Nothing was changed."])
        return
    notify = log_json if log_format is LogFormat.JSON else log_line
    status = DriverStatus()
    words: dict[str, Any] = {"report": log_json} if log_format is LogFormat.JSON else {}
    message = "interrupted; running Jobs continue, and waiting ones stay suspended"
    end = stopped_by_signals(True, message, terminated=lambda: 0, **words)
    shown = metrics_served(where, driver_metrics("k8s", "the API server", status))
    # A driver that waits until it leads is alive.
    sleep = status.contact.health.sleeping(time.sleep)
    place = lease_namespace or namespace or "default"
    with (
        end,
        shown,
        leaders_server(server, place, "windlass-jobs", lease, notify=notify, sleep=sleep) as leads,
    ):
        client = JobsClient(leads, namespace, patience, notify, contact=status.contact)
        drive_jobs(client, settings, notify, status)


def give_back(
    namespace: _Namespace = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the Jobs that would be resumed, and change nothing.")
    ] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """Resume all Jobs that wait for Windlass, so that Kubernetes starts them; stop the driver first."""
    from windlass.engines.kubernetes.jobs.client import JobsClient
    from windlass.engines.kubernetes.jobs.driver import give_back_jobs
    from windlass.engines.kubernetes.server import ApiServer
    from windlass.model import BatchError

    client = JobsClient(ApiServer(kubeconfig, context), namespace, _ONCE_S)
    found = give_back_jobs(client, dry_run=dry_run)
    verb = "would be resumed" if dry_run else "resumed"
    print_lines([f"{verb}: {title}" for title in found.released] or ["no Job waits for Windlass"])
    if dry_run:
        print_lines(["Nothing was changed."])
    if found.left:
        left = "; ".join(f"{title}: {why}" for title, why in found.left.items())
        raise BatchError(f"these Jobs stay suspended: {left}")

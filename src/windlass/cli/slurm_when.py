"""``windlass slurm when``: when a job of a live Slurm will start."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from windlass.cli import completion, options, when_options
from windlass.cli.output import note
from windlass.cli.slurm_log import Conf, client_of


def when(
    job: Annotated[
        str | None, typer.Argument(help="A waiting job.", show_default="none: check predictions only")
    ] = None,
    like: when_options.Like = None,
    waiting: when_options.AllWaiting = False,
    policy: Annotated[
        str,
        typer.Option("--policy", help="Policy of Slurm's queue.", autocompletion=completion.policies),
    ] = "easy",
    check: when_options.EarlierJobs = 300,
    partition: Annotated[
        str | None,
        typer.Option("--partition", help="Only jobs and nodes of this partition.", show_default="all"),
    ] = None,
    conf: Conf = None,
    json: options.Json = False,
) -> None:
    """Predict when a job starts, with an interval that is calibrated on Slurm's accounting. Changes nothing."""
    from windlass.cli.when import Question, ask, check_question, policy_of
    from windlass.engines.slurm.log import read_log
    from windlass.experiment.start_times.live import live_history
    from windlass.experiment.start_times.question import StartPredictor

    question = Question(job=job, like=like, waiting=waiting, policy=policy, check=check)
    check_question(question)
    client = client_of(conf, 60.0)
    nodes = [node for node in client.nodes() if partition is None or partition in node.partitions]
    ended = [each for each in read_log(client).jobs if partition is None or each.partition == partition]
    rows = client.jobs(partition)
    found = live_history(ended, rows, sum(node.procs for node in nodes), time.time())
    for each in found.notes:
        note(f"note: {each}")
    ask(StartPredictor(found.history, policy_of(policy)), found.history, question, found.now, "now", json)

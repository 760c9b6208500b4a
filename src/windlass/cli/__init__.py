"""The command ``windlass``: ``run``, ``compare``, ``explain``, ``when``, ``what-if``, ``calibrate``, ``check``,
``validate``, ``trace``, ``list``; ``slurm``, ``pbs``, ``htcondor``, ``k8s``, ``ray``, ``agent``; ``serve``, ``ui``,
``top``, ``mcp``, ``act``, ``journal``; ``place``, ``cluster``, ``forecast``, ``plan``, ``admit``, ``reproduce``.

Exit status: 0 success; 1 a task of a live run failed, a batch system could not be reached, or a policy failed a check;
2 wrong usage or input, or a failing policy; 3 a bug in Windlass; 130 interrupted. An error is one line on standard
error. ``WINDLASS_TRACEBACK=1`` adds the traceback.

Commands and their options:

- :mod:`~windlass.cli.app`: the commands in their order; :mod:`~windlass.cli.commands`: those on scenarios;
  :mod:`~windlass.cli.inspection_commands`: those on policies and logs; :mod:`~windlass.cli.subcommands`: those on
  models and papers.
- :mod:`~windlass.cli.slurm`, :mod:`~windlass.cli.pbs`, :mod:`~windlass.cli.htcondor`, :mod:`~windlass.cli.scaling`,
  :mod:`~windlass.cli.agent`: real engines, with :mod:`~windlass.cli.held_queue` for queues of held jobs,
  :mod:`~windlass.cli.one_engine` for an engine that runs alone, :mod:`~windlass.cli.slurm_engine` for that of Slurm,
  :mod:`~windlass.cli.slurm_log` for the log of Slurm, :mod:`~windlass.cli.slurm_policies` for ``--policies``,
  :mod:`~windlass.cli.k8s_jobs` for the queue of Kubernetes, :mod:`~windlass.cli.metrics` and
  :mod:`~windlass.cli.log_format` for ``--metrics`` and ``--log``, :mod:`~windlass.cli.as_file` for ``--as-file``, and
  :mod:`~windlass.cli.agent_process` for an agent's process.
- :mod:`~windlass.cli.control`: the control plane; :mod:`~windlass.cli.journal`: its journal, and those of drivers;
  :mod:`~windlass.cli.act`: actions of people.
- :mod:`~windlass.cli.plan`, :mod:`~windlass.cli.admit`: streaming queries, and admission.
- :mod:`~windlass.cli.options`: options that commands share; :mod:`~windlass.cli.completion`: values that a shell
  completes; :mod:`~windlass.cli.option_checks`: refusal of options without an effect.

What commands do:

- :mod:`~windlass.cli.run`, :mod:`~windlass.cli.compare`, :mod:`~windlass.cli.explain`, :mod:`~windlass.cli.check`,
  :mod:`~windlass.cli.validate`, :mod:`~windlass.cli.place`, :mod:`~windlass.cli.cluster`,
  :mod:`~windlass.cli.reproduce`: the commands of these names.
- :mod:`~windlass.cli.overrides`: a scenario with the options of ``run`` applied; :mod:`~windlass.cli.fields` and
  :mod:`~windlass.cli.field_paths` for ``--set``, :mod:`~windlass.cli.policy_list` for ``--policies``,
  :mod:`~windlass.cli.policy_notation` for one policy of it, :mod:`~windlass.cli.column_names` for ``--columns``,
  :mod:`~windlass.cli.answer` for the verdict.
- :mod:`~windlass.cli.when`, :mod:`~windlass.cli.slurm_when`: ``when`` on a log and on a live Slurm, with
  :mod:`~windlass.cli.when_options` and :mod:`~windlass.cli.when_output`.
- :mod:`~windlass.cli.what_if`, :mod:`~windlass.cli.calibrate`: the commands of these names, with their options in
  :mod:`~windlass.cli.prediction_commands`.
- :mod:`~windlass.cli.inspect`: ``list`` and ``trace``; :mod:`~windlass.cli.catalogue`: the tables of ``list``.
- :mod:`~windlass.cli.forecast`, :mod:`~windlass.cli.forecast_output`: ``forecast``, and its tables and page.

Output:

- :mod:`~windlass.cli.output`: JSON, lines, tables, messages and reports; all commands print through it.
- :mod:`~windlass.cli.terminal`: consoles that escape control characters; :mod:`~windlass.cli.progress`: progress bars.
- :mod:`~windlass.cli.results`, :mod:`~windlass.cli.results_json`: the results of ``run`` as a table and as JSON.
- :mod:`~windlass.cli.error_handling`: errors as one line and a status; :mod:`~windlass.cli.signals`: interrupts;
  :mod:`~windlass.cli.stderr_capture`: what libraries write to standard error.
"""

import os
import sys

__all__ = ["command", "main"]


def command() -> None:
    """Run the program: the entry point of a process of its own.

    Ctrl-C ends the process at once while libraries load, since some of them discard an interrupt or turn it into
    another error.
    """
    try:
        import signal

        before = signal.getsignal(signal.SIGINT)
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end)
        import contextlib
        import gc

        # A tenth of the time of loading would be collections that find nothing, here and later.
        gc.disable()
        # An import that fails is repeated below, and the error is reported there.
        with contextlib.suppress(Exception):
            import windlass.cli.app  # noqa: F401
        gc.freeze()
        gc.enable()
        from windlass.cli.signals import never_lost

        never_lost()
        signal.signal(signal.SIGINT, before)
    except KeyboardInterrupt:
        _end()
    try:
        main()
    finally:
        # After an interrupt in code compiled from text, as that of dataclasses, Python would end by the signal instead
        # of the status; running other such code resets that.
        exec("")


def main() -> None:
    """Run the command that the arguments name; for programs that run other code in the same process."""
    try:
        # Slow imports are here and not at the top, so that an interrupt during them is reported.
        from windlass.cli.error_handling import run_app

        run_app()
    except KeyboardInterrupt:
        print("windlass: interrupted", file=sys.stderr)
        sys.exit(130)


def _end(*_: object) -> None:
    """Report the interrupt and end the process; nothing has been started that would have to be stopped."""
    os.write(2, b"windlass: interrupted\n")
    os._exit(130)

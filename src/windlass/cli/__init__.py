"""The ``windlass`` command: ``run``, ``explain``, ``check``, ``validate``, ``list``, ``trace``, ``place``,
``cluster``, ``forecast``, ``reproduce``, ``slurm``, ``agent``, ``admit``, ``plan``, ``k8s``, ``ray``.

Exit status: 0 done, 1 a task of a live run failed, a batch system stayed away, or a policy failed a check, 2 wrong use
or input (one line on standard error says what; a policy that fails is named with its file and line), 3 a mistake of
ours, 130 interrupted.
An error is one line. ``WINDLASS_TRACEBACK=1`` shows how it came about.

- :mod:`~windlass.cli.app`: the commands and their options; each hands over to one of the modules below.
- :mod:`~windlass.cli.run`: ``run``; :mod:`~windlass.cli.overrides`: what its options say over a scenario;
  :mod:`~windlass.cli.fields`: ``--set``; :mod:`~windlass.cli.results`, :mod:`~windlass.cli.answer`: its output.
- :mod:`~windlass.cli.commands`: what says what a run did or would do, and its options; :mod:`~windlass.cli.explain`,
  :mod:`~windlass.cli.check`, :mod:`~windlass.cli.validate`: the commands of these names.
- :mod:`~windlass.cli.inspect`: ``list`` and ``trace``.
- :mod:`~windlass.cli.place`, :mod:`~windlass.cli.cluster`, :mod:`~windlass.cli.reproduce`: the commands of these names.
- :mod:`~windlass.cli.forecast`: ``forecast``.
- :mod:`~windlass.cli.subcommands`: ``cluster from-wan``, ``admit evaluate`` and ``reproduce``, and their options.
- :mod:`~windlass.cli.slurm`: ``slurm up``, ``down``, ``drive``, ``give-back`` and ``log``.
- :mod:`~windlass.cli.scaling`: ``k8s autoscale`` and ``remove``, ``ray autoscale``.
- :mod:`~windlass.cli.agent`: ``agent record``, ``run`` and ``aggregate``.
- :mod:`~windlass.cli.admit`: ``admit evaluate``.
- :mod:`~windlass.cli.plan`: ``plan solve``, ``profile`` and ``clip``.
- :mod:`~windlass.cli.options`: options that several commands have.
- :mod:`~windlass.cli.json_text`, :mod:`~windlass.cli.progress`, :mod:`~windlass.cli.signals`: results as JSON, a
  progress bar, and what ends a command that has started something; :mod:`~windlass.cli.stderr_capture`: what libraries
  write to standard error by themselves goes to a file.
- :mod:`~windlass.cli.terminal`: consoles on which nothing from outside steers the terminal.
- :mod:`~windlass.cli.option_checks`: options that would be without effect.
- :mod:`~windlass.cli.error_handling`: whatever ends a command with an error, as one line and a status.
"""

import os
import sys

__all__ = ["command", "main"]


def command() -> None:
    """Entry point of the program: :func:`main`, in a process that it has for itself.

    While libraries load, Ctrl-C ends it at once. Some of them would lose it, or make another error of it.
    """
    try:
        import signal

        before = signal.getsignal(signal.SIGINT)
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end)
        import contextlib

        # What cannot be loaded is met again in a moment, and told then.
        with contextlib.suppress(Exception):
            import windlass.cli.app  # noqa: F401
        from windlass.cli.signals import never_lost

        never_lost()
        signal.signal(signal.SIGINT, before)
    except KeyboardInterrupt:
        _end()
    try:
        main()
    finally:
        # Where an interrupt came through code that was made of text, as dataclasses are, Python would end by the signal
        # and not with our status; it forgets that as soon as other such code runs.
        exec("")


def main() -> None:
    """What the arguments say; whoever runs other things in the same process calls this."""
    try:
        # All that takes time to load is imported here, and nothing above: who interrupts then is told so, too.
        from windlass.cli.error_handling import run_app

        run_app()
    except KeyboardInterrupt:
        print("windlass: interrupted", file=sys.stderr)
        sys.exit(130)


def _end(*_: object) -> None:
    """Say it and be gone: nothing has been started yet that would have to be stopped."""
    os.write(2, b"windlass: interrupted\n")
    os._exit(130)

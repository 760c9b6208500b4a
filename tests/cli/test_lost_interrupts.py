"""Ctrl-C while the command still loads: one line and status 130, from the first module of Windlass on."""

import subprocess
import sys
import threading
from importlib.metadata import version
from types import SimpleNamespace

import pytest

import windlass
from windlass.cli.signals import never_lost

#: Ctrl-C arrives while Python looks for this module.
_INTERRUPTED = """
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Finder())
from windlass.cli import command
command()
"""
#: From the first loaded module to those that a command loads late.
MODULES = (
    "windlass.cli.error_handling",
    "windlass.policy.user_code",
    "windlass.model",
    "windlass.cli.app",
    "typer",
    "importlib.metadata",
    "windlass.cli.inspect",
    "windlass.policy.registry",
    "numpy",
    "numba",
)


@pytest.mark.parametrize("module", ["windlass.model", "numpy"])
def test_an_interrupt_that_a_loading_library_swallows_is_still_reported(module):
    """The importer raises another error instead, as compiled modules do, or ignores the interrupt."""
    losing = "try: os.kill(os.getpid(), signal.SIGINT)\n            except KeyboardInterrupt: "
    for statement in ("raise ImportError", "pass"):
        code = _INTERRUPTED.replace("os.kill(os.getpid(), signal.SIGINT)", losing + statement)
        words = [sys.executable, "-c", code.replace("sys.argv[1]", repr(module)), "list"]
        done = subprocess.run(words, capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "windlass: interrupted\n")


def test_an_interrupt_that_python_ignores_is_sent_again():
    """Python discards an error raised in ``__del__``. About a hundred modules are still to be loaded."""
    losing = "Lost()\n\nclass Lost:\n    def __del__(self):\n        os.kill(os.getpid(), signal.SIGINT)"
    code = _INTERRUPTED.replace("os.kill(os.getpid(), signal.SIGINT)", losing)
    words = [sys.executable, "-c", code.replace("sys.argv[1]", "'windlass.cli.inspect'"), "list"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "windlass: interrupted\n")


def test_an_interrupt_in_exec_code_exits_with_status_130(tmp_path):
    """Without a handler, Python would end a module run with ``python -m`` by the signal."""
    code = _INTERRUPTED.replace(
        "os.kill(os.getpid(), signal.SIGINT)", "exec('os.kill(os.getpid(), signal.SIGINT)')"
    )
    (tmp_path / "begins.py").write_text(code.replace("sys.argv[1]", "'windlass.cli.inspect'"))
    words = [sys.executable, "-m", "begins", "list"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "windlass: interrupted\n")


def test_a_module_that_fails_to_import_is_a_one_line_error():
    code = _INTERRUPTED.replace("os.kill(os.getpid(), signal.SIGINT)", "raise RuntimeError('broken')")
    words = [sys.executable, "-c", code.replace("sys.argv[1]", "'windlass.cli.agent'"), "list"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)
    assert done.stderr.startswith("windlass: RuntimeError: broken")


@pytest.mark.matrix
@pytest.mark.parametrize("module", MODULES)
def test_an_interrupt_while_libraries_load_is_a_one_line_message(module):
    words = [sys.executable, "-c", _INTERRUPTED.replace("sys.argv[1]", repr(module)), "list"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "windlass: interrupted\n")


def test_no_other_module_is_imported_before_interrupts_are_handled():
    """While any other module loads before the handler is set, Ctrl-C would print a traceback."""
    code = "import sys; before = set(sys.modules); import windlass.cli; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["windlass", "windlass.cli"]


def test_the_version_is_an_attribute_computed_on_access():
    assert windlass.__version__ == version("windlass")
    with pytest.raises(AttributeError, match="has no attribute 'no_such_thing'"):
        _ = windlass.no_such_thing


def test_an_interrupt_during_the_resend_is_sent_again(monkeypatch):
    """On a busy machine the timer fires before `start` returns, and Python's hook discards the error."""
    started = []

    class Timer:
        def __init__(self, seconds, function, arguments):
            self.daemon = False

        def start(self):
            started.append(self.daemon)
            if len(started) < 3:
                raise KeyboardInterrupt

    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    monkeypatch.setattr(threading, "Timer", Timer)
    never_lost()
    sys.unraisablehook(SimpleNamespace(exc_type=KeyboardInterrupt))
    assert started == [True, True, True]

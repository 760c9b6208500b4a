"""Ctrl-C while the command still loads: one line and status 130, from the first module of ours on."""

import subprocess
import sys
import threading
from importlib.metadata import version
from types import SimpleNamespace

import pytest

import windlass
from windlass.cli.signals import never_lost

#: Ctrl-C comes when this module is looked for.
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
#: From the first that is loaded to those that a command loads late.
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
def test_an_interrupt_that_a_library_loses_while_it_loads_is_told_all_the_same(module):
    """Here whoever imports a module makes another error of it, as compiled ones do, or goes on as if nothing were."""
    lost = "try: os.kill(os.getpid(), signal.SIGINT)\n            except KeyboardInterrupt: "
    for deed in ("raise ImportError", "pass"):
        code = _INTERRUPTED.replace("os.kill(os.getpid(), signal.SIGINT)", lost + deed)
        words = [sys.executable, "-c", code.replace("sys.argv[1]", repr(module)), "list"]
        done = subprocess.run(words, capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "windlass: interrupted\n")


def test_an_interrupt_that_python_loses_comes_again():
    """Raised while an object goes, no error gets out. The command has some hundred modules still to load."""
    lost = "Lost()\n\nclass Lost:\n    def __del__(self):\n        os.kill(os.getpid(), signal.SIGINT)"
    code = _INTERRUPTED.replace("os.kill(os.getpid(), signal.SIGINT)", lost)
    words = [sys.executable, "-c", code.replace("sys.argv[1]", "'windlass.cli.inspect'"), "list"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "windlass: interrupted\n")


def test_the_status_is_ours_where_an_interrupt_came_through_code_made_of_text(tmp_path):
    """Of a module that is run, as by `python -m windlass`, Python would end by the signal."""
    code = _INTERRUPTED.replace(
        "os.kill(os.getpid(), signal.SIGINT)", "exec('os.kill(os.getpid(), signal.SIGINT)')"
    )
    (tmp_path / "begins.py").write_text(code.replace("sys.argv[1]", "'windlass.cli.inspect'"))
    words = [sys.executable, "-m", "begins", "list"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "windlass: interrupted\n")


def test_what_cannot_be_loaded_is_told_in_a_line():
    code = _INTERRUPTED.replace("os.kill(os.getpid(), signal.SIGINT)", "raise RuntimeError('broken')")
    words = [sys.executable, "-c", code.replace("sys.argv[1]", "'windlass.cli.agent'"), "list"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)
    assert done.stderr.startswith("windlass: RuntimeError: broken")


@pytest.mark.parametrize("module", MODULES)
def test_who_interrupts_while_libraries_load_is_told_in_a_line(module):
    words = [sys.executable, "-c", _INTERRUPTED.replace("sys.argv[1]", repr(module)), "list"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "windlass: interrupted\n")


def test_nothing_is_loaded_before_an_interrupt_is_caught():
    """Whatever is loaded before would be a time in which Ctrl-C ends the command as it ends Python: by a traceback."""
    code = "import sys; before = set(sys.modules); import windlass.cli; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["windlass", "windlass.cli"]


def test_the_version_is_looked_up_when_it_is_asked_for():
    assert windlass.__version__ == version("windlass")
    with pytest.raises(AttributeError, match="has no attribute 'no_such_thing'"):
        _ = windlass.no_such_thing


def test_an_interrupt_that_comes_while_it_is_sent_again_is_sent_once_more(monkeypatch):
    """On a busy machine the timer fires before its start has returned; a hook of Python loses what it raises."""
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

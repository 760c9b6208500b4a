"""``windlass check`` stops a policy that loops forever, and names the line."""

import signal
import subprocess
import sys

import pytest

from tests.cli.test_check import POLICY
from windlass.experiment.checks.validation import run_checks
from windlass.order.site import POLICIES
from windlass.policy.limit import TimeLimitError, time_limit


@pytest.mark.slow
def test_the_check_of_a_looping_policy_fails_and_names_the_line(tmp_path):
    loops = "    def __init__(self):\n        while True: pass\n\n"
    (tmp_path / "mine.py").write_text(
        POLICY.replace("{line}", "pass").replace("    def decide", f"{loops}    def decide")
    )
    found = {each.name: each for each in run_checks(POLICIES, str(tmp_path / "mine.py"), 0.3)}
    for name in ("seeded", "picklable"):
        failed = found[name]
        assert failed.problem == f"the check {name!r} did not end within 0.3 s"
        assert (failed.line, failed.code, failed.failed_there) == (14, "while True: pass", True)
    assert found["named"].problem == ""


def test_a_looping_import_is_a_one_line_error(windlass, tmp_path):
    (tmp_path / "mine.py").write_text("while True:\n    pass\n")
    status, out, err = windlass("check", "mine.py", "--limit", "0.2")
    assert (status, out) == (2, "")
    assert err == "windlass: mine.py: importing it did not end within 0.2 s\n"


@pytest.mark.matrix(0)
def test_the_limit_stops_code_that_catches_every_exception():
    def stubborn() -> None:
        while True:
            try:
                while True:
                    pass
            except BaseException:
                caught.append(1)
                if len(caught) == 2:
                    raise

    caught: list[int] = []
    with pytest.raises(TimeLimitError, match=r"a loop did not end within 0\.1 s"), time_limit(0.1, "a loop"):
        stubborn()
    assert len(caught) == 2


def test_the_timer_and_handler_are_restored_afterwards():
    before = signal.getsignal(signal.SIGALRM)
    with time_limit(60.0, "nothing"):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 50.0
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before


@pytest.mark.matrix(0)
def test_looping_compiled_code_ends_the_process(tmp_path):
    program = """
import numba
from windlass.experiment.checks.validation import run_checks
from windlass.policy.limit import time_limit

@numba.njit(nogil=True)
def spin(x):
    while x > 0:
        x += 1 if x < 100 else -1
    return x

spin(0)
with time_limit(0.1, "a kernel", grace_s=0.1):
    spin(5)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "windlass: a kernel did not end within 0.1 s, in compiled code\n"

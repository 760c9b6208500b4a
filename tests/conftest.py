"""Common settings of all tests, independent of the user and the load of the machine."""

import os
import signal
import threading

from hypothesis import HealthCheck, settings

# An example takes as long as it takes: a bound on the wall clock would fail on a machine with other work.
settings.register_profile("windlass", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("windlass")

# A shell starts what runs in its background with this signal ignored, and what tests start would inherit that.
if (
    threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGINT) is not signal.default_int_handler
):
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Each of these variables forces colours in help and messages, also without a terminal.
for _name in ("GITHUB_ACTIONS", "FORCE_COLOR", "PY_COLORS", "CLICOLOR_FORCE"):
    os.environ.pop(_name, None)

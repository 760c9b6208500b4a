"""What machines measured of themselves: rows of metrics, a step each.

- :mod:`~windlass.io.traces.telemetry.series`: what a reader returns.
- :mod:`~windlass.io.traces.telemetry.smd`: the Server Machine Dataset (``.npz``).
- :mod:`~windlass.io.traces.telemetry.bitbrains`: virtual machines of Bitbrains (``.csv``, ``.csv.gz``).
- :mod:`~windlass.io.traces.telemetry.recorded`: what ``windlass agent record`` wrote (``.parquet``).
- :mod:`~windlass.io.traces.telemetry.formats`: whichever the file's suffix names.
"""

from windlass.io.traces.telemetry.bitbrains import read_bitbrains
from windlass.io.traces.telemetry.formats import read_telemetry
from windlass.io.traces.telemetry.recorded import read_recorded
from windlass.io.traces.telemetry.series import Telemetry
from windlass.io.traces.telemetry.smd import SmdMachine, read_smd

__all__ = ["SmdMachine", "Telemetry", "read_bitbrains", "read_recorded", "read_smd", "read_telemetry"]

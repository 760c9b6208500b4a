"""Readers of recorded telemetry of machines: one row of metrics per step.

- :mod:`~windlass.io.traces.telemetry.series`: the result of all readers.
- :mod:`~windlass.io.traces.telemetry.smd`: the Server Machine Dataset (``.npz``).
- :mod:`~windlass.io.traces.telemetry.bitbrains`: virtual machines of Bitbrains (``.csv``, ``.csv.gz``).
- :mod:`~windlass.io.traces.telemetry.recorded`: recordings of ``windlass agent record`` (``.parquet``).
- :mod:`~windlass.io.traces.telemetry.formats`: any of these formats, by the file's suffix.
"""

from windlass.io.traces.telemetry.bitbrains import read_bitbrains
from windlass.io.traces.telemetry.formats import read_telemetry
from windlass.io.traces.telemetry.recorded import read_recorded
from windlass.io.traces.telemetry.series import Telemetry
from windlass.io.traces.telemetry.smd import SmdMachine, read_smd

__all__ = ["SmdMachine", "Telemetry", "read_bitbrains", "read_recorded", "read_smd", "read_telemetry"]

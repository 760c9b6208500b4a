"""Where jobs come from: logs of real systems, and plain tables.

A reader returns a :class:`Trace`: the unchanged records of a file, missing values as null.
:func:`to_workload` turns a trace into jobs that can be scheduled on a given number of processors, by documented
rules, and notes each rule that applied: nothing is dropped or repaired silently. A line that cannot be read
raises an error with file, line, field and value, unless the caller chooses to skip such lines.

- :func:`read_swf`, :func:`write_swf`: the Standard Workload Format.
- :func:`read_swim`: MapReduce jobs by bytes read, shuffled and written.
- :func:`read_csv`, :func:`read_parquet`, :func:`write_table`: a plain table of jobs.
- :func:`read_trace`: whichever of :data:`FORMATS` the file is in, by what is in it or its suffix.
- :mod:`~windlass.io.traces.logs`: logs as batch systems and clusters write them.

- :mod:`~windlass.io.traces.llm`: requests to language models; :mod:`~windlass.io.traces.volatility`: speeds of machines
  that drift; :mod:`~windlass.io.traces.wan`: throughput between cloud regions; :mod:`~windlass.io.traces.interference`:
  how fast two jobs are that share a device; :mod:`~windlass.io.traces.spot`: how many spot instances could be had.
- :mod:`~windlass.io.traces.series`: any table with a time in each line, on an even grid;
  :mod:`~windlass.io.traces.helios`, :mod:`~windlass.io.traces.philly`, :mod:`~windlass.io.traces.openb`: GPU clusters
  as they are published, by what :mod:`~windlass.io.traces.gpu_table` reads.
- :mod:`~windlass.io.traces.telemetry`: recorded telemetry of machines.
- :mod:`~windlass.io.traces.demands`: jobs that request several resources; :mod:`~windlass.io.traces.bins`: counts of
  jobs by time.

The formats of jobs are in ``swf``, ``swf_header``, ``swim`` and ``table``, and ``formats`` lists them; ``trace`` and
``workload`` have the results, and ``steps`` the conversion between them. ``groups`` has the owners of jobs and
``resources`` their requests other than processors. ``files``, ``columns``, ``csv_text``, ``fields`` and ``clock``
parse text.

Units are seconds and processors.
"""

from windlass.io.traces.formats import FORMATS, Format, read_trace
from windlass.io.traces.swf import SwfLog, read_swf, write_swf
from windlass.io.traces.swf_header import SwfHeader
from windlass.io.traces.swim import SwimLog, read_swim
from windlass.io.traces.table import read_csv, read_parquet, write_table
from windlass.io.traces.trace import BadLine, Trace
from windlass.io.traces.workload import Workload, to_workload

__all__ = [
    "FORMATS",
    "BadLine",
    "Format",
    "SwfHeader",
    "SwfLog",
    "SwimLog",
    "Trace",
    "Workload",
    "read_csv",
    "read_parquet",
    "read_swf",
    "read_swim",
    "read_trace",
    "to_workload",
    "write_swf",
    "write_table",
]

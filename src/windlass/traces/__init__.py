"""Where jobs come from: logs of real systems, and plain tables.

A reader returns a :class:`Trace`, the records of a file as they stand in it, missing values as null.
:func:`to_workload` turns a trace into jobs that can be scheduled on so many processors, by rules that it
states, and notes each one that applied: nothing is dropped or mended in silence. A line that cannot be read
stops the reading, naming file, line, field and value, unless the caller says to skip such lines.

- :func:`read_swf`, :func:`write_swf`: the Standard Workload Format.
- :func:`read_swim`: MapReduce jobs by bytes read, shuffled and written.
- :func:`read_csv`, :func:`read_parquet`, :func:`write_table`: a plain table of jobs.
- :func:`read_trace`: whichever of :data:`FORMATS` the file is in, by what is in it or its suffix.
- :mod:`~windlass.traces.logs`: logs as batch systems and clusters write them.

- :mod:`~windlass.traces.llm`: requests to language models; :mod:`~windlass.traces.volatility`: speeds of machines that
  drift; :mod:`~windlass.traces.wan`: throughput between cloud regions; :mod:`~windlass.traces.interference`: how fast
  two jobs are that share a device; :mod:`~windlass.traces.spot`: how many spot instances could be had.
- :mod:`~windlass.traces.series`: any table with a time in each line, on an even grid; :mod:`~windlass.traces.helios`,
  :mod:`~windlass.traces.philly`, :mod:`~windlass.traces.openb`: GPU clusters as they are published, by what
  :mod:`~windlass.traces.gpu_table` reads.
- :mod:`~windlass.traces.telemetry`: what machines measured of themselves.
- :mod:`~windlass.traces.demands`: jobs that ask for several resources; :mod:`~windlass.traces.bins`: counts of jobs by
  time.

The formats of jobs are in ``swf``, ``swf_header``, ``swim`` and ``table``, and ``formats`` lists them; ``trace`` and
``workload`` have what they return and what becomes of it in ``steps``, ``members`` whose the jobs are and
``resources`` what they ask for beside processors; ``files``, ``columns``, ``csv_text``, ``fields`` and ``clock`` read
text.

Units are seconds and processors.
"""

from windlass.traces.formats import FORMATS, Format, read_trace
from windlass.traces.swf import SwfLog, read_swf, write_swf
from windlass.traces.swf_header import SwfHeader
from windlass.traces.swim import SwimLog, read_swim
from windlass.traces.table import read_csv, read_parquet, write_table
from windlass.traces.trace import BadLine, Trace
from windlass.traces.workload import Workload, to_workload

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

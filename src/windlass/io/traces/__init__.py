"""Readers of logs of real systems, and of plain tables of jobs.

A reader returns a :class:`Trace`: the unchanged records of a file, with missing values as null.
:func:`to_workload` converts a trace to jobs that can be scheduled on a given number of processors. It follows
documented rules and notes each rule that applied: nothing is dropped or repaired silently. A line that cannot be read
raises an error with file, line, field and value, unless the caller chooses to skip such lines.

- :func:`read_swf`, :func:`write_swf`: the Standard Workload Format.
- :func:`read_swim`: MapReduce jobs by bytes read, shuffled and written.
- :func:`read_csv`, :func:`read_parquet`, :func:`write_table`: a plain table of jobs.
- :func:`read_trace`: any of :data:`FORMATS`, detected from the content or the suffix.
- :mod:`~windlass.io.traces.logs`: logs of batch systems and clusters.

- :mod:`~windlass.io.traces.llm`: requests to language models; :mod:`~windlass.io.traces.volatility`: drifting speeds of
  machines; :mod:`~windlass.io.traces.wan`: throughput between cloud regions; :mod:`~windlass.io.traces.interference`:
  speeds of two jobs that share a device; :mod:`~windlass.io.traces.spot`: numbers of available spot instances.
- :mod:`~windlass.io.traces.series`: any table with a time in each line, as a series on an even grid;
  :mod:`~windlass.io.traces.helios`, :mod:`~windlass.io.traces.philly`, :mod:`~windlass.io.traces.openb`: published logs
  of GPU clusters, whose tables :mod:`~windlass.io.traces.gpu_table` reads.
- :mod:`~windlass.io.traces.telemetry`: recorded telemetry of machines.
- :mod:`~windlass.io.traces.demands`: jobs that request several resources; :mod:`~windlass.io.traces.bins`: counts of
  jobs per time bin.

``swf``, ``swf_header``, ``swim`` and ``table`` read formats of jobs, which ``formats`` lists. ``trace`` and
``workload`` define the results, ``steps`` the conversion from one to the other, and ``where`` a user's condition,
whose terms ``where_terms`` separates.
``groups`` has the owners of jobs, ``identifiers`` their names in the log, ``resources`` their requests other than
processors. In a table, ``roles`` finds the columns of a job's fields, and ``jobs_of_table`` converts them.

``files``, ``compression`` and ``pipes`` open logs, and ``other_kinds`` names files that are none; ``columns``,
``csv_text``, ``separators``, ``jsonl``, ``fields``, ``times``, ``time_cells``, ``regional_dates`` and
``decimal_commas`` parse text.

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

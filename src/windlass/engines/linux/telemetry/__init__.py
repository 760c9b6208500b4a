"""What a machine measures of itself, once a step: about 150 metrics, the same in the same order on every Linux machine.

Each source is a file here and reads one kind of file of the kernel:

- :mod:`~windlass.engines.linux.telemetry.stat`: time of the cores, context switches, interrupts (``/proc/stat``).
- :mod:`~windlass.engines.linux.telemetry.loadavg`: load, and tasks that run.
- :mod:`~windlass.engines.linux.telemetry.meminfo`, :mod:`~windlass.engines.linux.telemetry.vmstat`: memory, and
  what happens to pages.
- :mod:`~windlass.engines.linux.telemetry.disks`, :mod:`~windlass.engines.linux.telemetry.network`,
  :mod:`~windlass.engines.linux.telemetry.sockets`: devices, summed; and connections.
- :mod:`~windlass.engines.linux.telemetry.pressure`: pressure stall information.
- :mod:`~windlass.engines.linux.telemetry.schedstat`: run-queue wait as each core has counted it.
- :mod:`~windlass.engines.linux.telemetry.tasks`: run-queue wait of all threads, of which CPU Ready is made.
- :mod:`~windlass.engines.linux.telemetry.groups`: control groups, v1 and v2: who is throttled, and how much.

:mod:`~windlass.engines.linux.telemetry.source` is their protocol, :mod:`~windlass.engines.linux.telemetry.proc_file` a
file that stays open, :mod:`~windlass.engines.linux.telemetry.rates` makes rates of counters,
:mod:`~windlass.engines.linux.telemetry.observer` asks all sources, :mod:`~windlass.engines.linux.telemetry.recording`
writes what came to a file, and :mod:`~windlass.engines.linux.telemetry.recorder` does so for a while.

What is missing on a machine is NaN, and is named once. Nothing here needs root.
"""

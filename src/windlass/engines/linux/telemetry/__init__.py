"""Telemetry of a machine: about 150 metrics per step, the same and in the same order on every Linux machine.

Each source is a module here and reads one kind of kernel file:

- :mod:`~windlass.engines.linux.telemetry.stat`: CPU time, context switches, interrupts (``/proc/stat``).
- :mod:`~windlass.engines.linux.telemetry.loadavg`: load averages and numbers of tasks.
- :mod:`~windlass.engines.linux.telemetry.meminfo`, :mod:`~windlass.engines.linux.telemetry.vmstat`: memory, and
  events of pages.
- :mod:`~windlass.engines.linux.telemetry.disks`, :mod:`~windlass.engines.linux.telemetry.network`,
  :mod:`~windlass.engines.linux.telemetry.sockets`: devices, summed; and connections.
- :mod:`~windlass.engines.linux.telemetry.pressure`: pressure stall information.
- :mod:`~windlass.engines.linux.telemetry.schedstat`: run-queue wait as counted by cores.
- :mod:`~windlass.engines.linux.telemetry.tasks`: run-queue wait of all threads, from which CPU Ready is computed.
- :mod:`~windlass.engines.linux.telemetry.groups`: throttling in cgroups, v1 and v2.

:mod:`~windlass.engines.linux.telemetry.source` is their protocol, :mod:`~windlass.engines.linux.telemetry.proc_file` a
file that is kept open, :mod:`~windlass.engines.linux.telemetry.rates` turns counters into rates,
:mod:`~windlass.engines.linux.telemetry.observer` reads all sources, :mod:`~windlass.engines.linux.telemetry.recording`
writes observations to a file, and :mod:`~windlass.engines.linux.telemetry.recorder` does so for a given time.

A metric that a machine lacks is NaN, and is reported once. Nothing here needs root.
"""

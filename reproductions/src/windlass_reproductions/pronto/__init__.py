"""Pronto (Grammenos et al.): forecasts of CPU Ready, and predictions of its spikes by Pronto's signal.

The paper's trace is private. It is replaced with the CPU usage of virtual machines (Bitbrains), with the first metric
of machines of the Server Machine Dataset (SMD), and with our recordings of CPU Ready.

- :mod:`~windlass_reproductions.pronto.paper`: all rows and pictures, from the modules below.
- :mod:`~windlass_reproductions.pronto.data`: the available telemetry.
- :mod:`~windlass_reproductions.pronto.drawn`: telemetry of randomly drawn nodes.
- :mod:`~windlass_reproductions.pronto.methods`: forecasts from a machine's own past, or from that of other machines.
- :mod:`~windlass_reproductions.pronto.similar`: groups of similar machines, by five distances.
- :mod:`~windlass_reproductions.pronto.values`: Tables 1 to 3, forecasts of values.
- :mod:`~windlass_reproductions.pronto.spikes`: Tables 4 to 6, forecasts of spikes.
- :mod:`~windlass_reproductions.pronto.recorded`: those tables on our own recordings.
- :mod:`~windlass_reproductions.pronto.trackers`: time and memory of the four trackers.
- :mod:`~windlass_reproductions.pronto.merging`: the error of merged subspaces compared with the SVD of all data.
- :mod:`~windlass_reproductions.pronto.recall`: the recall of signals compared with chance, and CDFs over nodes.
- :mod:`~windlass_reproductions.pronto.verdicts`: criteria of statistically significant differences.
- :mod:`~windlass_reproductions.pronto.simulated`: the effect of admission in the simulator, over seeds.
- :mod:`~windlass_reproductions.pronto.fit`: fits the simulator's model of metrics to recordings.
"""

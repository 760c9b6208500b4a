"""Pronto (Grammenos et al.): what CPU Ready can be foreseen of, and what its signal foresees.

The paper's trace is private. What stands for CPU Ready is the CPU usage of virtual machines (Bitbrains), the first
metric of machines of the Server Machine Dataset, and CPU Ready as we recorded it.

- :mod:`~windlass_reproductions.pronto.paper`: the rows and plots, from the parts below.
- :mod:`~windlass_reproductions.pronto.data`: the telemetry that is at hand.
- :mod:`~windlass_reproductions.pronto.drawn`: nodes that are drawn.
- :mod:`~windlass_reproductions.pronto.methods`: forecasts from a machine's own past, or from that of others.
- :mod:`~windlass_reproductions.pronto.similar`: which machines are alike, by six distances.
- :mod:`~windlass_reproductions.pronto.values`: Tables 1 to 3, forecasts of values.
- :mod:`~windlass_reproductions.pronto.spikes`: Tables 4 to 6, forecasts of spikes.
- :mod:`~windlass_reproductions.pronto.recorded`: those tables on our own recordings.
- :mod:`~windlass_reproductions.pronto.trackers`: time and memory.
- :mod:`~windlass_reproductions.pronto.merging`: what merging nodes leaves out of the SVD of all data.
- :mod:`~windlass_reproductions.pronto.recall`: what signals foresee beside chance, and CDFs over nodes.
- :mod:`~windlass_reproductions.pronto.verdicts`: whether one is better than another, beyond chance.
- :mod:`~windlass_reproductions.pronto.simulated`: what admission gains in the simulator, over seeds.
- :mod:`~windlass_reproductions.pronto.fit`: the model of metrics that the simulator has, from a recording.
"""

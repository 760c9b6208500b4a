"""Pronto (Grammenos et al.): what CPU Ready can be foreseen of, and what its signal foresees.

The paper's trace is private. What stands for CPU Ready is the CPU usage of virtual machines (Bitbrains), the first
metric of machines of the Server Machine Dataset, and CPU Ready as we recorded it.

- :mod:`~windlass.papers.pronto.paper`: the rows and plots, from the parts below.
- :mod:`~windlass.papers.pronto.data`: the telemetry that is at hand.
- :mod:`~windlass.papers.pronto.drawn`: nodes that are drawn.
- :mod:`~windlass.papers.pronto.methods`: forecasts from a machine's own past, or from that of others.
- :mod:`~windlass.papers.pronto.similar`: which machines are alike, by six distances.
- :mod:`~windlass.papers.pronto.values`: Tables 1 to 3, forecasts of values.
- :mod:`~windlass.papers.pronto.spikes`: Tables 4 to 6, forecasts of spikes.
- :mod:`~windlass.papers.pronto.recorded`: those tables on our own recordings.
- :mod:`~windlass.papers.pronto.trackers`: time and memory.
- :mod:`~windlass.papers.pronto.merging`: what merging nodes leaves out of the SVD of all data.
- :mod:`~windlass.papers.pronto.recall`: what signals foresee beside chance, and CDFs over nodes.
- :mod:`~windlass.papers.pronto.verdicts`: whether one is better than another, beyond chance.
- :mod:`~windlass.papers.pronto.simulated`: what admission gains in the simulator, over seeds.
- :mod:`~windlass.papers.pronto.fit`: the model of metrics that the simulator has, from a recording.
"""

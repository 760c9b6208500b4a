"""Hours of driving a private Slurm under random load and faults: ``python -m tests.soak --minutes 120 --out FOLDER``.

* :mod:`~tests.soak.cluster`: the driver and the controller, and what is done to them
* :mod:`~tests.soak.load`: random jobs, and what their users do to them
* :mod:`~tests.soak.samples`: memory and latency of the driver over time
* :mod:`~tests.soak.judge`: whether each job ran once, and whether memory and latency stayed flat
* :mod:`~tests.soak.plot`: a page with the plot
"""

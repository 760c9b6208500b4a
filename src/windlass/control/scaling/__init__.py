"""A live cluster of instances as an engine of the control plane: what `k8s autoscale` and `ray autoscale` do.

- :mod:`~windlass.control.scaling.engine`: the engine, which requests instances or only decides.
- :mod:`~windlass.control.scaling.observer`: what it sees and does, as rows of the journal.
- :mod:`~windlass.control.scaling.clusters`: connections to Kubernetes and Ray.
"""

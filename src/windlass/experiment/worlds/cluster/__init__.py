"""One cluster: several sites, whose nodes and instances all kinds of load share, under up to seven decisions.

- :mod:`~windlass.experiment.worlds.cluster.spec`: the fields of a scenario;
  :mod:`~windlass.experiment.worlds.cluster.load`: those of a load;
  :mod:`~windlass.experiment.worlds.cluster.consistency`: checks of fields that depend on each other.
- :mod:`~windlass.experiment.worlds.cluster.variant_names`: names of the variants.
- :mod:`~windlass.experiment.worlds.cluster.sites`: fields of sites, instances, cameras, links and the cloud.
- :mod:`~windlass.experiment.worlds.cluster.loads`: the kinds of load, with their fields and arrivals.
- :mod:`~windlass.experiment.worlds.cluster.policies`: policies by decision and site; what stands in for a decision that
  a variant leaves out.
- :mod:`~windlass.experiment.worlds.cluster.policy_addresses`: policies by address, such as ``share@oslo``.
- :mod:`~windlass.experiment.worlds.cluster.layout`: the rows of the ledger, and sites as each kind of load sees them.
- :mod:`~windlass.experiment.worlds.cluster.draw`: draws all loads.
- :mod:`~windlass.experiment.worlds.cluster.make_policies`: makes policies for their loads and sites.
- :mod:`~windlass.experiment.worlds.cluster.instances`: the instances of a site, with their jobs.
- :mod:`~windlass.experiment.worlds.cluster.build`: puts the parts of the simulator together and runs them.
- :mod:`~windlass.experiment.worlds.cluster.results`: the results of all parts, and the interface of recorders.
- :mod:`~windlass.experiment.worlds.cluster.explain`: repeats a run to explain one job.
- :mod:`~windlass.experiment.worlds.cluster.sampler`: samples the cores in use.
- :mod:`~windlass.experiment.worlds.cluster.core_series`: cores of each site over time, by load.
- :mod:`~windlass.experiment.worlds.cluster.site_map`: use of the sites, and what moved between them.
- :mod:`~windlass.experiment.worlds.cluster.outcome`: tables, series and notes of a run.
- :mod:`~windlass.experiment.worlds.cluster.world`: the world.
"""

"""Reproduction of Hung's thesis, chapter 3: SWAG and Reordering.

- :mod:`~windlass_reproductions.swag.paper`: the rows and plots, from the parts below.
- :mod:`~windlass_reproductions.swag.runs`: runs of all policies on the same random jobs.
- :mod:`~windlass_reproductions.swag.exact`: the worked example, jobs that are all present at the start, and overheads.
- :mod:`~windlass_reproductions.swag.laws`: response and slowdown by the law of job sizes.
- :mod:`~windlass_reproductions.swag.settings`: the effect of skew, the number of sites and estimation errors.
- :mod:`~windlass_reproductions.swag.bounds`: how close SWAG is to the optimum.
- :mod:`~windlass_reproductions.swag.causes`: why SWAG gains less over SRPT here than in the thesis.
"""

"""Hung's thesis, chapter 3: SWAG and Reordering.

- :mod:`~windlass.papers.swag.paper`: the rows and plots, from the parts below.
- :mod:`~windlass.papers.swag.runs`: policies side by side on the same random jobs.
- :mod:`~windlass.papers.swag.exact`: what needs no long runs.
- :mod:`~windlass.papers.swag.laws`: response and slowdown by the law of job sizes.
- :mod:`~windlass.papers.swag.settings`: what skew, the number of sites and errors of estimates change.
- :mod:`~windlass.papers.swag.bounds`: how near SWAG is to the best.
- :mod:`~windlass.papers.swag.causes`: why SWAG gains less over SRPT here than in the thesis.
"""

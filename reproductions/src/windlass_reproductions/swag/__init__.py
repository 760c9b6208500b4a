"""Hung's thesis, chapter 3: SWAG and Reordering.

- :mod:`~windlass_reproductions.swag.paper`: the rows and plots, from the parts below.
- :mod:`~windlass_reproductions.swag.runs`: policies side by side on the same random jobs.
- :mod:`~windlass_reproductions.swag.exact`: what needs no long runs.
- :mod:`~windlass_reproductions.swag.laws`: response and slowdown by the law of job sizes.
- :mod:`~windlass_reproductions.swag.settings`: what skew, the number of sites and errors of estimates change.
- :mod:`~windlass_reproductions.swag.bounds`: how near SWAG is to the best.
- :mod:`~windlass_reproductions.swag.causes`: why SWAG gains less over SRPT here than in the thesis.
"""

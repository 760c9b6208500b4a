"""Parts that several sharing policies have in common.

- :mod:`~windlass.share.lib.first_fit`: first fit over allocations; a job starts completely or not at all.
- :mod:`~windlass.share.lib.state`: happiness of a running job, and its slowdown by sharing.
- :mod:`~windlass.share.lib.trees`: experts: decision trees with distributions over quotas in their leaves.
- :mod:`~windlass.share.lib.mixture`: weights of experts, learned from losses.
- :mod:`~windlass.share.lib.saved`: learned state as versioned and validated JSON.
- :mod:`~windlass.share.lib.effects`: deviations of single pairs from the regression.
- :mod:`~windlass.share.lib.features`: features of slowdowns and speeds.
- :mod:`~windlass.share.lib.largest`: the largest acceptable quota for each of some hosts.
- :mod:`~windlass.share.lib.part`: parameters that are parts of a whole, such as a budget.
- :mod:`~windlass.share.lib.regress`: Bayesian linear regression.
"""

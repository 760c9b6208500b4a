"""What policies of sharing have in common; nobody else imports it.

- :mod:`~windlass.share.lib.first_fit`: first fit over allocations, each job at once or not at all.
- :mod:`~windlass.share.lib.state`: how a running job is doing: its happiness, and what was lost by sharing.
- :mod:`~windlass.share.lib.trees`: experts: decision trees with distributions over quotas in their leaves.
- :mod:`~windlass.share.lib.mixture`: which expert to believe, learned from losses.
- :mod:`~windlass.share.lib.saved`: what was learned as text, versioned and checked.
- :mod:`~windlass.share.lib.effects`: what single pairs have of their own.
- :mod:`~windlass.share.lib.features`: what slowdowns and speeds are told from.
- :mod:`~windlass.share.lib.largest`: the largest quota that will do, for each of some hosts.
- :mod:`~windlass.share.lib.regress`: a straight line through what was measured, and how sure it is.
"""

"""What policies of sharing have in common; nobody else imports it.

- :mod:`~windlass.share.lib.gang`: first fit over allocations, each job at once or not at all.
- :mod:`~windlass.share.lib.state`: how a running job is doing: its happiness, and what was lost by sharing.
"""

"""Speed beside peers: both timed in one run, in turn, and told as a ratio with its spread.

``python -m benchmarks SUITE [--json]``; a ratio over 1 means that Windlass is ahead.
"""

"""Speed compared with peers: both are timed in turn in one run, and reported as a ratio with its range.

``python -m benchmarks SUITE [--json]``; a ratio over 1 means that Windlass is ahead.
"""

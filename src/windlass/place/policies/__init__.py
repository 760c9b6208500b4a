"""Placement policies, one a file; a new file adds a policy."""

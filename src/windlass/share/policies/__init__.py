"""Sharing policies, one file each; a new file adds a policy."""

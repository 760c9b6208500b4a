"""Policies of admission: one a file, and this folder is the list."""

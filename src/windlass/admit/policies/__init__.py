"""Admission policies, one file each; this folder is the registry."""

"""Kubernetes, emulated."""

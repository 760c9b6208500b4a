"""Scaling a cluster that is a fake."""

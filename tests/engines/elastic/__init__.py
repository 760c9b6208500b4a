"""Autoscaling of a fake cluster."""

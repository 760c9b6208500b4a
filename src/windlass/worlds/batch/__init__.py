"""Rigid parallel jobs on one site."""

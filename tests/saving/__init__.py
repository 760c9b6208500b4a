"""Tests of atomic writes."""

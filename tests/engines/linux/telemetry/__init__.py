"""Tests of what a machine measures of itself."""

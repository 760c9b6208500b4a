"""Tests of the telemetry of a machine."""

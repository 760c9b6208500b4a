"""Tests of a node's agent."""

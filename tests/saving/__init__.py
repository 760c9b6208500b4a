"""Tests of what is written: whole, or as it was."""

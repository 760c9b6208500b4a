"""Placement on arrays, for users of the library: a stage, whole tasks, changed plans, and an oracle for tests."""

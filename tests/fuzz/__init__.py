"""Fuzz tests with thousands of seeded invalid inputs: no traceback, no hang, and no invalid input accepted."""

"""Checks of the policies that say which job goes first."""

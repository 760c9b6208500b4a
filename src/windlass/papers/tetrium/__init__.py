"""Hung's thesis, chapter 4: Tetrium."""

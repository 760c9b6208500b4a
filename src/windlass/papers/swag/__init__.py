"""Hung's thesis, chapter 3: SWAG and Reordering."""

"""Bad input by the thousand, seeded: no traceback, no hang, nothing wrong taken in silence."""

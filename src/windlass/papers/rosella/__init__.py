"""Wu and Liu, Rosella: its examples, tables and growth laws."""

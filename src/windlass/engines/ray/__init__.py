"""An executor on a Ray cluster whose nodes carry ``site`` labels; private clusters for tests and demos."""

"""The same workloads simulated and on Ray."""

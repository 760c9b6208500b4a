"""Tests of the Kubernetes engine on emulated and real API servers."""

"""Probes of boots, kernels and crashes."""

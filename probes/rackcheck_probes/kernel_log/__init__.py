"""Probes of the kernel log."""

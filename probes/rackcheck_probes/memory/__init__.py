"""Probes of memory and NUMA nodes."""

"""Probes of processors and interrupts."""

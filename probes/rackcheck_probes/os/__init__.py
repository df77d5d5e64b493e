"""Probes of the operating system, its services, clock and firmware tables."""

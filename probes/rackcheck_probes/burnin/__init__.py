"""Probes of burn-in measurements."""

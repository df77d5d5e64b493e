"""Probes of what a burn-in measured."""

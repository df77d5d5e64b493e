"""Probes of the network stack and its interfaces."""

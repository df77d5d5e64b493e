"""Remedies for findings, for review; nothing is ever applied."""

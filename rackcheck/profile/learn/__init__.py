"""Profiles learned from machines."""

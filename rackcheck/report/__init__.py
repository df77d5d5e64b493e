"""Readings of a run's events: for a terminal, for a machine. Nothing here asks a node anything."""

"""Renders a run's events as documents and files. Nothing in this package contacts a node."""

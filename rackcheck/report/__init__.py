"""Renderings of a run's events: documents and their files. Nothing here contacts a node."""

"""Readers of what tools on a node answered under burn-in: one module for each tool, pure, from a `tool` record."""

"""Parsers of the output of tools on a node under burn-in: one module per tool, pure, from a `tool` record."""

"""Parsers of the output of tools that run on a node in a burn-in: one module per tool, for its `tool` record. Pure."""
